package trace_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

func packed(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// burstPoints writes a table: hot procedure 0 has calls 1 to 4, and loop 5; procedure 6 has call 7.
// Call 2 is as frequent as call 1, call 3 as the procedure, and call 4 is derived.
func burstPoints(w *sddf.Writer) {
	kinds := []string{"proc", "call", "call", "call", "call", "loop", "proc", "call"}
	n := len(kinds)
	zeros, ids := make([]uint32, n), make([]uint64, n)
	flags := []uint32{spec.FlagTwice, 0, 0, 0, spec.FlagDerived, 0, 0, 0}
	w.Data(spec.TagProbes, uint32(0), "main", []string{""}, ids, kinds, zeros, []uint32{0, 0, 0, 0, 0, 0, 6, 6}, zeros,
		zeros, flags, zeros, []uint32{0, 1, 1, 0, 4, 5, 6, 7}, []uint32{0, 1, 2, 3, 4, 5, 6, 7}, zeros)
}

// TestUncounted: only a lower bound is known of a procedure that ran without its entries being
// counted, of calls that its entries stand for, and of points in it.
func TestUncounted(t *testing.T) {
	t.Parallel()
	tr := counted(t, 1000,
		0, 1000|spec.Uncounted, 1000, 10*100*100, 10,
		1, 0, 2000, 10*200*200, 10*100*200)
	for i := range 4 {
		if e := tr.Hits(trace.PointID(i)); !e.Bound() {
			t.Errorf("point %d: found %+v, expected a lower bound", i, e)
		}
	}
	if p := &tr.Points[0]; p.Plain != 1000 || !p.Uncounted {
		t.Errorf("found %d activations without probes, uncounted: %v", p.Plain, p.Uncounted)
	}
}

// counted is a trace in which procedure 0 had 1,000 entries with probes before it was hot, then ten
// bursts of 100, and plain ones, and call 1 two hits in each.
func counted(t *testing.T, plain uint64, found ...uint64) *trace.Trace {
	return recorded(t, func(w *sddf.Writer) {
		clock(w, 1000)
		burstPoints(w)
		w.Data(spec.TagCounts, uint64(2000), packed(0, 2000+plain, 0, 1, 4000, 0, 4, 7, 0, 5, 30, 0, 6, 10, 0, 7, 20,
			0))
		w.Data(spec.TagBursts, uint64(2000), uint64(10), packed(0, 1, 1, 1, 1)) // replaced
		w.Data(spec.TagBursts, uint64(2000), uint64(10), packed(found...))
		clock(w, 3000)
		end(w, 3000)
	})
}

// Counts of a hot procedure's calls are estimates, of which one takes another's; the others are
// exact.
func TestBursts(t *testing.T) {
	t.Parallel()
	tr := counted(t, 1_000_000,
		0, 1_000_000, 1000, 10*100*100, 10,
		1, 0, 2000, 10*200*200, 10*100*200)
	for _, id := range []trace.PointID{1, 2} {
		e := tr.Hits(id)
		if e.Value != 2_004_000 || e.Lo < 2_000_000 || e.Lo > 2_002_000 || e.Hi < 2_006_000 || e.Hi > 2_008_000 ||
			e.Exact() || e.Bound() {
			t.Errorf("call %d, always two: %+v, expected 2,004,000 and an interval of about 2 hits in 1,000 activations", id, e)
		}
	}
	for id, want := range map[trace.PointID]trace.Estimate{
		0: {Value: 1_002_000}, 3: {Value: 1_002_000}, 4: {Value: 7}, 6: {Value: 10}, 7: {Value: 20}, // exact
		5: {Value: 30, Lo: 30}, // bursts do not show of it
	} {
		if e := tr.Hits(id); e != want {
			t.Errorf("point %d: %+v, expected %+v", id, e, want)
		}
	}
	p, losses := &tr.Points[0], tr.Losses()
	if p.Plain != 1_000_000 || p.Counts(0) != 2000+1_000_000/spec.InLineParts || p.Bursts.N != 10 || losses.Any() {
		t.Errorf("%+v, as expensive as %d counted hits, losses %v", p, p.Counts(0), losses.List())
	}
}

// Too few bursts, or none, give a lower bound, and never an exact number.
func TestFewBursts(t *testing.T) {
	t.Parallel()
	for name, found := range map[string][]uint64{
		"no bursts":    {0, 5000, 0, 0, 0},
		"one burst":    {0, 5000, 100, 100 * 100, 1, 1, 0, 200, 200 * 200, 100 * 200},
		"three bursts": {0, 5000, 300, 3 * 100 * 100, 3, 1, 0, 600, 3 * 200 * 200, 3 * 100 * 200},
		"one has all":  {0, 5000, 1000, 10 * 100 * 100, 10, 1, 0, 9, 9 * 9, 9 * 100},
	} {
		e := counted(t, 5000, found...).Hits(1)
		if want := (trace.Estimate{Value: 4000, Lo: 4000}); e != want || !e.Bound() || e.Exact() {
			t.Errorf("%s: %+v, expected 4,000 or more", name, e)
		}
	}
}

// Nonsense is not believed: points that there are not, more plain activations than entries, sums
// that no bursts have.
func TestHostileBursts(t *testing.T) {
	t.Parallel()
	const most = 1<<64 - 1
	if tr := counted(t, 10, 8, 1, 1, 1, 1, most, 1, 1, 1, 1); tr.Losses().UnknownPoint != 2 || !tr.Hits(1).Exact() {
		t.Errorf("unknown points: %d losses, %+v", tr.Losses().UnknownPoint, tr.Hits(1))
	}
	for _, found := range [][]uint64{
		{0, most, 1, 1, 1}, {0, most, most, 0, most, 1, most, most, 0, most}, {0, 5, 0, 0, 0, 1, 0, 0, 0, 0},
		{0, most, 1, most, 4, 1, 0, most, 1, 1}, {1, 5, 5, 5, 5}, {5, 1, 9, 9, 9, 0, 1, 2, 3, 4},
	} {
		tr := counted(t, 1000, found...)
		if p := tr.Points[0]; p.Plain > p.Hits {
			t.Errorf("%v: %d of %d without probes", found, p.Plain, p.Hits)
		}
		for id := range tr.Points {
			e := tr.Hits(trace.PointID(id))
			part := e.Part(3, 10).Plus(e).Beside(e)
			for _, e := range []trace.Estimate{e, part} {
				if e.Lo > e.Value || e.Hi > 0 && e.Hi < e.Value {
					t.Errorf("%v: point %d: %+v", found, id, e)
				}
			}
		}
	}
}

// Windows know no counts.
func TestBurstsOfWindow(t *testing.T) {
	t.Parallel()
	b, call := tracetest.New(1), uint32(0)
	hot := b.Proc("main.hot")
	call = b.Calls(hot, "main.f", 0)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Plain(hot, 1000)
	for range 5 {
		b.Burst(hot, 10, map[uint32]uint64{call: 20})
	}
	b.At(2000).End(g)
	tr := b.Trace()
	if err := tracetest.Validate(tr); err != nil || tr.Hits(trace.PointID(call)).Exact() {
		t.Errorf("%v, %+v", err, tr.Hits(trace.PointID(call)))
	}
	w, err := tr.Window(500, 1500)
	if err != nil {
		t.Fatal(err)
	}
	if w.Points[hot].Plain != 0 || w.Points[hot].Bursts != nil || !w.Hits(trace.PointID(call)).Exact() {
		t.Errorf("in a window: %+v", w.Points[hot])
	}
}

// The validator finds what cannot be.
func TestValidateBursts(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*trace.Trace){
		"nothing":                 func(*trace.Trace) {},
		"more plain than entries": func(t *trace.Trace) { t.Points[0].Plain = t.Points[0].Hits + 1 },
		"not twice":               func(t *trace.Trace) { t.Points[0].Flags = 0 },
		"more in bursts": func(t *trace.Trace) {
			t.Points[0].Bursts.Hits = t.Points[0].Hits - t.Points[0].Plain + 1
		},
		"more hits in bursts": func(t *trace.Trace) { t.Points[1].Bursts.Hits = t.Points[1].Hits + 1 },
		"small squares":       func(t *trace.Trace) { t.Points[1].Bursts.Squares = 10 * 199 * 199 },
		"no activations":      func(t *trace.Trace) { t.Points[0].Bursts = nil },
	} {
		tr := counted(t, 5000, 0, 5000, 1000, 10*100*100, 10, 1, 0, 2000, 10*200*200, 10*100*200)
		spoil(tr)
		if err := tracetest.Validate(tr); (err == nil) != (name == "nothing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Sums of one run may be wrong in the same direction; those of several runs are not.
func TestEstimates(t *testing.T) {
	t.Parallel()
	a, b := trace.Estimate{Value: 100, Lo: 70, Hi: 130}, trace.Estimate{Value: 50, Lo: 10, Hi: 90}
	got := []trace.Estimate{a.Plus(b), a.Beside(b), a.Plus(trace.Estimate{Value: 5}),
		a.Plus(trace.Estimate{Value: 5, Lo: 5}), trace.Estimate{}.Beside(a), b.Part(3, 3), b.Part(0, 3)}
	want := []trace.Estimate{{Value: 150, Lo: 80, Hi: 220}, {Value: 150, Lo: 100, Hi: 200},
		{Value: 105, Lo: 75, Hi: 135}, {Value: 105, Lo: 75}, a, b, {}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	tr := counted(t, 1_000_000, 0, 1_000_000, 1000, 10*100*100, 10, 1, 0, 2000, 10*200*200, 10*100*200)
	e := tr.Hits(1)
	if p := e.Part(1000, 4000); p.Value != 501_000 || p.Lo < 1000 || p.Lo > e.Lo/4 || p.Hi < e.Hi/4 ||
		p.Hi > e.Hi-3000 {
		t.Errorf("a quarter of %+v is %+v", e, p)
	}
}

// A loop that lasts takes the place of its procedure for what is in it: procedure 0 has loop 1,
// with call 2 and loop 3, which has call 4; call 5 is in none.
func TestLoopUnits(t *testing.T) {
	t.Parallel()
	recordedLoops := func(found ...uint64) *trace.Trace {
		return recorded(t, func(w *sddf.Writer) {
			clock(w, 1000)
			zeros := make([]uint32, 6)
			w.Data(spec.TagProbes, uint32(0), "main", []string{""}, make([]uint64, 6),
				[]string{"proc", "loop", "call", "loop", "call", "call"}, zeros, zeros,
				zeros, zeros, []uint32{0, spec.FlagTwice, 0, spec.FlagTwice, 0, 0}, zeros, []uint32{0, 1, 2, 3, 4, 5},
				[]uint32{0, 1, 1, 1, 3, 5}, zeros)
			w.Data(spec.TagCounts, uint64(2000), packed(0, 1, 0, 1, 1, 0, 2, 3000, 0, 3, 1500, 0, 4, 6000, 0, 5, 9, 0))
			w.Data(spec.TagBursts, uint64(2000), uint64(10), packed(found...))
			clock(w, 3000)
			end(w, 3000)
		})
	}
	for _, c := range []struct {
		unit, within string
		found        []uint64
		want         []uint64 // 0: exact
	}{
		{"1", "all in it", []uint64{1, 100_000, 1000, 10 * 100 * 100, 10, 2, 0, 2000, 10 * 200 * 200, 10 * 100 * 200, 3,
			0, 1000, 10 * 100 * 100, 10 * 100 * 100, 4, 0, 4000, 10 * 400 * 400, 10 * 100 * 400},
			[]uint64{0, 0, 3000 + 200_000, 1500 + 100_000, 6000 + 400_000, 0}},
		{"3", "its call", []uint64{3, 100_000, 1000, 10 * 100 * 100, 10, 4, 0, 4000, 10 * 400 * 400, 10 * 100 * 400},
			[]uint64{0, 0, 0, 0, 6000 + 400_000, 0}},
	} {
		tr := recordedLoops(c.found...)
		for id, want := range c.want {
			if e := tr.Hits(trace.PointID(id)); e.Exact() != (want == 0) || want != 0 &&
				(e.Value != want || e.Bound()) {
				t.Errorf("loop %s is a unit, with %s: point %d has %+v, expected %d (0: as counted)", c.unit, c.within,
					id, e, want)
			}
		}
		if err := tracetest.Validate(tr); err != nil {
			t.Error(err)
		}
	}
}

// A small procedure that is counted where it is called has the hits of its calls, which may be
// those of the activations of another one, and may be estimates.
func TestSummed(t *testing.T) {
	t.Parallel()
	kinds := []string{"proc", "proc", "call", "proc", "call", "call", "proc", "call", "proc", "call", "call"}
	names := []uint32{1, 2, 3, 4, 2, 3, 5, 6, 6, 5, 3}
	owners := []uint32{0, 1, 1, 3, 3, 3, 6, 6, 8, 8, 8}
	representatives := []uint32{0, 1, 1, 3, 4, 5, 6, 6, 8, 8, 10}
	const summed = spec.FlagSmall | spec.FlagSummed
	// leaf (0) is called by calls (1) always, by hot (3) twice and once more where nothing is known
	// of it; a file may say that p (6) and q (8) call each other always.
	flags := []uint32{summed, summed, 0, spec.FlagTwice, 0, 0, summed, 0, summed, 0, spec.FlagDerived}
	tr := recorded(t, func(w *sddf.Writer) {
		clock(w, 1000)
		zeros, own := make([]uint32, len(kinds)), make([]uint32, len(kinds))
		for i := range own {
			own[i] = uint32(i)
		}
		w.Data(spec.TagProbes, uint32(0), "main", []string{"", "leaf0", "calls", "leaf0", "hot", "p", "q"},
			make([]uint64, len(kinds)), kinds, names, owners, zeros, zeros, flags, zeros, representatives, own, zeros)
		w.Data(spec.TagCounts, uint64(2000), packed(3, 101_000, 0, 4, 1000, 0, 5, 3000, 0, 10, 7, 0))
		w.Data(spec.TagBursts, uint64(2000), uint64(10),
			packed(3, 100_000, 1000, 10*100*100, 10, 4, 0, 1000, 10*100*100, 10*100*100))
		clock(w, 3000)
		end(w, 3000)
	})
	if p := tr.Points[0]; p.Hits != 1000+3000 {
		t.Errorf("leaf: %d hits observed, expected those of its calls, 4,000", p.Hits)
	}
	if e := tr.Hits(1); e.Value != 101_000 || e.Exact() || e.Bound() {
		t.Errorf("calls: %+v, expected one of each activation", e)
	}
	if e := tr.Hits(2); e != tr.Hits(1) {
		t.Errorf("a call that calls always makes: %+v, expected %+v", e, tr.Hits(1))
	}
	if e := tr.Hits(0); e.Value != 101_000+3000 || !e.Bound() {
		t.Errorf("leaf: %+v, expected a lower bound, as one of its calls has", e)
	}
	for _, id := range []trace.PointID{6, 8} {
		if e := tr.Hits(id); e.Value != 0 {
			t.Errorf("procedure %d, which only calls itself: %+v", id, e)
		}
	}
}
