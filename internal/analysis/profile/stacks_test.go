package profile_test

import (
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
)

// Call paths agree with the lines of procedures: innermost their self times, anywhere their times.
// Packages, of which there is one, have all of it.
func TestStacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }).Trace()
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		type times struct{ busy, blocked, ready int64 }
		self, all := map[string]times{}, map[string]times{}
		anywhere := times{} // within a procedure
		for st := range p.Stacks() {
			add := func(m map[string]times, name string) {
				s := m[name]
				m[name] = times{s.busy + st.Busy, s.blocked + st.Blocked, s.ready + st.Ready}
			}
			seen := map[string]bool{}
			for _, f := range st.Frames {
				if f.Start || seen[f.Name] && len(seen) > 1 {
					continue // only the innermost one can be there twice, with others between
				}
				if seen[f.Name] {
					t.Errorf("%s is on a path twice: %v", f.Name, st.Frames)
				}
				if len(seen) == 0 {
					add(self, f.Name)
				}
				seen[f.Name] = true
				add(all, f.Name)
			}
			written := false
			for name := range seen {
				written = written || name[0] != '[' // the runtime's and the tool's own are in no package
			}
			if written {
				anywhere = times{anywhere.busy + st.Busy, anywhere.blocked + st.Blocked, anywhere.ready + st.Ready}
			}
		}
		for _, e := range p.Entries {
			if e.Kind != profile.KindProc || e.ID == profile.NoProcedure {
				continue
			}
			if got := self[e.Name]; got != (times{e.SelfBusy, e.SelfBlocked, e.SelfReady}) {
				t.Errorf("%s: self %v by paths, %+v", e.Name, got, e)
			}
			if got := all[e.Name]; got != (times{e.Busy, e.Blocked, e.Ready}) {
				t.Errorf("%s: %v by paths, %+v", e.Name, got, e)
			}
		}
		for _, e := range p.Packages() {
			if got := (times{e.Busy, e.Blocked, e.Ready}); e.Name != "main" || got != anywhere {
				t.Errorf("package %s: %v, by paths %v", e.Name, got, anywhere)
			}
		}
	})
}
