//go:build linux

package e2e_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
)

// TestTables is about threads that the runtime starts while jumps are written: all of them have the
// program's descriptors. The writer has a table of its own, and a thread that it starts would have
// that one: the program would read other files, or fail.
func TestTables(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "tables", "-small=0")
	for range 3 {
		cmd := exec.Command(program)
		_, out := e2e.Traced(t, cmd, "QINST=budget=5%", "GOMAXPROCS=4")
		var threads, without int
		_, said, _ := strings.Cut(out, "found ") // behind what the tool may say
		if _, err := fmt.Sscanf(said, "%d threads, %d without", &threads, &without); err != nil {
			t.Fatalf("%v: %q", err, out)
		}
		if threads < 25 || without > 1 {
			t.Errorf("found %d of %d threads without the program's file, expected the writer alone", without, threads)
		}
	}
}
