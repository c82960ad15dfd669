package extensions_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/extensions"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf"
)

// dropper drops what it draws, and keeps what it was shown.
type dropper struct {
	draw  func() bool
	shown []extensions.Event
}

func (d *dropper) Batch(b *extensions.Batch) {
	for i := range b.Events {
		if d.draw() {
			b.Drop(i)
		}
	}
	d.shown = append(d.shown, b.Events...)
}

func (d *dropper) Flush(*extensions.Out, bool) {}

func reduce(t testing.TB, file []byte, use func(*extensions.File)) []byte {
	t.Helper()
	f, err := extensions.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	use(f)
	var out bytes.Buffer
	if err := f.Reduce(&out); err != nil {
		t.Fatal(err)
	}
	for _, line := range f.Said() {
		t.Error(line)
	}
	return out.Bytes()
}

func open(t testing.TB, file []byte) *trace.Trace {
	t.Helper()
	tr, err := trace.New(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// steps are a trace's events by goroutine, entries and exits apart from the rest.
func steps(t testing.TB, tr *trace.Trace) (calls, rest map[trace.GoID][]string, losses trace.Losses) {
	calls, rest = map[trace.GoID][]string{}, map[trace.GoID][]string{}
	losses, err := tr.Events(func(events []trace.Event) error {
		for _, e := range events {
			line := fmt.Sprint(e.Time, e.Kind, e.Count(), e.From, e.To, e.Cause)
			if e.Kind == trace.Enter || e.Kind == trace.Exit || e.Kind == trace.Trips {
				calls[e.G] = append(calls[e.G], line)
			} else {
				rest[e.G] = append(rest[e.G], line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls, rest, losses
}

// TestDrops: what extensions drop is gone, in pairs, and nothing else is another.
func TestDrops(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		share := rapid.IntRange(0, 100).Draw(rt, "dropped")
		full := tracetest.Random(rnd.IntN).Bytes()
		draw := func() bool { return rnd.IntN(100) < share }
		first, second := &dropper{draw: draw}, &dropper{draw: draw}
		reduced := reduce(t, full, func(f *extensions.File) {
			f.Use("first", extensions.Procedures|extensions.Drops, first)
			f.Use("second", extensions.Procedures|extensions.Scheduling|extensions.Drops, second)
		})
		a, b := open(t, full), open(t, reduced)
		wantCalls, wantRest, wantLosses := steps(t, a)
		calls, rest, losses := steps(t, b)
		if losses != wantLosses {
			rt.Fatalf("losses %+v, of the whole %+v", losses, wantLosses)
		}
		// Events without a goroutine are of threads. Where two threads have one at the same time,
		// either may come first.
		slices.Sort(rest[0])
		slices.Sort(wantRest[0])
		for g, list := range wantRest {
			if !slices.Equal(rest[g], list) {
				rt.Fatalf("goroutine %d: %v, expected %v", g, rest[g], list)
			}
		}
		kept := uint64(0)
		for g, list := range calls {
			if !subsequence(list, wantCalls[g]) {
				rt.Fatalf("goroutine %d: %v are not of %v", g, list, wantCalls[g])
			}
		}
		for i := range b.Points {
			p := &b.Points[i]
			if p.Hits != a.Points[i].Hits || p.Traced != a.Points[i].Traced {
				rt.Fatalf("point %d: %d hits, %d traced, expected %d and %d", i, p.Hits, p.Traced, a.Points[i].Hits,
					a.Points[i].Traced)
			}
			kept += p.Reduced
		}
		var dropped uint64
		for _, e := range b.Extensions {
			dropped += e.Dropped
		}
		if share == 0 && (dropped > 0 || kept > 0) || share == 100 && kept == 0 && len(wantCalls) > 0 {
			rt.Fatalf("%d dropped, %d taken out", dropped, kept)
		}
		for _, e := range second.shown {
			if e.Kind == extensions.Enter && share == 100 {
				rt.Fatal("the second extension saw what the first one dropped")
			}
		}
	})
}

func subsequence(short, long []string) bool {
	for _, s := range short {
		i := slices.Index(long, s)
		if i < 0 {
			return false
		}
		long = long[i+1:]
	}
	return true
}

// records returns the records of a kind.
func records(t testing.TB, file []byte, name string) (list []*sddf.Packet) {
	r, err := sddf.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Name == name {
			q := *p
			q.Values = slices.Clone(p.Values)
			list = append(list, &q)
		}
	}
	return list
}

// TestSame: the same file gives the same bytes.
func TestSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		file := tracetest.Random(rand.New(rand.NewPCG(seed, 4)).IntN).Bytes()
		first := shipped(t, file, "lifetimes", "transitions", "locks", "goroutines", "heavy:3", "windows:1ms",
			"sample:3")
		for range 3 {
			again := shipped(t, file, "lifetimes", "transitions", "locks", "goroutines", "heavy:3", "windows:1ms",
				"sample:3")
			if !bytes.Equal(first, again) {
				t.Fatalf("seed %d: %d and %d bytes that differ", seed, len(first), len(again))
			}
		}
	}
}
