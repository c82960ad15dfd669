package trace_test

import (
	"math/rand/v2"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// related is a trace in which procedure 0 ran without its entries being counted. It had hits
// entries that were, and call 1 in it two in each of these. Procedure 6 had yards, all counted.
func related(t *testing.T, hits, yards uint64, ratios ...uint64) *trace.Trace {
	return recorded(t, func(w *sddf.Writer) {
		clock(w, 1000)
		burstPoints(w)
		w.Data(spec.TagCounts, uint64(2000), packed(0, hits, 0, 1, 2*hits, 0, 4, 7, 0, 5, 30, 0, 6, yards, 0, 7, 20, 0))
		w.Data(spec.TagBursts, uint64(2000), uint64(10), packed(
			0, 100|spec.Uncounted, 1000, 10*100*100, 10,
			1, 0, 2000, 10*200*200, 10*100*200))
		w.Data(spec.TagRatios, uint64(2000), packed(0|6<<32, 9, 9, 9, 9, 9, 9, 9, 9)) // replaced
		w.Data(spec.TagRatios, uint64(2000), packed(ratios...))
		clock(w, 3000)
		end(w, 3000)
	})
}

// TestRatios: the entries of a procedure that nobody counted are those of another one times their
// ratio in bursts, and so are those of what stands for it. What it reached is related to them.
// Entries that probes counted in bursts that the record leaves out are not added a second time.
func TestRatios(t *testing.T) {
	t.Parallel()
	ten := []uint64{0 | 6<<32, 50, 10, 1000, 10 * 100 * 100, 200, 10 * 20 * 20, 10 * 100 * 20, 500}
	for _, more := range []uint64{0, 300} {
		tr := related(t, 1000+100+400+more, 50+200+10_000, ten...)
		for id, want := range map[trace.PointID]trace.Estimate{
			0: {Value: 1500 + 50_000, Lo: 1500 + 49_000, Hi: 1500 + 51_000},
			3: {Value: 1500 + 50_000, Lo: 1500 + 49_000, Hi: 1500 + 51_000},
			1: {Value: 2*1500 + 200 + 100_000, Lo: 3200 + 97_000, Hi: 3200 + 103_000},
			6: {Value: 10_250}, // exact
		} {
			e := tr.Hits(id)
			if e.Value != want.Value || e.Lo < want.Lo || e.Hi > want.Hi || e.Exact() != want.Exact() || e.Bound() {
				t.Errorf("%d more, point %d: found %+v, expected %+v at most", more, id, e, want)
			}
		}
	}
}

// What is wrong in a file, or too little, gives a lower bound.
func TestHostileRatios(t *testing.T) {
	t.Parallel()
	const most = 1<<64 - 1
	for name, ratios := range map[string][]uint64{
		"none":              {},
		"varies":            {0 | 6<<32, 50, 10, 1000, 11 * 100 * 100, 200, 11 * 20 * 20, 10 * 100 * 20, 500},
		"few bursts":        {0 | 6<<32, 50, 9, 900, 9 * 100 * 100, 180, 9 * 20 * 20, 9 * 100 * 20, 500},
		"of itself":         {0, 50, 10, 1000, 10 * 100 * 100, 200, 10 * 20 * 20, 10 * 100 * 20, 500},
		"of a call":         {0 | 7<<32, 5, 10, 1000, 10 * 100 * 100, 2, 2, 20, 500},
		"of no point":       {0 | 60<<32, 5, 10, 1000, 10 * 100 * 100, 2, 2, 20, 500},
		"more than entries": {0 | 6<<32, most, 10, 1000, 10 * 100 * 100, 200, 10 * 20 * 20, 10 * 100 * 20, 500},
		"not in bursts":     {0 | 6<<32, 50, 10, 1000, 10 * 100 * 100, 0, 0, 0, 500},
		"no number":         {0 | 6<<32, most, most, most, most, most, most, most, most},
	} {
		tr := related(t, 1500, 10_250, ratios...)
		for id := range trace.PointID(2) {
			if e := tr.Hits(id); !e.Bound() {
				t.Errorf("%s: point %d: %+v, expected a lower bound", name, id, e)
			}
		}
	}
}

// TestRatiosHold: the interval claims 95 % and holds that, for a ratio that varies little.
func TestRatiosHold(t *testing.T) {
	t.Parallel()
	const trials, bursts, others = 1000, 12, 400
	held := 0
	for trial := range trials {
		r := rand.New(rand.NewPCG(1, uint64(trial)))
		piece := func() (yards, hits uint64) { // of a millisecond
			yards = uint64(200 + r.IntN(100))
			return yards, 3*yards + uint64(r.IntN(30))
		}
		var s [7]uint64
		for range bursts {
			y, x := piece()
			for i, v := range []uint64{1, x, x * x, y, y * y, x * y} {
				s[i+1] += v
			}
		}
		truth, total := s[2], s[4]
		for range others {
			y, x := piece()
			truth, total = truth+x, total+y
		}
		tr := related(t, s[2]+100, total, append(append([]uint64{0 | 6<<32}, s[:]...), 100)...)
		if e := tr.Hits(0); e.Lo <= truth+100 && truth+100 <= e.Hi {
			held++
		}
	}
	if held < trials*95/100 {
		t.Errorf("%d of %d intervals hold, expected 95 %%", held, trials)
	}
}
