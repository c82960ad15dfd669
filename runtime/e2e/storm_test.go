package e2e_test

import (
	"flag"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
)

var stormCalls = flag.Int("storm", 4000000, "calls at each site by each goroutine of TestStorm")

// TestStorm: calls that are counted in line are exact while goroutines are stopped between the
// load of a counter's address and the increment. Without optimization there are more instructions
// between the two. go run ./internal/trials storm does the same for longer.
func TestStorm(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"", "-N", "-l"} {
		exe := e2e.Build(t, "programs", "storm")
		if flags != "" {
			exe = buildBy(t, "qinst", "storm", "-gcflags="+flags)
		}
		// As many goroutines as processors, or one less: then no goroutine that is stopped waits
		// long, and the one that stops them runs all the time.
		for _, procs := range []string{"2", "4"} {
			tr, out := e2e.Traced(t, exec.Command(exe, "3", strconv.Itoa(*stormCalls)), "QINST=mode=count",
				"GOMAXPROCS="+procs)
			checkStorm(t, tr, out)
			t.Logf("-gcflags=%s, %s processors: %s", flags, procs, out[:strings.Index(out, "\n")])
			if m := &tr.Memory; m.Unowned != 0 || m.Ringless != 0 {
				t.Errorf("%+v", m)
			}
		}
	}
}

// checkStorm compares a trace of the program storm with its output.
func checkStorm(t *testing.T, tr *trace.Trace, out string) {
	t.Helper()
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, c := range p.Calls {
		got[strings.TrimPrefix(c.Callee, "main.")] += c.Count
	}
	hits := uint64(0)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var want uint64
		if _, err := fmt.Sscan(line, &name, &want); err != nil {
			t.Fatal(err)
		}
		if got[name] != want {
			t.Errorf("%s was called %d times, expected %d", name, got[name], want)
		}
		hits += want
	}
	t.Logf("%d calls with known numbers", hits)
}
