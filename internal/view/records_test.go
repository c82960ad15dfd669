package view

import (
	"path/filepath"
	"testing"

	"qinst.dev/internal/trace"
)

// Records of the program's are rows. If there are many, those that are left are as far apart as
// before.
func TestRecords(t *testing.T) {
	source, err := trace.Open(filepath.Join("../../testdata/kept", "records.sddf"))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	r := &records{t: source, kinds: map[string]*Kind{}}
	for range 2 { // as of twice as many
		all := 0
		if _, err := (watching{source, r}).Events(func(batch []trace.Event) error {
			all += len(batch)
			return nil
		}); err != nil || all == 0 {
			t.Fatalf("%d events: %v", all, err)
		}
		k := r.kinds["cache miss"]
		if k == nil || len(k.Fields) != 5 || k.Fields[3].Unit != "ns" || !k.Fields[3].Number || k.Fields[4].Number {
			t.Fatalf("found %+v", k)
		}
		if k.Count%4000 != 0 || (k.Count+k.Every-1)/k.Every != len(k.Rows) || len(k.Rows) > mostRecords {
			t.Fatalf("found %d rows of %d, one of %d", len(k.Rows), k.Count, k.Every)
		}
		last := trace.Time(0)
		for i, row := range k.Rows {
			if k.Count == 4000 && row.At < last {
				t.Fatalf("row %d is at %d, after %d", i, row.At, last)
			}
			last = row.At
			size, took := row.Values[2].(int64), row.Values[3].(int64)
			if took != size*1000 {
				t.Fatalf("row %d: size %d, took %d", i, size, took)
			}
		}
	}
	if r.kinds["cache miss"].Every != 2 || r.left != 0 {
		t.Errorf("found one of %d, %d left out", r.kinds["cache miss"].Every, r.left)
	}
}
