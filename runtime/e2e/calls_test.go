package e2e_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
)

// TestCalls compares the counts of calls with those the program keeps itself, from procedures left
// in every way, and by goroutines that wait or never end.
func TestCalls(t *testing.T) {
	t.Parallel()
	checkCalls(t, e2e.Build(t, "programs", "calls"))
}

func checkCalls(t *testing.T, exe string) {
	for _, settings := range []string{"mode=count", "mode=sample", "mode=trace", "odd:*=time", "mode=count,memory=4MiB",
		"GOMAXPROCS=1"} {
		waiting := "2000"
		if strings.Contains(settings, "memory") {
			waiting = "40000"
		}
		env := "QINST=" + settings
		if strings.HasPrefix(settings, "GO") {
			env = settings
		}
		tr, out := e2e.Traced(t, exec.Command(exe, "1000", waiting), env)
		p := checkedProfile(t, tr, nil)
		got := map[string]uint64{}
		for _, c := range p.Calls {
			got[c.Callee[strings.LastIndex(c.Callee, ".")+1:]] += c.Count
		}
		for line := range strings.Lines(out) {
			var name string
			var want uint64
			if _, err := fmt.Sscan(line, &name, &want); err != nil {
				t.Fatal(err)
			}
			if got[name] != want {
				t.Errorf("%s: %s was called %d times, expected %d", settings, name, got[name], want)
			}
		}
		// A goroutine that waits has no memory that it counts calls in.
		if m := &tr.Memory; m.Counts > 40000*40 || m.Events+m.Counts > m.Limit {
			t.Errorf("%s: %+v", settings, m)
		}
	}
}
