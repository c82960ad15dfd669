package report_test

import (
	"bytes"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace/tracetest"
)

// The page says how much of the busy time the system did not count as used.
func TestWithheld(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	const sentence = "of the busy time up to 4.00ms (4.0%) may not be the program's: the operating system counted that much less"
	for counted, want := range map[int64]bool{96 * ms: true, 99 * ms: false, 100 * ms: false, 110 * ms: false} {
		b := tracetest.New(1).Switches()
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.Off(g, false)
		b.On(g)
		b.At(100 * ms)
		b.Given(0, counted, 0, 0)
		b.Used(100*ms, 0)
		b.End(g)
		tr := b.Trace()
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := report.Page(tr, advice.Gather(tr, p)).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); strings.Contains(got, sentence) != want {
			t.Errorf("%d ms counted of 100: expected %q: %v, in\n%s", counted/ms, sentence, want, got)
		}
	}
}

// The page says what other programs and machines took, before anything that they make doubtful.
func TestMachineDoubts(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	page := func(steal, pressure int64, faults uint64) string {
		b := tracetest.New(1).Attribute("ncpu", 2).Switches()
		g := b.Go(0, "runtime.main")
		f := b.Proc("main.f")
		b.Start(g, 0)
		b.Machine(5*ms, 7*ms)
		b.Enter(g, f)
		b.At(20*ms).Off(g, false)
		b.At(25 * ms).On(g)
		b.At(40*ms).Off(g, true)
		b.At(70 * ms).On(g)
		b.At(100*ms).Exit(g, f)
		b.Machine(5*ms+steal, 7*ms+pressure)
		b.Faults(faults)
		b.Used(70*ms, 0)
		b.End(g)
		tr := b.Trace()
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := report.Page(tr, advice.Gather(tr, p)).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	const (
		taken  = "the operating system took processors from running goroutines for 35.0ms (35.0% of the time that they ran by the scheduler): 30.0ms preempted by other threads, 5.00ms blocked in what the runtime does not see; the longest time was 30.0ms. That is [off-CPU], and in no busy time"
		waited = "; during 60.0% of the run some thread of its control group, or of the machine, waited for a processor"
		stolen = "a host took processors from this virtual machine for 20.0ms (10.0% of the time of its 2 processors)"
	)
	if got := page(20*ms, 60*ms, 0); !strings.Contains(got, taken+waited) || !strings.Contains(got, stolen) {
		t.Errorf("expected %q, %q and %q in\n%s", taken, waited, stolen, got)
	}
	if got := page(ms, 2*ms, 0); !strings.Contains(got, taken) || strings.Contains(got, "waited for a processor") ||
		strings.Contains(got, "a host took") {
		t.Errorf("expected %q and nothing of a host, or of who waited, in\n%s", taken, got)
	}
	if got, want := page(0, 0, 1200), "5.00ms blocked in what the runtime does not see (1,200 waits of threads were for pages that had to be read)"; !strings.Contains(got, want) {
		t.Errorf("expected %q in\n%s", want, got)
	}
}
