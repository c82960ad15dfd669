package profile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
)

// Several profiles as one keep every identity, and their calls and times are sums.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var list []*profile.Profile
		for range rapid.IntRange(2, 4).Draw(rt, "traces") {
			procs, ths := phases(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 5)))
			list = append(list, profileOf(t, tracetest.Simulate(procs, ths)))
		}
		sum := profile.Merge(list)
		identities(rt, sum)
		for _, name := range []string{"main.f1", "main.outer0", "main.mu"} {
			npt, calls, waits := int64(0), uint64(0), int64(0)
			for _, p := range list {
				if e := find(p, name); e != nil {
					npt, calls, waits = npt+e.NPT, calls+e.Calls, waits+e.Wait
				}
			}
			if e := find(sum, name); e != nil && (e.NPT != npt || e.Calls != calls || e.Wait != waits) {
				rt.Errorf("%s: npt %d, %d calls, waited %d; the traces have %d, %d, %d", name, e.NPT, e.Calls, e.Wait,
					npt, calls, waits)
			}
		}
		paths := int64(0)
		for st := range sum.Stacks() {
			paths += st.NPT
		}
		if d := paths - sum.NPTSum; d > 1000 || d < -1000 {
			rt.Errorf("paths have %d, the sum is %d", paths, sum.NPTSum)
		}
	})
}

// Means over runs, and Student's intervals: 4, 6 and 8 ms are 6 +- 4.97.
func TestOver(t *testing.T) {
	var list []*profile.Profile
	for _, ms := range []int64{4, 6, 8} {
		list = append(list, profileOf(t, tracetest.Simulate(1,
			[]tracetest.Thread{{Name: "main.t", Ops: []tracetest.Op{tracetest.Do("main.f", ms*1e6)}}})))
	}
	r, err := profile.Over(list, profile.Merge(list))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Entries {
		if e.Name == "main.f" && (e.NPT.Mean != 6e6 || math.Abs(e.NPT.High-10.968e6) > 1e3 ||
			math.Abs(e.NPT.Low-1.032e6) > 1e3) {
			t.Errorf("%+v, expected 6 ms +- 4.968", e.NPT)
		}
	}
	if r.Runs != 3 || r.Wall.Mean != 6e6 {
		t.Errorf("%+v", r)
	}
}

// Quantiles of several traces are those of all their regions, and not those of the slowest trace.
func TestMergeLatency(t *testing.T) {
	var list []*profile.Profile
	for _, regions := range [][]int64{{1, 2, 3, 4, 5, 6, 7, 8}, {1000}, {9, 10}} {
		b := tracetest.New(1)
		g := b.Go(0, "main.main")
		b.Start(g, 0)
		now := int64(0)
		for _, ns := range regions {
			b.At(now).BeginRegion(g, "work")
			now += ns
			b.At(now).EndRegion(g, "work")
		}
		b.End(g)
		list = append(list, profileOf(t, b))
	}
	first := *entry(t, list[0], "work").Latency
	got := *entry(t, profile.Merge(list), "work").Latency
	if got.Count != 11 || got.Total != 1055 || got.P50 != 6 || got.P90 != 10 || got.P99 != 10 || got.Max != 1000 {
		t.Errorf("%+v, expected 11 times, 1055 in sum, 6 in the middle, 10 at 90 and 99 of 100, at most 1000", got)
	}
	if again := *entry(t, list[0], "work").Latency; again != first {
		t.Errorf("the first trace now says %+v, expected %+v", again, first)
	}
}

// One run, or none, has no interval, whatever there is to show of it.
func TestOverFew(t *testing.T) {
	one := profileOf(t, tracetest.Simulate(1, []tracetest.Thread{{Name: "main.t",
		Ops: []tracetest.Op{tracetest.Do("main.f", 1e6)}}}))
	for _, list := range [][]*profile.Profile{nil, {one}} {
		if r, err := profile.Over(list, one); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("found %d, expected two or more runs", len(list))) {
			t.Errorf("%d runs: %+v, %v; expected an error that says how many there are", len(list), r, err)
		}
	}
}

// A part of a profile and what is outside are the whole.
func TestWithin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := tracetest.New(2)
		f, h := b.Proc("main.f"), b.Proc("main.h")
		g := b.Go(0, "main.main")
		b.Start(g, 0)
		b.Enter(g, f)
		now, inside := int64(0), int64(0)
		var child tracetest.G
		for range rapid.IntRange(1, 10).Draw(rt, "regions") {
			for _, in := range []bool{false, true} {
				d := rapid.Int64Range(1, 1000).Draw(rt, "ns")
				if in {
					inside += d
					b.At(now).BeginRegion(g, "work")
					if child == 0 {
						child = b.Go(g, "main.child") // it is inside for good
						b.Start(child, 1)
						b.Enter(child, h)
					}
				}
				now += d
				if in {
					b.At(now).EndRegion(g, "work")
				}
			}
		}
		b.At(now).Exit(child, h)
		b.End(child)
		b.Exit(g, f)
		b.End(g)
		p, err := profile.NewWithin(b.Trace(), profile.Within{Region: "work"})
		if err != nil {
			rt.Fatal(err)
		}
		identities(rt, p)
		if e := find(p, "main.f"); e == nil || e.SelfBusy != inside {
			rt.Errorf("inside %d: %+v", inside, e)
		}
		if e := find(p, "main.h"); e == nil || e.SelfBusy != p.Busy-p.NPTSum {
			rt.Errorf("%+v of %d", e, p.Busy)
		}
		if e := find(p, "[outside]"); e == nil || e.SelfBusy != now-inside {
			rt.Errorf("outside %d: %+v", now-inside, e)
		}
	})
}
