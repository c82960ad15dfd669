package e2e_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
)

// runHolds runs program holds at the default budget. It returns the trace, its lock, and the
// program's own figures.
func runHolds(t *testing.T, program string, args ...string) (*trace.Trace, *profile.Object, map[string]int64) {
	t.Helper()
	tr, out := e2e.Traced(t, exec.Command(program, args...), "QINST=budget=5%")
	said := map[string]int64{}
	for line := range strings.Lines(out) {
		var name string
		var n int64
		if _, err := fmt.Sscan(line, &name, &n); err == nil {
			said[name] = n
		}
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Objects {
		if p.Objects[i].Name == "main.(*registry).mu" {
			return tr, &p.Objects[i], said
		}
	}
	t.Fatal("the lock is no object of the profile")
	return nil, nil, nil
}

// saidOf returns how often program holds says that it has reached a point: an operation on its lock
// or a record; 0 for another point.
func saidOf(point string, said map[string]int64) int64 {
	switch {
	case point == "tick":
		return said["records"]
	case strings.HasPrefix(point, "main.(*registry).mu"):
		return said["uses"]
	}
	return 0
}

// counted returns how many of the program's operations and records are in no event.
func counted(tr *trace.Trace, said map[string]int64) (n uint64) {
	for _, p := range tr.Points {
		if saidOf(p.Name, said) != 0 {
			n += p.Hits - p.Traced
		}
	}
	return n
}

// TestHolds compares what a program measures of its own lock with the profile.
func TestHolds(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "holds")

	// A small procedure takes far more than the budget to count. Operations and records are few, so
	// that all of them are written.
	t.Run("seldom", func(t *testing.T) {
		t.Parallel()
		tr, o, said := runHolds(t, program)
		for range 2 {
			if counted(tr, said) == 0 {
				break // else the writer, under other load, came later than free events last
			}
			tr, o, said = runHolds(t, program)
		}
		if n := counted(tr, said); n != 0 {
			t.Errorf("%d operations and records were only counted, in three runs", n)
		}
		seen := 0
		for _, p := range tr.Points {
			if want := saidOf(p.Name, said); want != 0 && p.Hits != 0 {
				seen++
				if p.Hits != uint64(want) {
					t.Errorf("%s: %d hits, expected %d", p.Name, p.Hits, want)
				}
			}
			if p.Name == "main.fib" && p.Traced > p.Hits/10 {
				t.Errorf("%d of %d calls of main.fib were traced", p.Traced, p.Hits)
			}
		}
		if took := float64(o.Hold) / float64(said["hold"]); seen != 3 || o.Mark() != "" ||
			o.Holds < said["uses"]*99/100 || took < 0.97 || took > 1.1 {
			t.Errorf("%d points, %d holds, %s%.3f of the time that the program measured, expected %d", seen, o.Holds,
				o.Mark(), took, said["uses"])
		}
	})

	// Operations themselves are too frequent, so that the hold is an estimate.
	t.Run("often", func(t *testing.T) {
		t.Parallel()
		var took []float64 // of the time that the program measured: a single run is off by half under other load
		for range 9 {
			_, o, said := runHolds(t, program, "often")
			if o.Ops != 2*uint64(said["uses"]) || o.Degraded < o.Ops/2 {
				t.Errorf("%d of %d operations counted, expected %d and most of them counted", o.Degraded, o.Ops,
					2*said["uses"])
			}
			if i := o.HoldInterval; i != nil && (i[0] > o.Hold || i[1] < o.Hold) {
				t.Errorf("held for %d, interval %v", o.Hold, *i)
			}
			if o.Mark() == "~" {
				// under other load one hold may be far longer than the rest, and then there is no
				// interval
				took = append(took, float64(o.Hold)/float64(said["hold"]))
			}
			if len(took) == 5 {
				break
			}
		}
		if m := stats.Median(took); len(took) < 5 || m < 0.6 || m > 1.6 {
			t.Errorf("%d of nine runs had an estimate, held for %.3f of the time that the program measured, of which the median is to be 0.6 to 1.6", len(took), took)
		}
	})
}
