package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestPrune: what an earlier run held is held, however seldom it is called. A trace of another
// program has no effect but a message; a file that is none fails the build.
func TestPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build := func(program, trace string) (string, error) {
		exe := filepath.Join(dir, program)
		cmd := exec.Command("qinst", "build", "-prune="+trace, "-o", exe, "./"+program)
		cmd.Dir = filepath.Join("..", "..", "testdata", "programs")
		out, err := cmd.CombinedOutput()
		return exe + string(out), err
	}
	first := filepath.Join(dir, "first.sddf")
	cmd := exec.Command(e2e.Build(t, "programs", "bursts"), "hot")
	cmd.Env = append(os.Environ(), "QINST=budget=5%,out="+first)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	pruned, err := build("bursts", first)
	if err != nil {
		t.Fatalf("%v\n%s", err, pruned)
	}
	// What was hot in the first run is called seldom in these, so that nothing else holds it.
	found := 0
	for name, exe := range map[string]string{"as ever": e2e.Build(t, "programs", "bursts"), "pruned": pruned} {
		tr, _ := e2e.Traced(t, exec.Command(exe), "QINST=budget=5%")
		pick := slices.IndexFunc(tr.Points, func(p trace.Point) bool { return p.Kind == spec.PointProc && p.Name == "main.pick" })
		if pick < 0 {
			continue
		}
		found++
		// How many depends on when the writer first runs, and may first stop the world.
		if p := &tr.Points[pick]; p.Plain > 0 != (name == "pruned") {
			t.Errorf("%s: %d of %d activations are plain", name, p.Plain, p.Hits)
		}
	}
	if found != 2 {
		t.Errorf("found main.pick in %d traces, expected 2", found)
	}

	other, err := build("hops", first)
	if err != nil {
		t.Fatalf("%v\n%s", err, other)
	}
	_, out := e2e.Traced(t, exec.Command(other), "QINST=budget=5%")
	if strings.Count(out, "qinst: -prune: the trace is of another program") != 1 {
		t.Errorf("pruned by another program's trace it says %q", out)
	}

	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("no trace"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := build("hops", bad); err == nil || !strings.Contains(out, "prune: "+bad+": ") {
		t.Errorf("with a file that is no trace: %v, %s", err, out)
	}
	if out, err := build("hops", bad+"ly"); err == nil ||
		!strings.Contains(out, "prune: found no file "+bad+"ly, expected a trace") {
		t.Errorf("without a file: %v, %s", err, out)
	}
}
