package e2e_test

import (
	"os/exec"
	"slices"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
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
		if calls[0].Line == 50 {
			calls[0].Line = 51 // a short loop: few samples may all be at its head
		}
		return slices.Equal(calls, []trace.Code{{Function: "main.inner", Line: 51},
			{Function: "main.outer", Line: 47}, {Function: "main.work", Line: 42}})
	})
	if !found {
		t.Errorf("found no call of main.inner by main.outer by main.work in %+v", tr.Codes)
	}
	p := checkedProfile(t, tr, nil)
	at := slices.IndexFunc(p.Entries, func(e profile.Entry) bool { return e.Name == "main.work" })
	if at < 0 || len(p.Entries[at].Callees) == 0 || p.Entries[at].Callees[0].Name != "main.outer" ||
		p.Entries[at].Callees[0].Line != 42 || p.Entries[at].Callees[0].Share < 0.5 ||
		p.Entries[at].Callees[0].Library != "" {
		t.Errorf("found %+v, expected main.work, most of whose work is in main.outer, which line 42 calls", p.Entries)
	}
	at = slices.IndexFunc(p.Entries, func(e profile.Entry) bool { return e.Name == "main.hash" })
	if at < 0 || len(p.Entries[at].Callees) == 0 || p.Entries[at].Callees[0].Name != "main.digest" ||
		p.Entries[at].Callees[0].Library != "crypto/sha256.Sum256" {
		t.Errorf("found %+v, expected main.hash, most of whose work is in main.digest, by crypto/sha256.Sum256", p.Entries)
	}
}

// TestAtomics: a sample that comes when an atomic operation has ended found the thread in that,
// also where the compiler has written an instruction in place of the function.
func TestAtomics(t *testing.T) {
	t.Parallel()
	tr, _ := e2e.Traced(t, exec.Command(e2e.Build(t, "programs", "inlined")), "QINST=mode=sample")
	for _, want := range []trace.Code{{Function: "sync/atomic.(*Uint64).Add", Line: 21},
		{Function: "main.swap", Line: 31}} {
		found := slices.ContainsFunc(tr.Codes, func(c trace.Code) bool {
			return c.Atomic && c.Function == want.Function &&
				(c.Line == want.Line || tr.Codes[c.From].Line == want.Line)
		})
		if !found {
			t.Errorf("found no atomic operation in %+v in %+v", want, tr.Codes)
		}
	}
	p := checkedProfile(t, tr, nil)
	at := slices.IndexFunc(p.Entries, func(e profile.Entry) bool {
		return e.Name == "main.main" && e.Kind == profile.KindProc
	})
	if at < 0 {
		t.Fatal("found no main.main")
	}
	// A thread stops after an operation in about six of ten samples, and else at one of the loops'
	// other instructions. There are some 60, or few more than 40 on a busy machine.
	if d := p.Entries[at].Doing; len(d) == 0 || d[0].How != replay.Atomic || d[0].Share < 1.0/3 {
		t.Errorf("main.main does %+v, expected atomic operations for more than a third of the time", d)
	}
	if d := p.Doing; len(d) == 0 || d[0].How != replay.Atomic || d[0].Proc != "main.main" ||
		d[0].Share >= p.Entries[at].Doing[0].Share || d[0].Share < d[0].In[0] || d[0].Share > d[0].In[1] {
		t.Errorf("all do %+v, expected atomic operations in main.main, with a smaller share", d)
	}
}
