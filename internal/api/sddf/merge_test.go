package sddf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

type stamped struct {
	At  time.Time `sddf:"at"`
	Who string    `sddf:"who"`
	N   int       `sddf:"n"`
}

func file(f func(w *sddf.Writer)) *sddf.Reader {
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "t", nil)
	f(w)
	w.Close()
	r, err := sddf.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		panic(err)
	}
	return r
}

// Records of several files come out in the order of their times, each file's in its
// own order, none lost; kinds that are alike become one.
func TestMerge(t *testing.T) {
	t.Parallel()
	kind := sddf.Define[stamped]("stamped")
	rapid.Check(t, func(t *rapid.T) {
		var files []*sddf.Reader
		total := 0
		for k := range rapid.IntRange(1, 4).Draw(t, "files") {
			times := rapid.SliceOf(rapid.Int64Range(0, 50)).Draw(t, "steps")
			total += len(times)
			files = append(files, file(func(w *sddf.Writer) {
				if k == 1 { // another kind has the tag there
					w.Define(spec.Record{Tag: spec.FirstUserTag, Name: "other",
						Fields: []spec.Field{{Name: "x", Type: spec.U8}}})
				}
				at := int64(0)
				for n, step := range times {
					at += step
					kind.Write(w, stamped{time.Unix(0, at), fmt.Sprint(k), n})
					if k == 1 {
						w.Data(spec.FirstUserTag, n%256)
					}
				}
			}))
		}
		var out bytes.Buffer
		if err := sddf.Merge(sddf.NewWriter(&out, "merged", nil), "at", files...); err != nil {
			t.Fatal(err)
		}
		r, err := sddf.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var last time.Time
		next, found, kinds, others := map[string]int{}, 0, 0, 0
		for p, err := range r.Packets() {
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case p.Kind == spec.Descriptor && p.Name == "stamped":
				kinds++
			case p.Kind == spec.Data && p.Name == "other":
				others++
			case p.Kind == spec.Data:
				var s stamped
				if err := kind.Decode(p, &s); err != nil {
					t.Fatal(err)
				}
				if s.At.Before(last) || s.N != next[s.Who] {
					t.Fatalf("%v after %v, want number %d", s, last, next[s.Who])
				}
				last = s.At
				next[s.Who]++
				found++
			}
		}
		if found != total || kinds > 1 || others != next["1"] {
			t.Fatalf("%d records, want %d; %d kinds; %d others, want %d", found, total, kinds, others, next["1"])
		}
	})
}

func TestMergeRejects(t *testing.T) {
	t.Parallel()
	kind := sddf.Define[stamped]("stamped")
	back := func(w *sddf.Writer) {
		kind.Write(w, stamped{At: time.Unix(2, 0)})
		kind.Write(w, stamped{At: time.Unix(1, 0)})
	}
	for want, c := range map[string]struct {
		by string
		f  func(w *sddf.Writer)
	}{
		"comes after a later one":       {"at", back},
		"expected a time or an integer": {"who", back},
		"file 1 is the trace of a":      {"at", func(w *sddf.Writer) { w.Define(spec.Records[spec.TagEvents-1]) }},
		"several segments or streams":   {"at", func(w *sddf.Writer) { w.Segment() }},
	} {
		err := sddf.Merge(sddf.NewWriter(new(bytes.Buffer), "m", nil), c.by, file(c.f))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
