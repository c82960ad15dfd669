package profile

import (
	"testing"

	"qinst.dev/internal/trace"
)

// The hold of a lock of which some operations were only counted, seen in stretches of the run.
func TestHoldsEstimate(t *testing.T) {
	const second = 1_000_000_000
	seen := func(stretches int, ns int64) *holds {
		in, h := heldIn{}, &holds{}
		for k := range stretches {
			for range 100 {
				in.add(trace.Time(k*50_000_000), ns+int64(k%3))
			}
		}
		x := h.of(0)
		x.add(&in)
		x.began, x.traced = x.n, uint64(x.n)
		return h
	}
	cut := seen(30, 1000)
	cut.of(0).began += 3000 / 5
	for _, c := range []struct {
		name     string
		holds    *holds
		others   uint64 // operations that were only counted
		event    float64
		all      int64
		interval [2]int64 // holds the truth; zero for none
		ok       bool
	}{
		{"all known", seen(20, 999), 0, 50, 20*100*1000 - 100, [2]int64{}, false},
		{"too few stretches", seen(5, 1000), 1000, 50, 5*100*1000 + 400, [2]int64{500_400, second}, false},
		{"a fifth did not end in its burst", cut, 297_000, 0, 30*100*1000 + 3000, [2]int64{3_000_000, second}, false},
		{"most are not known", seen(30, 999), 297_000, 0, 300_000_000, [2]int64{299_000_000, 301_000_000}, true},
		{"with what tracing takes", seen(30, 999), 297_000, 100, 300_000_000 - 297_000*50,
			[2]int64{260_000_000, 301_000_000}, true},
		{"shorter than what tracing takes", seen(30, 9), 297_000, 100, 3_000_000 - 297_000*9/2,
			[2]int64{30_000, 3_200_000}, true},
		{"no longer than the run", seen(30, 9_999), 297_000, 0, second, [2]int64{second, second}, true},
	} {
		c.holds.of(0).taken = trace.Estimate{Value: c.holds.of(0).traced + c.others}
		all, interval, ok := c.holds.estimate(second, c.event)
		if d := all - c.all; d < -c.all/1000 || d > c.all/1000 || ok != c.ok ||
			(interval == nil) != (c.interval == [2]int64{}) {
			t.Errorf("%s: %d %v %t, expected %d %v %t", c.name, all, interval, ok, c.all, c.interval, c.ok)
		}
		if i := interval; i != nil && (i[0] < c.interval[0] || i[1] > c.interval[1] || i[0] > all || i[1] < all) {
			t.Errorf("%s: %d in %v, expected within %v", c.name, all, *i, c.interval)
		}
	}
}

// A table that is rebuilt now and then, which takes long and is traced, and looked up very often:
// what was only counted is like what was traced of that point.
func TestHoldsByPoint(t *testing.T) {
	const second, rebuild, lookUp = 1_000_000_000, 1, 2
	h := &holds{}
	for at, c := range map[trace.PointID]struct{ n, ns int64 }{rebuild: {1, 5_000_000}, lookUp: {100, 1000}} {
		in := heldIn{}
		for k := range 40 {
			for range c.n {
				in.add(trace.Time(k*25_000_000), c.ns)
			}
		}
		x := h.of(at)
		x.add(&in)
		x.began, x.traced = x.n, uint64(x.n)
		x.taken = trace.Estimate{Value: x.traced}
	}
	h.of(lookUp).taken.Value += 100_000
	all, interval, ok := h.estimate(second, 0)
	if want := int64(40*5_000_000 + (4000+100_000)*1000); !ok || all != want || interval[0] > want ||
		interval[1] < want || interval[1] > want+want/10 {
		t.Errorf("held for %d in %v, expected %d", all, interval, want)
	}
}

// TestHoldsEstimated: where the number of operations is an estimate the interval of the holds has
// its ends, and where it is a lower bound that of the holds is one, too.
func TestHoldsEstimated(t *testing.T) {
	in := heldIn{}
	for k := range 4000 {
		in.add(trace.Time(k/100*25_000_000), 1000)
	}
	h := &holds{}
	x := h.of(0)
	x.add(&in)
	x.began, x.traced = x.n, uint64(x.n)
	const all = 1_000_000 // of 1 us
	x.taken = trace.Estimate{Value: all, Lo: all * 9 / 10, Hi: all * 12 / 10}
	ns, i, ok := h.estimate(1<<40, 0)
	if !ok || ns != all*1000 || i[0] > all*900 || i[0] < all*890 || i[1] < all*1200 || i[1] > all*1210 {
		t.Errorf("held for %d ns in %v, %t, expected %d to %d", ns, i, ok, all*900, all*1200)
	}
	x.taken = trace.Estimate{Value: all, Lo: all}
	if ns, i, ok := h.estimate(1<<40, 0); ok || ns != x.ns || i[0] != x.ns || i[1] != 1<<40 {
		t.Errorf("held for %d ns in %v, %t, expected %d and more", ns, i, ok, x.ns)
	}
}
