package e2e_test

import (
	"os/exec"
	"slices"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
)

// TestInlined: samples in functions that are inlined into a procedure show these, each at its own
// line, and the procedure at the line of the call.
func TestInlined(t *testing.T) {
	t.Parallel()
	tr, _ := e2e.Traced(t, exec.Command(e2e.Build(t, "programs", "inlined")), "QINST=mode=sample")
	found := slices.ContainsFunc(tr.Codes, func(c trace.Code) bool {
		var calls []trace.Code
		for at := c; ; at = tr.Codes[at.From] {
			if calls = append(calls, at); at.From == 0 || len(calls) == 3 {
				break
			}
		}
		for i := range calls {
			calls[i].From = 0
		}
		return slices.Equal(calls, []trace.Code{{Function: "main.inner", Line: 26},
			{Function: "main.outer", Line: 22}, {Function: "main.work", Line: 17}})
	})
	if !found {
		t.Errorf("found no call of main.inner by main.outer by main.work in %+v", tr.Codes)
	}
	p := checkedProfile(t, tr, nil)
	at := slices.IndexFunc(p.Entries, func(e profile.Entry) bool { return e.Name == "main.work" })
	if at < 0 || len(p.Entries[at].Callees) == 0 || p.Entries[at].Callees[0].Name != "main.outer" ||
		p.Entries[at].Callees[0].Line != 17 || p.Entries[at].Callees[0].Share < 0.5 {
		t.Errorf("found %+v, expected main.work, most of whose work is in main.outer, which line 17 calls", p.Entries)
	}
}
