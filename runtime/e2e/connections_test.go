package e2e_test

import (
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
)

// TestConnections: where a server and its clients are in one process, waits for the network are
// for each other, whether connections are kept, closed after a request, or have TLS and HTTP/2.
// Left are those until a connection is made, which the system does at once. Calls of the handler
// are traced, whatever the budget has for others, but for a few where many come at once on a busy
// machine.
func TestConnections(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "clients")
	for how, requests := range map[string]int{"keep": 1000, "close": 100, "tls": 200} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			tr, _ := e2e.Traced(t, exec.Command(program, how, strconv.Itoa(requests)), "QINST=budget=5%")
			p, _, err := steps.Build(tr, steps.Options{})
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(tr.Points, func(p trace.Point) bool { return p.Name == "main.handle" })
			if at < 0 || tr.Points[at].Hits != uint64(4*requests) || tr.Points[at].Degraded() > uint64(requests/10) {
				t.Errorf("the handler's point is %d, %+v; expected nearly all of %d calls traced", at, tr.Points[max(at, 0)],
					4*requests)
			}
			outside, within, longest := int64(0), 0, steps.Step{}
			for g := range p.Gs {
				for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
					switch s := p.Step(id); {
					case s.Waits(steps.Network):
						if outside += s.Lasts(); s.Lasts() > longest.Lasts() {
							longest = *s
						}
					case p.Reads(s):
						within++
					}
				}
			}
			if within < 100 || outside*5 > int64(p.End) {
				t.Errorf("%d waits for the network are within the process, others take %d ns of a run of %d, the longest %d, up to %d: expected a fifth at most",
					within, outside, p.End, longest.Lasts(), longest.At)
			}
		})
	}
}
