package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
)

// allocating is a program that allocates small objects, tiny ones and large ones in several
// goroutines, and prints how many there were, by the runtime's own account.
const allocating = `package main

import (
	"fmt"
	"runtime"
	"sync"
)

var kept [4]any

func main() {
	var done sync.WaitGroup
	for g := range kept {
		done.Go(func() {
			for i := range 10_000 {
				n := i
				kept[g] = &n
				kept[g] = make([]byte, 8+i%4000)
			}
			kept[g] = make([]byte, 1<<20)
		})
	}
	done.Wait()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println(m.Mallocs)
}
`

// The last account of the heap has all objects that the process allocated. Between the program's
// own count and its end it prints, and the runtime's goroutines may allocate a few.
func TestObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module allocating\n\ngo 1.26\n", "main.go": allocating} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("qinst", "build", "-o", "allocating", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, settings := range []string{"mode=count", "budget=off"} {
		tr, said := e2e.Traced(t, exec.Command(filepath.Join(dir, "allocating")), "QINST="+settings)
		own, err := strconv.ParseInt(strings.TrimSpace(said), 10, 64)
		if err != nil || own < 80_000 || len(tr.Metrics) == 0 {
			t.Fatalf("%s: the program says %q, and there are %d accounts", settings, said, len(tr.Metrics))
		}
		if got := tr.Metrics[len(tr.Metrics)-1].Objects; got < own-5 || got > own+200 {
			t.Errorf("%s: %d objects, expected a few more than %d", settings, got, own)
		}
	}
}
