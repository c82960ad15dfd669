package sddf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// carrying is a file with a record, a block of events that carries two more, the second one damaged
// if damage is set, and another record.
func carrying(t testing.TB, damaged bool) []byte {
	miss := spec.Record{Tag: 300, Name: "miss", Fields: []spec.Field{{Name: "key", Type: spec.Str},
		{Name: "n", Type: spec.U32}}}
	var block []byte
	for i := range 2 {
		p, err := sddf.AppendInner(nil, &miss, fmt.Sprint("k", i), 7+i)
		if err != nil {
			t.Fatal(err)
		}
		if damaged && i == 1 {
			p[1] = 9
		}
		block = binary.LittleEndian.AppendUint64(block, 5<<32|spec.EvRecord<<24)
		block = binary.LittleEndian.AppendUint64(block, uint64(len(p)))
		block = append(append(block, p...), make([]byte, -len(p)&7)...)
	}
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "t", append([]spec.Record{miss}, spec.Records...))
	_ = w.Data(300, "first", 1)
	_ = w.Attribute("a", "b")
	_ = w.Data(spec.TagEvents, 1, 2, 0, 100, 0, 0, block)
	_ = w.Data(300, "last", 2)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Records come in order, wherever they lie, and those that were asked for alone.
func TestRecords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		only    map[string][]string
		damaged bool
		want    string
	}{
		{nil, false, "miss first 1 @0, events, miss k0 7 @105, miss k1 8 @110, miss last 2 @0"},
		{map[string][]string{"miss": nil}, false, "miss first 1 @0, miss k0 7 @105, miss k1 8 @110, miss last 2 @0"},
		{map[string][]string{"events": {"seq"}}, false, "events"},
		{nil, true, "miss first 1 @0, events, miss k0 7 @105, damage, miss last 2 @0"},
	} {
		data := carrying(t, test.damaged)
		r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		r.Only(test.only)
		var got []string
		for rec, err := range r.Records() {
			var damage *sddf.DamageError
			switch {
			case errors.As(err, &damage) && damage.End <= int64(len(data)):
				got = append(got, "damage")
			case err != nil:
				t.Fatal(err)
			case rec.Name == "miss":
				key, err := sddf.Field[string](rec, "key")
				n, err2 := sddf.Field[uint64](rec, "n")
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				got = append(got, fmt.Sprintf("miss %s %d @%d", key, n, rec.Time))
			default:
				got = append(got, rec.Name)
			}
		}
		if s := strings.Join(got, ", "); s != test.want {
			t.Errorf("only %v: got %s\nwant %s", test.only, s, test.want)
		}
	}
}

// A reader may stop at any record, in a block too.
func TestRecordsStop(t *testing.T) {
	t.Parallel()
	data := carrying(t, false)
	for stop := range 5 {
		r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range r.Records() {
			if n++; n > stop {
				break
			}
		}
		if n != stop+1 {
			t.Errorf("%d records, expected %d", n, stop+1)
		}
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	data := carrying(t, false)
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for rec := range r.Records() {
		_, err := sddf.Field[string](rec, "n")
		_, missing := sddf.Field[string](rec, "x")
		if got := fmt.Sprint(err, ", ", missing); got != `sddf: field "n" of "miss" is uint64, not string, sddf: "miss" has no field "x"` {
			t.Error(got)
		}
		break
	}
}
