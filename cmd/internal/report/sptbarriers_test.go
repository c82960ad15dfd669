package report

import (
	"bytes"
	"strings"
	"testing"

	"qinst.dev/cmd/internal/analysis/spt"
)

// A barrier that more goroutines meet at than there are processors says so: what the early ones wait is no processor's.
func TestBarrierOfMany(t *testing.T) {
	t.Parallel()
	one, five, half := 1., 5., 4.
	r := &spt.Result{Barriers: []spt.Barrier{{Name: "main.meet", Participants: 6, FB1: &one, FB2: &five, Difference: &half, Low: &half, High: &half, Verdict: spt.Costly}}}
	for procs, want := range map[int]bool{2: true, 6: false, 0: false} {
		var out bytes.Buffer
		Delays(&spt.Experiment{Unit: "s", Machine: spt.Machine{Procs: procs}}, r).WriteText(&out)
		if text := out.String(); strings.Contains(text, "share 2 processors") != want || !strings.Contains(text, "main.meet is costly") {
			t.Errorf("on %d processors:\n%s", procs, text)
		}
	}
}
