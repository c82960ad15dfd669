package e2e_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/runtime/e2e"
)

// TestUnlocks: locks that are held equally long have the same hold and a hint each, whichever way
// they are given back. Of those with operations that no probe sees the waits are known, and the
// hint says what is not.
func TestUnlocks(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "unlocks", "-small=40")
	tr, out := e2e.Traced(t, exec.Command(program), "QINST=budget=5%")
	said := map[string]int64{}
	for line := range strings.Lines(out) {
		var name string
		var ns int64
		if _, err := fmt.Sscan(line, &name, &ns); err == nil {
			said[name] = ns
		}
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	hints := map[string]string{}
	for _, it := range advice.Of(&advice.Facts{Profile: p}) {
		hints[it.Subject.Name] += it.Text
	}
	objects := map[string]*profile.Object{}
	for i := range p.Objects {
		objects[p.Objects[i].Name] = &p.Objects[i]
	}
	for name, lock := range map[string]string{"few": "main.(*fewReturns).mu", "many": "main.(*manyReturns).mu",
		"value":   "main.(*methodValue).mu",
		"closure": "main.(*inClosure).mu", "handed": "main.(*handedOn).mu", "inlined": "main.hidden"} {
		o := objects[lock]
		if o == nil {
			t.Errorf("%s is no object of the profile", lock)
			continue
		}
		if part := float64(o.Hold) / float64(said[name]); o.Ops != 200 || o.Holds != 100 || o.Partly || part < 0.97 ||
			part > 1.2 {
			t.Errorf("%s: %d operations, %d holds, partly %v, %.3f of the time that the program measured, expected 200, 100, all of it", lock, o.Ops, o.Holds, o.Partly, part)
		}
		if queued := queuedFor(o); queued > p.Wall/8 && !strings.Contains(hints[lock], "it was held for ") {
			t.Errorf("%s: somebody waited for it for %d of %d ns, and the hint is %q, expected its hold", lock, queued,
				p.Wall, hints[lock])
		}
	}
	const lock, why = "main.(*byExpression).mu", "its hold is not known: some operations on it have no probe"
	o := objects[lock]
	if o == nil || !o.Partly || o.Holds != 0 || o.Wait < said["expression"]/2 {
		t.Fatalf("%s: found %+v, expected waits and no holds", lock, o)
	}
	if queuedFor(o) > p.Wall/8 && !strings.Contains(hints[lock], why) {
		t.Errorf("%s: the hint is %q, expected that its hold is not known", lock, hints[lock])
	}
}

// queuedFor is how long goroutines waited for an object. On a busy machine they may meet at a lock
// too seldom for a hint.
func queuedFor(o *profile.Object) (ns int64) {
	for _, time := range o.Waiting[min(1, len(o.Waiting)):] {
		ns += time
	}
	return ns
}
