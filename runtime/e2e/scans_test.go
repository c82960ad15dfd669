package e2e_test

import (
	"fmt"
	"os/exec"
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
		if s := runScans(t); s.sum != 60_000_000 || s.words.Plain == 0 && !s.words.Uncounted && s.loop.Plain == 0 {
			t.Errorf("%d words, and main.words never ran without probes", s.sum)
		}
	})
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		s := runScans(t, "once")
		if s.sum != 60_000_000 || s.words.Hits != 1 || s.loop.Plain == 0 || s.loop.Uncounted {
			t.Errorf("%d words, %d activations, %d iterations without probes, uncounted %v",
				s.sum, s.words.Hits, s.loop.Plain, s.loop.Uncounted)
		}
		if s.call.Hits+s.loop.Plain != s.bytes || !s.calls.Bound() && s.calls.Value != s.bytes {
			t.Errorf("%d calls, %d iterations without probes, estimated %+v, expected %d",
				s.call.Hits, s.loop.Plain, s.calls, s.bytes)
		}
	})
	t.Run("open", func(t *testing.T) {
		t.Parallel()
		s := runScans(t, "open")
		late := s.bytes / 10 // calls that are made after it has printed
		if !s.loop.Uncounted || !s.calls.Bound() || s.calls.Lo > s.bytes+late {
			t.Errorf("%d iterations without probes, uncounted %v, %+v calls, expected a bound below %d",
				s.loop.Plain, s.loop.Uncounted, s.calls, s.bytes)
		}
	})
}

// scans is a run of program scans: its procedure that calls for each byte, the loop there, the call
// in it, how often that was made, and what the program printed.
type scans struct {
	words, loop, call trace.Point
	calls             trace.Estimate
	sum, bytes        uint64
}

func runScans(t *testing.T, args ...string) (s scans) {
	t.Helper()
	program := e2e.Build(t, "programs", "scans", "-small=0")
	tr, out := e2e.Traced(t, exec.Command(program, args...), "QINST=budget=5%")
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	if _, err := fmt.Sscan(out, &s.sum, &s.bytes); err != nil {
		t.Errorf("it printed %q", out)
	}
	for i, p := range tr.Points {
		switch {
		case p.Owner < 0 || tr.Points[p.Owner].Name != "main.words":
		case p.Kind == spec.PointProc:
			s.words = p
		case p.Kind == spec.PointLoop:
			s.loop = p
		case p.Kind == spec.PointCall:
			s.call, s.calls = p, tr.Hits(trace.PointID(i))
		}
	}
	return s
}
