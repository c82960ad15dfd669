package main

import (
	"fmt"
	"os/exec"
	"testing"

	"qinst.dev/analysis/profile"
	"qinst.dev/trace"
	"qinst.dev/trace/tracetest"
)

// What samples say of programs whose profile is a formula: each share lies in its
// interval, made half as wide again, for there are many and the machine is no model.
func TestLiveSamples(t *testing.T) {
	for _, c := range liveTruth {
		if c.npt == nil {
			continue
		}
		t.Run(c.program, func(t *testing.T) {
			exe := buildProbed(t, "workloads", c.program)
			for range 5 {
				tr, _ := runTraced(t, exec.Command(exe, c.args...), "GOMAXPROCS=2", "QINST=mode=sample")
				p := checkedProfile(t, tr, nil)
				if p.OffCPU > p.Busy/50 {
					continue
				}
				if p.Sampling == nil || p.Sampling.Looks < p.NPTSum/1e6/4 {
					t.Errorf("%+v in %d ms", p.Sampling, p.NPTSum/1e6)
				}
				outside(t, p, c.npt)
				return
			}
			t.Log("other programs kept the processors busy: shares not judged")
		})
	}
}

// outside compares the NPT of procedures, as shares of their sum, with the formula.
func outside(t *testing.T, p *profile.Profile, npt map[string]float64) {
	t.Helper()
	sum := int64(0)
	for _, e := range p.Entries {
		if _, ok := npt[e.Name]; ok && e.Kind == profile.KindProc {
			sum += e.NPT
		}
	}
	for _, e := range p.Entries {
		want, ok := npt[e.Name]
		if !ok || e.Kind != profile.KindProc {
			continue
		}
		if e.NPTs == nil {
			t.Errorf("%s has no interval", e.Name)
			continue
		}
		got, half := float64(e.NPT)/float64(sum), float64(e.NPTs.High-e.NPTs.Low)/2/float64(sum)
		t.Logf("%s: %.3f +- %.3f, formula %.3f", e.Name, got, half, want)
		if d := got - want; d > 1.5*half+.02 || d < -1.5*half-.02 {
			t.Errorf("%s: %.3f +- %.3f of the run, expected %.3f", e.Name, got, half, want)
		}
	}
}

// However programs leave their procedures, and whatever is traced, timed or counted
// meanwhile: traces are valid and whole, and no sample finds a procedure that was left.
func TestSampledPanics(t *testing.T) {
	for _, program := range []string{"panics", "loops"} {
		exe := buildProbed(t, "programs", program)
		whole, _ := runTraced(t, exec.Command(exe), "QINST=mode=trace")
		deepest := deepestStack(t, whole)
		for _, settings := range []string{"mode=sample,sample=20000/s", "mode=sample,samplers=2", "odd:*=count,sample=20000/s", "odd:*=time,sample=20000/s,samplers=3"} {
			tr, _ := runTraced(t, exec.Command(exe), "QINST="+settings)
			if err := tracetest.Validate(tr); err != nil {
				t.Errorf("%s with %s: %v", program, settings, err)
			}
			checkedProfile(t, tr, nil)
			if d := deepestPath(tr); d == 0 || d > deepest {
				t.Errorf("%s with %s: a path of %d procedures and loops, the deepest stack has %d", program, settings, d, deepest)
			}
		}
	}
}

func deepestStack(t *testing.T, tr *trace.Trace) (deepest int) {
	depth := map[trace.Slot]int{}
	_, err := tr.Events(func(batch []trace.Event) error {
		for i := range batch {
			switch e := &batch[i]; e.Kind {
			case trace.Create:
				depth[e.Slot] = 0
			case trace.Enter:
				depth[e.Slot]++
				deepest = max(deepest, depth[e.Slot])
			case trace.Exit:
				depth[e.Slot]--
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return deepest
}

func deepestPath(tr *trace.Trace) (deepest int) {
	depth := make([]int, len(tr.Paths))
	for i := 1; i < len(depth); i++ {
		depth[i] = depth[tr.Paths[i].From] + 1
		deepest = max(deepest, depth[i])
	}
	return deepest
}

// Programs whose processors are tokens, more than this machine has: their profile is that
// of the formula where sleeping did not take much longer than asked for.
func TestVirtualProcessors(t *testing.T) {
	for _, c := range []struct {
		program string
		procs   int
		args    []string
		npt     map[string]float64 // units
		units   float64            // of the run
		unit    int64              // ns
	}{
		{"fig4", 3, []string{"-unit", "40ms"}, map[string]float64{"main.a": 11. / 6, "main.b": 7. / 3, "main.c": 1, "main.d": 5. / 3, "main.e": 7. / 3, "main.f": 11. / 6}, 11, 40e6},
		{"pipeline", 3, []string{"-n", "6", "-unit", "20ms"}, map[string]float64{"main.first": 6.5, "main.second": 18.5, "main.third": 10}, 35, 20e6},
		{"plateau", 2, []string{"-unit", "40ms"}, map[string]float64{"main.foo": 3.5, "main.bar": 6.5}, 10, 40e6},
		{"workers", 2, []string{"-n", "10", "-unit", "20ms"}, map[string]float64{"main.slow": 15, "main.fast": 5}, 20, 20e6},
		{"imbalance", 4, []string{"-w", "3", "-x", "2.5", "-unit", "40ms"}, map[string]float64{"main.heavy": .75 + 4.5, "main.light": 2.25}, 7.5, 40e6},
	} {
		t.Run(c.program, func(t *testing.T) {
			exe := buildProbed(t, "workloads", c.program)
			for range 5 {
				tr, _ := runTraced(t, exec.Command(exe, append(c.args, "-vcpu", fmt.Sprint(c.procs))...))
				p, err := profile.NewWithin(tr, profile.Within{Procs: c.procs})
				if err != nil {
					t.Fatal(err)
				}
				sum := p.Idle
				for _, e := range p.Entries {
					if e.Kind == profile.KindProc {
						sum += e.SelfNPT
					}
				}
				if d := sum - p.Wall; d > p.Wall/200 || d < -p.Wall/200 {
					t.Errorf("self NPT and idle are %d, the run %d", sum, p.Wall)
				}
				if over := float64(p.NPTSum)/float64(c.unit)/c.units - 1; over > .015 || over < -.015 {
					t.Logf("the run took %.1f %% longer than its sleeps should", 100*over)
					continue
				}
				for _, e := range p.Entries {
					if want := c.npt[e.Name]; want > 0 && e.Kind == profile.KindProc {
						got := float64(e.NPT) / float64(c.unit)
						t.Logf("%s: %.3f, formula %.3f", e.Name, got, want)
						if d := got/want - 1; d > .06 || d < -.06 {
							t.Errorf("%s: npt %.3f units, expected %.3f", e.Name, got, want)
						}
					}
				}
				return
			}
			t.Log("sleeps took too long: not judged")
		})
	}
}
