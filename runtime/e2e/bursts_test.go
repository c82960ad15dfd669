package e2e_test

import (
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestBursts runs a program whose probes are too dear for the default budget, and compares what
// bursts say with the exact counts of another run.
func TestBursts(t *testing.T) {
	t.Parallel()
	t.Run("bodies", func(t *testing.T) {
		t.Parallel()
		checkBursts(t, e2e.Build(t, "programs", "bursts", "-small=40", "-twins=off"), 100)
	})
	t.Run("twins", func(t *testing.T) { // the hottest have intervals only after ten bursts, if at all
		t.Parallel()
		checkBursts(t, e2e.Build(t, "programs", "bursts", "-small=40"), 0)
	})
}

// checkBursts compares so many estimates. With 0 it looks only at one run, without asking how many
// intervals hold: those by yardsticks hold or fail together, see TestRatiosHold.
func checkBursts(t *testing.T, program string, enough int) {
	t.Helper()
	exact, _ := e2e.Traced(t, exec.Command(program, "small"), "QINST=mode=count")
	most := 6 // on a busy machine a run may have few bursts
	if tracetest.Thorough() {
		enough, most = 10*enough, 10*most
	}
	given, held := 0, 0
	for run := 0; run < most && given < max(1, enough); run++ {
		tr, _ := e2e.Traced(t, exec.Command(program, "small"), "QINST=budget=5%")
		if err := tracetest.Validate(tr); err != nil {
			t.Error(err)
		}
		plain, turned, small, operates := 0, 0, 0, 0
		for i := range tr.Points {
			p, truth := &tr.Points[i], exact.Points[i].Hits
			e := tr.Hits(trace.PointID(i))
			switch {
			case e.Exact():
				if p.Hits != truth {
					t.Errorf("%s %s: %d hits, in truth %d", p.Kind, p.Name, p.Hits, truth)
				}
			case p.Kind == spec.PointProc && !p.Uncounted && !p.Summed(),
				p.Kind == spec.PointSync && strings.Contains(p.Name, "seldom"):
				t.Errorf("%s %s: hits are estimated", p.Kind, p.Name)
			case e.Lo > e.Value || e.Value < p.Hits:
				t.Errorf("%s %s: %+v, and %d hits", p.Kind, p.Name, e, p.Hits)
			case !e.Bound():
				given++
				if e.Lo <= truth && truth <= e.Hi {
					held++
				} else {
					t.Logf("%s %s: %+v, in truth %d", p.Kind, p.Name, e, truth)
				}
			}
			switch {
			case p.Kind == spec.PointLoop && p.Plain > 100_000:
				turned++
			case p.Kind == spec.PointSync && !e.Exact():
				operates++
			case p.Small() && (p.Plain > truth/2 || p.Uncounted):
				small++
			case p.Plain > truth/2 || p.Uncounted:
				plain++
			}
		}
		if plain < 5 || turned < 1 || small < 1 || operates < 2 {
			t.Errorf("%d procedures, %d small ones and %d loops ran without probes, and so did %d operations", plain, small,
				turned, operates)
		}
	}
	if enough == 0 {
		t.Logf("%d of %d intervals hold", held, given)
		return
	}
	if given < enough/2 {
		t.Fatalf("%d intervals", given)
	}
	// The points of a procedure are reached together, so their intervals hold or fail together:
	// about four of them are one observation. If only seven in ten held, this would still fail;
	// where all cases are tried, if less than nine did.
	const alike = 4
	all := distuv.Binomial{N: float64(given) / alike, P: 0.95}
	if chance := all.CDF(float64(held) / alike); chance < 0.001 {
		t.Errorf("%d of %d intervals hold: so few in %.2g of all cases", held, given, chance)
	}
	t.Logf("%d of %d intervals hold", held, given)
}

// TestBurstsEnd is about bursts of a program with one thread that runs goroutines: it ends them
// itself when its probes have counted enough, however late the writer is. Where jumps are to be
// removed it wakes the writer for that, which takes a while that depends on the machine.
func TestBurstsEnd(t *testing.T) {
	t.Parallel()
	const most = 1<<15 + 1<<12 // and some more, of activations that began before it did
	program := e2e.Build(t, "programs", "tight", "-small=0", "-twins=off")
	tr, _ := e2e.Traced(t, exec.Command(program), "QINST=budget=5%", "GOMAXPROCS=1")
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	bursts, hits := uint64(0), uint64(0)
	for i := range tr.Points {
		if p := &tr.Points[i]; p.Kind == spec.PointProc && p.Bursts != nil {
			bursts, hits = max(bursts, p.Bursts.N), hits+p.Bursts.Hits
		}
	}
	if bursts == 0 || hits/bursts < 1000 || hits/bursts > most {
		t.Errorf("%d bursts saw %d entries: more than %d each", bursts, hits, most)
	}
}
