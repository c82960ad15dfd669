package profile_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/cmd/internal/analysis/profile"
	"qinst.dev/cmd/internal/trace/tracetest"
)

// phases is a random program: threads that run procedures in procedures, in phases of
// their own lengths, at times one behind the other and at times together.
func phases(r *rand.Rand) (procs int, ths []tracetest.Thread) {
	procs = 1 + r.IntN(4)
	mean := math.Exp(r.Float64()*5) * 1e5 // 0.1 to 15 ms
	for i := range 1 + r.IntN(5) {
		var ops []tracetest.Op
		for range 5 + r.IntN(40) {
			outer := fmt.Sprint("main.outer", r.IntN(2))
			ops = append(ops, tracetest.Enter(outer))
			for range 1 + r.IntN(3) {
				lock := ""
				if r.IntN(4) == 0 {
					lock = "main.mu"
					ops = append(ops, tracetest.Lock(lock))
				}
				ops = append(ops, tracetest.Do(fmt.Sprint("main.f", min(r.IntN(4), r.IntN(4))), 1+int64(mean*r.ExpFloat64())))
				if lock != "" {
					ops = append(ops, tracetest.Unlock(lock))
				}
			}
			ops = append(ops, tracetest.Leave(outer))
		}
		ths = append(ths, tracetest.Thread{Name: fmt.Sprint("main.t", i), Ops: ops})
	}
	return procs, ths
}

var coverCases = flag.Int("cover.cases", 1200, "programs of TestCoverage")

// The intervals of sampled profiles hold what exact ones say, in as many of the cases as
// they promise: a binomial test at 1 %. None is wider than 1.5 times that of as many
// independent looks. Cases are independent: each is one line of one program.
func TestCoverage(t *testing.T) {
	const gap = 1e6
	for _, kind := range []string{"all", "some", "mixed", "text"} {
		cases, held, wide := 0, 0, 0
		for seed := range uint64(*coverCases) {
			r := rand.New(rand.NewPCG(seed, 17))
			procs, ths := phases(r)
			exact := profileOf(t, tracetest.Simulate(procs, ths))
			untraced := func(string) bool { return true }
			if kind == "some" {
				untraced = func(name string) bool { return name >= "main.f1" && name <= "main.f3" }
			}
			if kind == "mixed" { // as where rate control changes its mind
				chance := rand.New(rand.NewPCG(seed, 29))
				untraced = func(string) bool { return chance.IntN(3) > 0 }
			}
			b := tracetest.New(procs).Samples(gap, seed, untraced)
			if kind == "text" {
				b.Text()
			}
			sampled := profileOf(t, tracetest.SimulateOn(b, ths))
			name := fmt.Sprint("main.f", 1+r.IntN(3))
			if (kind == "all" || kind == "text") && r.IntN(3) == 0 {
				name = fmt.Sprint("main.outer", r.IntN(2))
			}
			want, got := find(exact, name), find(sampled, name)
			if want == nil || got == nil || got.NPTs == nil {
				continue // in a short program nothing was seen
			}
			cases++
			if got.NPTs.Low <= want.NPT+1 && want.NPT-1 <= got.NPTs.High {
				held++
			}
			p, n := float64(want.NPT)/float64(exact.Wall), float64(exact.Wall)/gap
			if half := float64(got.NPTs.High-got.NPTs.Low) / 2 / float64(exact.Wall); n*p*(1-p) > 4 && half > 1.5*1.96*math.Sqrt(p*(1-p)/n) {
				wide++
			}
			if sampled.Busy != exact.Busy || sampled.Wall != exact.Wall {
				t.Errorf("seed %d: busy %d of %d, want %d of %d", seed, sampled.Busy, sampled.Wall, exact.Busy, exact.Wall)
			}
		}
		share, off := float64(held)/float64(cases), 2.576*math.Sqrt(0.95*0.05/float64(cases))
		t.Logf("%s: %d of %d intervals hold (%.3f, expected 0.95 +- %.3f), %d are wide", kind, held, cases, share, off, wide)
		if share < 0.95-off {
			t.Errorf("%s: %.3f of the intervals hold what they should, expected 0.95 - %.3f", kind, share, off)
		}
		if wide > cases/1000 {
			t.Errorf("%s: %d intervals are wider than 1.5 times that of independent looks", kind, wide)
		}
	}
}

func find(p *profile.Profile, name string) *profile.Entry {
	for i := range p.Entries {
		if p.Entries[i].Name == name {
			return &p.Entries[i]
		}
	}
	return nil
}

// Whatever is sampled, no time is lost, and what events tell of stays exact: the states
// of groups and goroutines, and the totals of traced procedures.
func TestSampledIdentities(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		procs, ths := phases(rand.New(rand.NewPCG(seed, 3)))
		exact := profileOf(t, tracetest.Simulate(procs, ths))
		b := tracetest.New(procs).Samples(1e6, seed, func(name string) bool { return name == "main.f0" || name == "main.f1" })
		if rapid.Bool().Draw(rt, "text") {
			b.Text()
		}
		sampled := profileOf(t, tracetest.SimulateOn(b, ths))
		for i := range exact.Entries {
			want := &exact.Entries[i]
			got := find(sampled, want.Name)
			if want.Name == "main.f0" || want.Name == "main.f1" {
				continue
			}
			if got == nil || got.NPT != want.NPT || got.Busy != want.Busy || got.Ready != want.Ready {
				rt.Fatalf("%s: %+v, want %+v", want.Name, got, want)
			}
		}
	})
}

// A procedure's lines add up to its own time, in one run and in several, and an interval of one that has a quarter
// of it holds that as often as it says.
func TestLines(t *testing.T) {
	lines, held := 0, 0
	for seed := range uint64(300) {
		procs, ths := phases(rand.New(rand.NewPCG(seed, 17)))
		var runs []*profile.Profile
		for run := range uint64(2) {
			runs = append(runs, profileOf(t, tracetest.SimulateOn(tracetest.New(procs).Samples(1e5, seed+run, func(string) bool { return true }).Text(), ths)))
		}
		for _, p := range append(runs, profile.Merge(runs)) {
			for i := range p.Entries {
				e := &p.Entries[i]
				sum := int64(0)
				for _, l := range e.Lines {
					sum += l.SelfNPT
					if l.Line == tracetest.Rare && p != runs[0] {
						lines++
						held += one(float64(l.SelfNPTs.Low) <= float64(e.SelfNPT)/4 && float64(e.SelfNPT)/4 <= float64(l.SelfNPTs.High))
					}
				}
				if sum != e.SelfNPT && len(e.Lines) > 0 || e.SelfNPTs != nil && e.SelfNPT > 0 && e.Lines == nil && e.Name[0] != '[' {
					t.Fatalf("%s: lines %v add up to %d, expected %d", e.Name, e.Lines, sum, e.SelfNPT)
				}
			}
		}
	}
	if share := float64(held) / float64(lines); lines < 1000 || share < 0.94 {
		t.Errorf("%.1f %% of %d intervals hold, expected 95", 100*share, lines)
	}
	t.Logf("%.1f %% of %d intervals hold", 100*float64(held)/float64(lines), lines)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
