package e2e_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestScans runs a procedure that counts much in each of its few activations.
func TestScans(t *testing.T) {
	t.Parallel()
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		words, loop, _, out := scanned(t)
		if !strings.HasPrefix(out, "60000000 ") {
			t.Errorf("it printed %q", out)
		}
		if words.Plain == 0 && !words.Uncounted && loop.Plain == 0 {
			t.Error("main.words never ran without probes")
		}
	})
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		words, loop, calls, out := scanned(t, "once")
		var sum, n uint64
		if _, err := fmt.Sscan(out, &sum, &n); err != nil || sum != 60_000_000 {
			t.Errorf("it printed %q", out)
		}
		if words.Hits != 1 || loop.Plain < n/2 || loop.Uncounted {
			t.Errorf("%d activations, %d of %d iterations without probes, uncounted %v",
				words.Hits, loop.Plain, n, loop.Uncounted)
		}
		if calls.Value != n || calls.Bound() {
			t.Errorf("%+v calls, expected %d", calls, n)
		}
	})
	t.Run("open", func(t *testing.T) {
		t.Parallel()
		_, loop, calls, out := scanned(t, "open")
		var sum, n uint64
		if _, err := fmt.Sscan(out, &sum, &n); err != nil {
			t.Errorf("it printed %q", out)
		}
		if !loop.Uncounted || loop.Plain == 0 {
			t.Errorf("%d iterations without probes, uncounted %v", loop.Plain, loop.Uncounted)
		}
		if !calls.Bound() || calls.Lo < n/10 || calls.Lo > n+n/10 { // some are made after it has printed n
			t.Errorf("%+v calls, expected a bound below %d", calls, n)
		}
	})
}

// scanned runs program scans. It returns its procedure that calls for each byte, the loop there,
// how often that calls, and what the program printed.
func scanned(t *testing.T, args ...string) (words, loop *trace.Point, calls trace.Estimate, out string) {
	t.Helper()
	program := e2e.Build(t, "programs", "scans", "-small=0")
	tr, out := e2e.Traced(t, exec.Command(program, args...), "QINST=budget=5%")
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	for i := range tr.Points {
		p := &tr.Points[i]
		switch {
		case p.Owner < 0 || tr.Points[p.Owner].Name != "main.words":
		case p.Kind == spec.PointProc:
			words = p
		case p.Kind == spec.PointLoop:
			loop = p
		case p.Kind == spec.PointCall:
			calls = tr.Hits(trace.PointID(i))
		}
	}
	return words, loop, calls, out
}
