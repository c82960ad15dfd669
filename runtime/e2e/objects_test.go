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
// goroutines, and has printed before how many there will be in the end. The runtime's own account
// at the end would add up what processors have taken, and hide it if that were forgotten.
const allocating = `package main

import (
	"fmt"
	"runtime"
	"sync"
)

const each = 10_000

var tiny [4]*int
var small, large [4][]byte

func main() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println(m.Mallocs + 4*(2*each+1))
	var done sync.WaitGroup
	for g := range tiny {
		done.Go(func() {
			for i := range each {
				tiny[g] = new(int)
				small[g] = make([]byte, 17+i%4000)
			}
			large[g] = make([]byte, 1<<20)
		})
	}
	done.Wait()
}
`

// The last account of the heap has all objects that the process allocated. Printing, goroutines and
// the runtime's own work allocate a few more.
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
		if got := tr.Metrics[len(tr.Metrics)-1].Objects; got < own || got > own+200 {
			t.Errorf("%s: %d objects, expected a few more than %d", settings, got, own)
		}
	}
}
