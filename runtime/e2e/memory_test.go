package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
)

// crowded is a program with many procedures, which many threads call at the same time,
// and with many goroutines that wait at some depth; then threads and goroutines again,
// once the first ones have ended.
const crowded = `package main

import (
	"runtime"
	"sync"
	"time"
)

const threads, waiting, depth = 64, 20000, 10

func calls() {
	for _, f := range all {
		f()
	}
}

//go:noinline
func again() {}

//go:noinline
func waits(d int, here *sync.WaitGroup, end chan bool) {
	if d > 0 {
		waits(d-1, here, end)
		return
	}
	here.Done()
	<-end
}

func goroutines() {
	var here, gone sync.WaitGroup
	end := make(chan bool)
	here.Add(waiting)
	for range waiting {
		gone.Go(func() { waits(depth, &here, end) })
	}
	here.Wait()
	close(end)
	gone.Wait()
}

func main() {
	var ready, done sync.WaitGroup
	ready.Add(threads)
	for range threads {
		done.Go(func() {
			runtime.LockOSThread() // and so the thread ends
			ready.Done()
			ready.Wait()
			calls()
		})
	}
	done.Wait()
	time.Sleep(300 * time.Millisecond)
	for range 3 {
		again()
	}
	goroutines()
	goroutines()
}
`

// TestMemory: at the bound of QINST=memory= every hit is counted, what was traced is
// whole, and threads and goroutines that end leave room for others.
func TestMemory(t *testing.T) {
	t.Parallel()
	const procedures, threads, waits = 8000, 64, 2 * 20000 * 11
	var b strings.Builder
	b.WriteString("package main\n\nvar all = []func(){")
	for i := range procedures {
		fmt.Fprintf(&b, "f%d, ", i)
	}
	b.WriteString("}\n")
	for i := range procedures {
		fmt.Fprintf(&b, "\n//go:noinline\nfunc f%d() {}\n", i)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module crowded\n\ngo 1.26\n", "main.go": crowded,
		"procedures.go": b.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("qinst", "build", "-small=0", "-o", "crowded", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, memory := range []string{"12MiB", "612MiB"} {
		t.Run(memory, func(t *testing.T) {
			t.Parallel()
			tr, _ := e2e.Traced(t, exec.Command(filepath.Join(dir, "crowded")), "QINST=memory="+memory)
			if err := tracetest.Validate(tr); err != nil && memory != "12MiB" {
				t.Error(err)
			}
			entered := map[string]uint64{}
			losses, err := tr.Events(func(events []trace.Event) error {
				for i := range events {
					if e := &events[i]; e.Kind == trace.Enter {
						entered[tr.Points[e.Point()].Name]++
					}
				}
				return nil
			})
			crowd := memory == "12MiB"
			if crowd {
				losses.Overflow = 0 // stacks that could not grow
			}
			if err != nil || losses.Any() {
				t.Errorf("%v, %+v", err, losses)
			}
			for i := range tr.Points {
				p := &tr.Points[i]
				want := map[string]uint64{"main.waits": waits, "main.again": 3, "main.main": 1, "main.calls": threads,
					"main.goroutines": 2}[p.Name]
				if strings.HasPrefix(p.Name, "main.f") {
					want = threads
				}
				if p.Kind == "proc" && !strings.Contains(p.Name, ".func") && p.Hits != want {
					t.Errorf("%s: %d hits, expected %d", p.Name, p.Hits, want)
				}
				if p.Kind == "proc" && p.Traced != entered[p.Name] {
					t.Errorf("%s: %d traced, %d in the file", p.Name, p.Traced, entered[p.Name])
				}
			}
			m := &tr.Memory
			if !m.Known || m.Events+m.Counts+m.Stacks+m.Tables > m.Limit || (m.Pageless > 0) != crowd ||
				(m.Stackless > 0) != crowd {
				t.Errorf("%+v", m)
			}
			if entered["main.again"] != 3 {
				t.Errorf("traced %d of 3 once threads had ended", entered["main.again"])
			}
			if n := entered["main.waits"]; (n < waits) != crowd || n < 20000 {
				t.Errorf("%d of %d entries of goroutines that wait were traced", n, waits)
			}
		})
	}
}
