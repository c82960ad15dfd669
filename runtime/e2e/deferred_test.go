package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestDeferred compares what a program of deferred operations prints with probes and without: the
// order of deferred calls, the place and value of each panic, the function that recovers, and the
// stacks that the program sees. Each operation on the lock of a procedure with many returns has an
// event.
func TestDeferred(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "deferred")
	plain := filepath.Join(t.TempDir(), "plain")
	build := exec.Command("go", "build", "-o", plain, "./deferred")
	build.Dir = filepath.Join("..", "..", "testdata", "programs")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := exec.Command(plain).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, want)
	}
	for _, settings := range []string{"mode=trace,budget=off", "mode=count", "budget=5%", "kind:sync=off",
		"kind:proc=off"} {
		tr, got := e2e.Traced(t, exec.Command(program), "QINST="+settings)
		if got != string(want) {
			t.Errorf("%s: it prints\n%s\nexpected\n%s", settings, got, want)
		}
		if err := tracetest.Validate(tr); err != nil {
			t.Errorf("%s: %v", settings, err)
		}
		ops := map[string]uint64{}
		for _, p := range tr.Points {
			if p.Kind == spec.PointSync && tr.Points[p.Owner].Name == "main.(*table).choose" {
				ops[p.Op] += p.Hits
			}
		}
		if n := uint64(20); settings != "kind:sync=off" && (ops[spec.OpLock] != n || ops[spec.OpUnlock] != n) {
			t.Errorf("%s: found operations %v in choose, expected %d of each", settings, ops, n)
		}
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "QINST=mode=off")
	if got, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(got), string(want)) {
		t.Errorf("off: %v: it prints\n%s\nexpected\n%s", err, got, want)
	}
}
