package e2e_test

import (
	"os/exec"
	"strings"
	"testing"

	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestScans is about a procedure of few activations, each of which counts much in line: it runs
// without probes before it has used up its own quota.
func TestScans(t *testing.T) {
	t.Parallel()
	tr, out := e2e.Traced(t, exec.Command(e2e.Build(t, "programs", "scans", "-small=0")), "QINST=budget=5%")
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out, "60000000") {
		t.Errorf("it printed %q", out)
	}
	found := false
	for i := range tr.Points {
		p := &tr.Points[i]
		if p.Kind == spec.PointLoop && tr.Points[p.Owner].Name == "main.words" ||
			p.Kind == spec.PointProc && p.Name == "main.words" {
			t.Logf("%s %s: %d hits, %d without probes, uncounted %v", p.Kind, p.Name, p.Hits, p.Plain, p.Uncounted)
			found = found || p.Plain > 0 || p.Uncounted
		}
	}
	if !found {
		t.Error("main.words never ran without probes")
	}
}
