package profile_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// phases is a random program: threads that run procedures in procedures, in phases of
// their own lengths, at times in turn and at times together.
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
				ops = append(ops, tracetest.Do(fmt.Sprint("main.f", min(r.IntN(4), r.IntN(4))),
					1+int64(mean*r.ExpFloat64())))
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

var coverCases = flag.Int("cover.cases", tracetest.Cases(1200), "programs of TestCoverage")

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
			if half := float64(got.NPTs.High-got.NPTs.Low) / 2 / float64(exact.Wall); n*p*(1-p) > 4 &&
				half > 1.5*1.96*math.Sqrt(p*(1-p)/n) {
				wide++
			}
			if sampled.Busy != exact.Busy || sampled.Wall != exact.Wall {
				t.Errorf("seed %d: busy %d of %d, want %d of %d", seed, sampled.Busy, sampled.Wall, exact.Busy,
					exact.Wall)
			}
		}
		share, off := float64(held)/float64(cases), 2.576*math.Sqrt(0.95*0.05/float64(cases))
		t.Logf("%s: %d of %d intervals hold (%.3f, expected 0.95 +- %.3f), %d are wide", kind, held, cases, share, off,
			wide)
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

// Whatever is sampled, no time is lost, and what events show of stays exact: the states
// of groups and goroutines, and the totals of traced procedures.
func TestSampledIdentities(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		procs, ths := phases(rand.New(rand.NewPCG(seed, 3)))
		exact := profileOf(t, tracetest.Simulate(procs, ths))
		b := tracetest.New(procs).Samples(1e6, seed,
			func(name string) bool { return name == "main.f0" || name == "main.f1" })
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

// A procedure's lines add up to its own time, in one run and in several, and an interval of one
// that has a quarter of it holds that as often as it says.
func TestLines(t *testing.T) {
	lines, held := 0, 0
	for seed := range uint64(300) {
		procs, ths := phases(rand.New(rand.NewPCG(seed, 17)))
		var runs []*profile.Profile
		for run := range uint64(2) {
			runs = append(runs, profileOf(t, tracetest.SimulateOn(tracetest.New(procs).Samples(1e5, seed+run,
				func(string) bool { return true }).Text(), ths)))
		}
		for _, p := range append(runs, profile.Merge(runs)) {
			for i := range p.Entries {
				e := &p.Entries[i]
				sum := int64(0)
				for _, l := range e.Lines {
					sum += l.SelfNPT
					if l.Line == tracetest.Rare && p != runs[0] {
						lines++
						held += one(float64(l.SelfNPTs.Low) <= float64(e.SelfNPT)/4 &&
							float64(e.SelfNPT)/4 <= float64(l.SelfNPTs.High))
					}
				}
				if sum != e.SelfNPT && len(e.Lines) > 0 || e.SelfNPTs != nil && e.SelfNPT > 0 && e.Lines == nil &&
					e.Name[0] != '[' {
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

// A procedure that no sample found, where the others found what it calls, or probes, has no exact
// time of 0: its interval holds what it did. Probes take nothing of the time in which a goroutine
// is ready.
func TestNotFound(t *testing.T) {
	const probe = "runtime.qinstTrace"
	b := tracetest.New(1).Samples(1e6, 1, func(name string) bool {
		return name == "main.counted" ||
			name == probe
	}).Text()
	outer, counted, probed, in := b.Proc("main.outer"), b.Proc("main.counted"), b.Proc("main.probed"), b.Proc(probe)
	b.Calls(outer, "main.counted", 20)
	g, h := b.Go(0, "runtime.main"), b.Go(0, "main.other")
	b.Start(g, 0)
	b.Enter(g, outer)
	for range 20 {
		b.At(b.Now()+100).Enter(g, counted)
		b.At(b.Now()+1e6).Exit(g, counted)
		b.Enter(g, in)
		b.At(b.Now()+1e6).Exit(g, in)
		b.Yield(g)
		b.At(b.Now() + 1e6)
		b.Start(g, 0)
	}
	b.Exit(g, outer)
	b.End(g)
	b.Start(h, 0)
	b.Enter(h, probed)
	for range 20 {
		b.At(b.Now()+100).Enter(h, in)
		b.At(b.Now()+1e6).Exit(h, in)
		b.Yield(h)
		b.At(b.Now() + 1e6)
		b.Start(h, 0)
	}
	b.Exit(h, probed)
	b.End(h)
	tr := b.Trace()
	tr.Points[in].Kind = spec.PointFunc // without probes of its own
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.outer", "main.probed"} {
		e := entry(t, p, name)
		if s := e.SelfNPTs; e.SelfNPT != 0 || s == nil || s.High < 20*100 || s.High > 10e6 {
			t.Errorf("%s: self %d in %+v, expected 0 that may be 2000 and more", name, e.SelfNPT, s)
		}
	}
	e := entry(t, p, "main.probed")
	if s := e.NPTs; e.NPT != 0 || s == nil || s.High != e.SelfNPTs.High {
		t.Errorf("%s: %d in %+v, expected 0, and the same interval as that of its self time", e.Name, e.NPT, s)
	}
	if e.SelfReady != 20e6 {
		t.Errorf("%s was ready for %d ns, expected 20 ms", e.Name, e.SelfReady)
	}
	if e := entry(t, p, replay.Probes); e.Ready != 0 || e.SelfNPT < 30e6 {
		t.Errorf("probes were ready for %d ns and worked for %d, expected 0 and 40 ms", e.Ready, e.SelfNPT)
	}
}

// Where a procedure's calls of others were only counted, and few samples show of it or none, its
// own time may be that of those.
func TestTimeOfCountedCallees(t *testing.T) {
	b := tracetest.New(1).Samples(3e6, 3, func(name string) bool { return name == "main.callee" })
	caller, callee, never, alone := b.Proc("main.caller"), b.Proc("main.callee"), b.Proc("main.never"),
		b.Proc("main.alone")
	b.Calls(caller, "main.callee", 100)
	b.Calls(never, "main.callee", 1)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, caller)
	for range 100 {
		b.At(b.Now()+100_000).Enter(g, callee)
		b.At(b.Now()+5000).Exit(g, callee)
	}
	b.Exit(g, caller)
	b.Enter(g, never)
	b.Enter(g, callee)
	b.At(b.Now()+500).Exit(g, callee)
	b.Exit(g, never)
	b.Enter(g, alone)
	b.At(b.Now()+10e6).Exit(g, alone)
	b.End(g)
	p := profileOf(t, b)
	if e := entry(t, p, "main.caller"); e.SelfNPT != 105*100_000 || e.SelfNPTs == nil || e.SelfNPTs.Low > 10e6 {
		t.Errorf("caller: %d in %+v, expected the callee's time in it, and that 10 ms are in the interval", e.SelfNPT,
			e.SelfNPTs)
	}
	if e := entry(t, p, "main.never"); e.SelfNPT != 500 || e.SelfNPTs == nil || e.SelfNPTs.Low != 0 {
		t.Errorf("never: %d in %+v, expected that this may be 0", e.SelfNPT, e.SelfNPTs)
	}
	if e := entry(t, p, "main.alone"); e.SelfNPT != 10e6 || e.SelfNPTs != nil {
		t.Errorf("alone: %d in %+v, expected an exact time: it calls nothing", e.SelfNPT, e.SelfNPTs)
	}
}
