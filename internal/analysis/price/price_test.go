package price_test

import (
	"math"
	"testing"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/trace"
)

const clock = 10 // ns

func tables(took map[string]trace.Took) *trace.Tables {
	return &trace.Tables{Attrs: []trace.Attr{{Key: "clock_cost_ps", Value: uint64(clock * 1000)}},
		Recording: trace.Recording{Took: took}}
}

func near(x, want float64) bool { return math.Abs(x-want) <= 0.05*want }

// Events that timed themselves tell more of a price than readings of the clock, and count for more;
// a few tell nothing.
func TestTimedItself(t *testing.T) {
	t.Parallel()
	own := price.Of(tables(nil))[price.Schedule]
	few := price.Of(tables(map[string]trace.Took{"scheduling": {N: 3, Mean: 100}}))[price.Schedule]
	many := price.Of(tables(map[string]trace.Took{"scheduling": {N: 1000, Mean: 100}}))[price.Schedule]
	if own != few || own.Each != 2.5*clock {
		t.Errorf("found %+v, and with few events %+v, expected 2.5 readings", own, few)
	}
	if many.Each <= 35 || many.Each >= 45 || many.SD >= own.SD/own.Each*many.Each || many.From == own.From {
		t.Errorf("found %+v, expected something between %+v and 53 ns, surer than either", many, own)
	}
}

// How much longer an experiment's events take, these tell themselves, and a reading of the clock
// more.
func TestExtra(t *testing.T) {
	t.Parallel()
	asked := tables(nil)
	asked.Attrs = append(asked.Attrs, trace.Attr{Key: "extra_ps", Value: uint64(1000_000)})
	took := tables(map[string]trace.Took{"extra": {N: 1000, Mean: 1100}})
	took.Attrs = asked.Attrs
	for _, c := range []struct {
		t    *trace.Tables
		want float64
	}{{asked, 1000}, {took, 1100 + clock}} {
		if p := price.Of(c.t)[price.Call]; p.Each != 1.5*clock+c.want {
			t.Errorf("found %v ns, expected %v more than the usual ones", p.Each, c.want)
		}
	}
}

// Many samples decide what a call costs, and few leave it as it was.
func TestMend(t *testing.T) {
	t.Parallel()
	const calls, work = 1_000_000, 100e6 // 100 ns for each
	mended := func(n int) price.Price {
		var s price.Seen
		for i := range n {
			s.Add(trace.Sampled{Code: 1, Gap: work / 1000 / int64(n)}, i%4 == 0)
		}
		p := price.Of(tables(nil))
		p.Mend(&s, work, calls, 0, 0)
		return p[price.Call]
	}
	own := price.Of(tables(nil))[price.Call]
	if few := mended(4); few != own {
		t.Errorf("found %+v from four samples, expected %+v", few, own)
	}
	if many := mended(4000); !near(many.Each, 22) || many.SD >= own.SD {
		t.Errorf("found %+v, expected nearly the 25 ns that samples saw in probes", many)
	}
}

// Without calls, or work, there is nothing to mend.
func TestNoCalls(t *testing.T) {
	t.Parallel()
	var s price.Seen
	for range 100 {
		s.Add(trace.Sampled{Code: 1, Gap: 1000}, false)
	}
	p := price.Of(tables(nil))
	for _, n := range [][2]int64{{1e8, 0}, {0, 10}} {
		if p.Mend(&s, float64(n[0]), n[1], 10, 0); p != price.Of(tables(nil)) {
			t.Errorf("%d ns, %d calls: found %+v", n[0], n[1], p)
		}
	}
}
