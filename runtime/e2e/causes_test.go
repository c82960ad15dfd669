package e2e_test

import (
	"os/exec"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/runtime/e2e"
)

// TestCauses runs a program that is slow for one reason and looks for it among the first two
// conclusions, at the default budget. go run ./internal/trials bottlenecks does the same with other
// people's programs. Chance may hide a cause once, with other load on the machine.
func TestCauses(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "causes")
	for cause, want := range map[string]struct{ id, subject string }{
		"none":      {},
		"serial":    {"one-processor", "main.load"},
		"channel":   {"small-buffer", "main.channel.parts"},
		"garbage":   {"garbage-collector", "main.parse"},
		"logger":    {"contended-lock", "log.(*Logger).outMu"},
		"semaphore": {"semaphore", "main.(*pool).in"},
	} {
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			var found []string
			for range 3 {
				tr, _ := e2e.Traced(t, exec.Command(program, cause), "GOMAXPROCS=2", "QINST=budget=5%")
				p, err := profile.New(tr)
				if err != nil {
					t.Fatal(err)
				}
				found = nil
				for _, it := range advice.Of(&advice.Facts{Profile: p}) {
					if it.ID == "saturated-lock" {
						it.ID = "contended-lock" // by how much
					}
					if it.Remark {
						continue
					}
					if found = append(found, it.ID+" "+it.Subject.Name); len(found) <= 2 && it.ID == want.id &&
						it.Subject.Name == want.subject {
						return
					}
				}
				if want.id == "" && len(found) == 0 {
					return
				}
			}
			t.Errorf("found %q, expected %s about %s first or second", found, want.id, want.subject)
		})
	}
}

// A map grows more than twelve frames below who fills it.
func TestGrowingMaps(t *testing.T) {
	t.Parallel()
	tr, _ := e2e.Traced(t, exec.Command(e2e.Build(t, "programs", "causes"), "maps"), "QINST=budget=5%")
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	if p.Memory == nil || len(p.Memory.Places) == 0 {
		t.Fatal("nobody took memory")
	}
	if m := p.Memory.Places[0]; m.Name != "main.maps.func1" || m.Line == 0 || m.Share < 0.6 {
		t.Errorf("%s took most, at line %d: %.2f; expected main.maps.func1 with the line, and most of it", m.Name,
			m.Line, m.Share)
	}
}
