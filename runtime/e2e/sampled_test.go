package e2e_test

import (
	"cmp"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
)

// TestLiveSamples samples programs whose profile is a formula: each share lies in its interval,
// made half as wide again, for there are many and the machine is no model. One run that had its
// processors must be right.
func TestLiveSamples(t *testing.T) {
	for _, c := range liveTruth {
		if c.npt == nil {
			continue
		}
		t.Run(c.program, func(t *testing.T) {
			exe := e2e.Build(t, "workloads", c.program)
			var wrong []string
			for range 5 {
				tr, _ := e2e.Traced(t, exec.Command(exe, c.args...), "GOMAXPROCS=2", "QINST=mode=sample")
				p := checkedProfile(t, tr, nil)
				if disturbed(tr, p) {
					continue
				}
				if wrong = outside(t, p, c.npt); wrong == nil {
					return
				}
			}
			if wrong == nil {
				t.Log("other programs kept the processors busy: shares not judged")
			}
			for _, text := range wrong {
				t.Error(text)
			}
		})
	}
}

// outside compares the NPT of procedures, as shares of their sum, with the formula, and says
// what is wrong.
func outside(t *testing.T, p *profile.Profile, npt map[string]float64) (wrong []string) {
	t.Helper()
	if p.Sampling == nil || p.Sampling.Looks < p.NPTSum/1e6/16 { // the system may tick as seldom as 100 times a second
		wrong = append(wrong, fmt.Sprintf("%+v in %d ms", p.Sampling, p.NPTSum/1e6))
	}
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
			wrong = append(wrong, e.Name+" has no interval")
			continue
		}
		got, half := float64(e.NPT)/float64(sum), float64(e.NPTs.High-e.NPTs.Low)/2/float64(sum)
		t.Logf("%s: %.3f +- %.3f, formula %.3f", e.Name, got, half, want)
		if d := got - want; d > 1.5*half+.02 || d < -1.5*half-.02 {
			wrong = append(wrong, fmt.Sprintf("%s: %.3f +- %.3f of the run, expected %.3f", e.Name, got, half, want))
		}
	}
	return wrong
}

// However programs leave their procedures, and whatever is traced, timed or counted
// meanwhile: traces are valid and whole, and no sample finds a procedure that was left.
func TestSampledPanics(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"panics", "loops"} {
		exe := e2e.Build(t, "programs", program)
		whole, _ := e2e.Traced(t, exec.Command(exe), "QINST=mode=trace")
		deepest := deepestStack(t, whole)
		for _, settings := range []string{"mode=sample,sample=20000/s", "mode=sample,samplers=2",
			"odd:*=count,sample=20000/s", "odd:*=time,sample=20000/s,samplers=3"} {
			tr, _ := e2e.Traced(t, exec.Command(exe), "QINST="+settings)
			if err := tracetest.Validate(tr); err != nil {
				t.Errorf("%s with %s: %v", program, settings, err)
			}
			checkedProfile(t, tr, nil)
			if d := deepestPath(tr); d == 0 || d > deepest {
				t.Errorf("%s with %s: a path of %d procedures and loops, the deepest stack has %d", program, settings,
					d, deepest)
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

// Programs whose processors are tokens, more than this machine has. They say who held a token
// when; what that makes of each procedure's share is the profile, however long the program
// slept, and whatever ran next to it.
func TestVirtualProcessors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program string
		procs   int
		args    []string
		names   []string
	}{
		{"fig4", 3, []string{"-unit", "40ms"}, []string{"main.a", "main.b", "main.c", "main.d", "main.e", "main.f"}},
		{"pipeline", 3, []string{"-n", "6", "-unit", "20ms"}, []string{"main.first", "main.second", "main.third"}},
		{"plateau", 2, []string{"-unit", "40ms"}, []string{"main.foo", "main.bar"}},
		{"workers", 2, []string{"-n", "10", "-unit", "20ms"}, []string{"main.slow", "main.fast"}},
		{"imbalance", 4, []string{"-w", "3", "-x", "2.5", "-unit", "40ms"}, []string{"main.heavy", "main.light"}},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			exe := e2e.Build(t, "workloads", c.program)
			tr, out := e2e.Traced(t, exec.Command(exe, append(c.args, "-turns", "-vcpu", fmt.Sprint(c.procs))...))
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
			want, unsure := turnShares(t, out)
			within := p.Wall/500 + unsure
			found := 0
			for _, e := range p.Entries {
				if e.Kind != profile.KindProc || !slices.Contains(c.names, e.Name) {
					continue
				}
				found++
				t.Logf("%s: %d ns, by the program's own times %d", e.Name, e.NPT, want[e.Name])
				if d := e.NPT - want[e.Name]; d > within || d < -within {
					t.Errorf("%s: npt %d ns, expected %d, give or take %d", e.Name, e.NPT, want[e.Name], within)
				}
			}
			if found != len(c.names) || len(want) != len(c.names) {
				t.Errorf("found %d procedures, the program named %d, expected %d", found, len(want), len(c.names))
			}
		})
	}
}

// turnShares computes what the lines "turn NAME ..." of a program say: each moment is divided
// by the number of tokens held. A line has the times between which a turn began, and between
// which it ended; unsure is the sum of these differences.
func turnShares(t *testing.T, out string) (shares map[string]int64, unsure int64) {
	t.Helper()
	type edge struct {
		at   int64
		name string
		d    int
	}
	var edges []edge
	for line := range strings.Lines(out) {
		var name string
		var at [4]int64
		if _, err := fmt.Sscanf(line, "turn %s %d %d %d %d", &name, &at[0], &at[1], &at[2], &at[3]); err != nil {
			continue // what the program says besides
		}
		edges = append(edges, edge{(at[0] + at[1]) / 2, name, +1}, edge{(at[2] + at[3]) / 2, name, -1})
		unsure += at[1] - at[0] + at[3] - at[2]
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	sums, held, all := map[string]float64{}, map[string]int{}, 0
	for i, e := range edges {
		for name, n := range held {
			if n > 0 {
				sums[name] += float64(e.at-edges[i-1].at) * float64(n) / float64(all)
			}
		}
		held[e.name] += e.d
		all += e.d
	}
	shares = map[string]int64{}
	for name, sum := range sums {
		shares[name] = int64(sum)
	}
	return shares, unsure
}
