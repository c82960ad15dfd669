package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
	"qinst.dev/sddf/spec"
)

// Samples show the functions without probes that a procedure calls, those of other packages, the
// runtime and the system. Their time is a part of its own.

// mechanisms finds procedures much of whose own work is one mechanism.
func mechanisms(f *Facts) (out []Item) {
	for i := range f.Entries {
		e := &f.Entries[i]
		if !Written(e) {
			continue
		}
		again := false // updates that fail are made again, with what they allocate
		for _, m := range known {
			d, worth := by(e, m.how), f.worthOf(e)
			if d == nil || again && m.how == replay.Allocation || d.In[0]*float64(worth) < surelyGains*float64(f.Wall) {
				continue
			}
			it := Item{Subject: about(e), WhatIf: fmt.Sprintf("self:%s=-%.0f%%", e.Name, 100*d.Share), partly: true,
				Evidence: []Fact{ns("its own work is worth", worth), share("of its own time", d.Share), share("of it at least", d.In[0])}}
			it.Subject.Line = d.Line
			if m.concludes(f, e, d, &it) {
				out = append(out, it)
				again = again || m.how == replay.Atomic && strings.Contains(d.By, "CompareAndSwap")
			}
		}
	}
	return out
}

// known are the mechanisms with conclusions. Each completes an item about a procedure, and reports
// whether it is one.
var known = []struct {
	how       replay.Mechanism
	concludes func(*Facts, *profile.Entry, *profile.Doing, *Item) bool
}{
	{replay.SystemCall, callsShort},
	{replay.StackGrowth, growsStacks},
	{replay.Atomic, sharesMemory},
	{replay.Locking, locksOften},
	{replay.Allocation, allocatesMuch},
	{replay.Strings, joinsStrings},
	{replay.Preparation, preparesAgain},
	{replay.Lookups, looksFar},
	{replay.StackTraces, tracesStacks},
	{replay.Panics, panics},
}

// callsShort is about many short system calls.
func callsShort(f *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	each := f.each(e, d)
	if each > shortCall {
		return false // each has much to do
	}
	it.ID, it.Claim, it.Change = "system-calls", "much of the work is short system calls", Batch
	if i := slices.IndexFunc(e.Callees, func(c profile.Callee) bool { return c.Name == d.By }); i >= 0 {
		it.upTo = fmt.Sprintf("self:%s=-%.0f%%", e.Name, 100*e.Callees[i].Share) // without the call
	}
	how := "or some for many items" // as for a file that is read again and again
	if strings.HasPrefix(d.By, "os.(*File)") || strings.HasPrefix(d.By, "fmt.Fprint") {
		how = "as with a buffer of package bufio"
	}
	it.Text = fmt.Sprintf("make fewer system calls in %s, %s: %s takes %.0f to %.0f %% of its own time, %s each at most, and the run waits for that",
		at(&it.Subject), how, d.By, 100*d.In[0], 100*d.In[1], measure.Time(int64(each)))
	return true
}

// growsStacks is about new goroutines that grow their stacks.
func growsStacks(_ *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	it.upTo = all(e) // new stacks are slow to use, too
	it.ID, it.Claim, it.Change = "stack-growth", "goroutines grow their stacks again and again", FewerGoroutines
	it.Text = fmt.Sprintf("let goroutines that have grown their stacks go on with other items, instead of starting new ones: to grow stacks takes %.0f to %.0f %% of the own time of %s",
		100*d.In[0], 100*d.In[1], at(&it.Subject))
	return true
}

// sharesMemory is about atomic operations while other goroutines work.
func sharesMemory(f *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	inlined := f.HasProbes(d.By)
	if 2*e.SelfAlone > e.SelfBusy || !inlined && !strings.HasPrefix(d.By, "sync/atomic") || f.spins(e) {
		return false // no other goroutine uses the memory, or it is a part of something else
	}
	// Reads of a cache line that another processor has are slow, too, and a failed operation is
	// tried again.
	it.upTo = all(e)
	by := d.By
	if inlined {
		it.Subject.Name, by = d.By, "that"
	}
	it.ID, it.Claim, it.Change = "contended-atomic", "much of the work is atomic operations beside others", Split
	it.Text = fmt.Sprintf("do fewer atomic operations in %s, as with a count for each goroutine, in a cache line of its own, added up at the end: %s takes %.0f to %.0f %% of the own time of %s, while other goroutines work",
		at(&it.Subject), by, 100*d.In[0], 100*d.In[1], e.Name)
	return true
}

// spins reports whether a procedure has a loop that only waits.
func (f *Facts) spins(e *profile.Entry) bool {
	return slices.ContainsFunc(f.Entries, func(l profile.Entry) bool {
		return l.Kind == profile.KindLoop && l.Spins && strings.HasPrefix(l.Name, e.Name+": ")
	})
}

// locksOften is about operations on a lock.
func locksOften(f *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	o := f.lockAt(e, d.Line)
	if o == nil || f.startsTiny(e) {
		return false
	}
	it.upTo = all(e) // the work near the lock waits for its cache line, too
	it.ID, it.Claim, it.Change = "many-operations", "operations on synchronization objects take long by themselves", Split
	it.Subject = aboutObject(o)
	it.Text = fmt.Sprintf("use %s less often, or do without it, as with a copy for each goroutine or an atomic pointer: %s takes %.0f to %.0f %% of the own time of %s",
		at(&it.Subject), d.By, 100*d.In[0], 100*d.In[1], e.Name)
	return true
}

// joinsStrings is about strings that are put together, long ones or many.
func joinsStrings(f *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	if f.each(e, d) < longJoin {
		return allocatesMuch(f, e, d, it)
	}
	it.upTo = all(e)
	called(e, d, it)
	it.ID, it.Claim, it.Change = "joined-strings", "long strings are copied again and again", LessWork
	it.Text = fmt.Sprintf("append to one strings.Builder or []byte in %s: each + copies all that is there already, which takes %s of its own time",
		at(&it.Subject), between(d))
	return true
}

// preparesAgain is about functions of libraries whose result can be kept.
func preparesAgain(f *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	if f.rounds(e) < fewRounds {
		return false
	}
	it.upTo = fmt.Sprintf("self:%s=-%.0f%%", e.Name, 100*d.In[1])
	it.ID, it.Claim, it.Change = "prepared-again", "the same thing is prepared again and again", LessWork
	by := called(e, d, it)
	it.Text = fmt.Sprintf("call %s once and keep the result, instead of again and again in %s: that takes %s of the own time of %s",
		by, at(&it.Subject), between(d), e.Name)
	return true
}

// looksFar is about values of contexts behind many others.
func looksFar(f *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	if f.each(e, d) < farLook {
		return false
	}
	by := called(e, d, it)
	it.ID, it.Claim, it.Change = "context-values", "values of contexts are far away", LessWork
	it.Text = fmt.Sprintf("derive each context from the same parent instead of from the one before, or look values up once in %s: %s walks the chain of contexts, which takes %s of the own time of %s",
		at(&it.Subject), by, between(d), e.Name)
	return true
}

// tracesStacks is about stack traces.
func tracesStacks(_ *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	by := called(e, d, it)
	it.ID, it.Claim, it.Change = "stack-traces", "much of the work is stack traces", LessWork
	it.Text = fmt.Sprintf("take fewer stack traces in %s: %s takes %s of the own time of %s, and the run waits for that",
		at(&it.Subject), by, between(d), e.Name)
	return true
}

// panics is about panics that are recovered.
func panics(_ *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	called(e, d, it)
	it.ID, it.Claim, it.Change = "panics", "much of the work is panics", LessWork
	it.Text = fmt.Sprintf("return an error from %s, instead of a panic that is recovered: that takes %s of the own time of %s, and the run waits for it",
		at(&it.Subject), between(d), e.Name)
	return true
}

// called is the function of a library by which a procedure does something. If one that was inlined
// calls it, the item is about that.
func called(e *profile.Entry, d *profile.Doing, it *Item) string {
	i := slices.IndexFunc(e.Callees, func(c profile.Callee) bool { return c.Name == d.By && c.Line == d.Line })
	if i < 0 || e.Callees[i].Library == "" {
		return d.By
	}
	it.Subject.Name = d.By
	return e.Callees[i].Library
}

// between says how much of a procedure's own time a mechanism takes.
func between(d *profile.Doing) string {
	return fmt.Sprintf("%.0f to %.0f %%", 100*d.In[0], 100*d.In[1])
}

// each is how many ns a mechanism takes in each round of a procedure.
func (f *Facts) each(e *profile.Entry, d *profile.Doing) float64 {
	return measure.Ratio(int64(d.Share*float64(e.SelfBusy)), int64(f.rounds(e)))
}

const (
	// longJoin is how many ns it takes at least to join long strings.
	longJoin = 2e3
	// farLook is how many ns it takes to find a value behind some fifty others.
	farLook = 300
	// fewRounds is up to how often something may be prepared: once for each thing, as usual.
	fewRounds = 10
)

// allocatesMuch is about allocation by the procedure itself, if no conclusion is about the
// collector, which is a part of its cost.
func allocatesMuch(f *Facts, e *profile.Entry, d *profile.Doing, it *Item) bool {
	if len(collector(f)) > 0 || !strings.HasPrefix(d.By, "runtime.") ||
		d.In[0]*float64(f.worthOf(e)) < allocates*float64(f.Wall) {
		return false
	}
	it.upTo = all(e) // new memory is slow to use, too
	it.ID, it.Claim, it.Change = "much-allocation", "much of the work is allocation", LessWork
	it.Text = fmt.Sprintf("allocate less in %s, or reuse memory there: %s takes %.0f to %.0f %% of its own time, and the run waits for that",
		at(&it.Subject), d.By, 100*d.In[0], 100*d.In[1])
	return true
}

// all is the change that does away with all own work of a procedure.
func all(e *profile.Entry) string { return fmt.Sprintf("self:%s=-100%%", e.Name) }

// lockAt is the lock that a procedure operates on in a line; nil: it is not known.
func (f *Facts) lockAt(e *profile.Entry, line int) *profile.Object {
	if f.Program == nil {
		return nil
	}
	t := f.Program.R.T
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind == spec.PointSync && p.Line == line && p.File == e.File {
			if o := f.object(p.Name); o != nil && o.Lock() {
				return o
			}
		}
	}
	return nil
}

// allocates is the least share of the run that makes allocation worth a line: all programs
// allocate.
const allocates = 0.05

// shortCall is how many ns a system call takes at most that is made for little.
const shortCall = 50e3

// rounds is how often an entry was called, or a loop of it went round.
func (f *Facts) rounds(e *profile.Entry) uint64 {
	most := max(1, e.Calls)
	for i := range f.Entries {
		l := &f.Entries[i]
		if l.Kind == profile.KindLoop && strings.HasPrefix(l.Name, e.Name+": ") {
			most = max(most, l.Trips)
		}
	}
	return most
}

// by returns the share of a mechanism in a procedure, nil if no sample found any.
func by(e *profile.Entry, how replay.Mechanism) *profile.Doing {
	if i := slices.IndexFunc(e.Doing, func(d profile.Doing) bool { return d.How == how }); i >= 0 {
		return &e.Doing[i]
	}
	return nil
}

// worthOf is the gain, in ns, if the own code of a procedure takes no time. Without a path it is
// the normalized processor time.
func (f *Facts) worthOf(e *profile.Entry) int64 {
	if f.worths == nil {
		f.worths = map[string]int64{}
		if r := f.Path; r != nil && r.Replay > 0 && f.Served == "" {
			for i := range r.Entries {
				if e := &r.Entries[i]; e.Kind == critpath.KindProc && !e.Unknown {
					f.worths[e.ID] = min(f.Wall, int64(measure.Ratio(e.Weighted, r.Replay)*float64(f.Wall)))
				}
			}
		}
	}
	if len(f.worths) == 0 {
		return e.SelfNPT
	}
	return f.worths[e.ID]
}

// worker is the function without probes that a procedure or loop calls for most of its work, nil if
// there is none: one that is small enough to be inlined, which does the work all the same. It is of
// a package that has probes, since others cannot be changed.
func (f *Facts) worker(e *profile.Entry) *profile.Callee {
	proc, _, _ := strings.Cut(e.Name, ": ")
	in := f.written(proc)
	if in == nil || len(in.Callees) == 0 || 2*in.SelfBusy < e.CallBusy {
		return nil
	}
	if c := &in.Callees[0]; c.In[0] >= 0.5 && f.HasProbes(c.Name) {
		return c
	}
	return nil
}

// whose is what conclusions about the work of a procedure or loop are about.
func (f *Facts) whose(e *profile.Entry) Subject {
	s := about(e)
	if c := f.worker(e); c != nil {
		s.Name, s.Line = c.Name, c.Line
	}
	return s
}

// mostIn names that function in a sentence about the procedure or loop.
func (f *Facts) mostIn(e *profile.Entry) string {
	if c := f.worker(e); c != nil {
		return ", most of it in " + c.Name + ","
	}
	return ""
}

// HasProbes reports whether some procedure of a function's package has probes.
func (f *Facts) HasProbes(function string) bool {
	pkg := names.PackageOf(function)
	return slices.ContainsFunc(f.Entries, func(e profile.Entry) bool {
		return Written(&e) && names.PackageOf(e.Name) == pkg
	})
}

// mostWorth are the procedures whose own work is worth most of the run, and words for them.
func (f *Facts) mostWorth() (most []*profile.Entry, words string) {
	for i := range f.Entries {
		if e := &f.Entries[i]; Written(e) && measure.Ratio(f.worthOf(e), f.Wall) >= serialShare.value() {
			most = append(most, e)
		}
	}
	slices.SortStableFunc(most, func(a, b *profile.Entry) int { return cmp.Compare(f.worthOf(b), f.worthOf(a)) })
	most = most[:min(2, len(most))]
	var list []string
	for _, e := range most {
		text := fmt.Sprintf("%s %s", e.Name, measure.Percent(f.worthOf(e), f.Wall))
		text += mostOf(e)
		list = append(list, text)
	}
	return most, strings.Join(list, ", ")
}

// mostOf says what takes most of a procedure's own time, if anything does: a function without
// probes that it calls, in one line or several, or a mechanism.
func mostOf(e *profile.Entry) string {
	for i := range e.Callees {
		c := &e.Callees[i]
		sum, where := 0., fmt.Sprintf("line %d", c.Line)
		for j := range e.Callees {
			if o := &e.Callees[j]; o.Name == c.Name {
				if sum += o.In[0]; i != j {
					where = fmt.Sprintf("line %d and others", c.Line)
				}
			}
		}
		if sum >= 0.5 && !strings.HasPrefix(c.Name, "runtime.") {
			return fmt.Sprintf(" (most of it in %s, %s%s)", c.Name, where, byLibrary(c))
		}
	}
	for i := range e.Doing {
		if d := &e.Doing[i]; d.In[0] >= 0.5 {
			return fmt.Sprintf(" (most of it %s, line %d)", d.How, d.Line)
		}
	}
	return ""
}

// byLibrary says what an inlined function calls for most of its work.
func byLibrary(c *profile.Callee) string {
	if c.Library == "" {
		return ""
	}
	return ", by " + c.Library
}

// more says that less work in one procedure gains more than the conclusions do, if it may.
func (f *Facts) more(list []Item) []Item {
	most, words := f.mostWorth()
	if len(most) == 0 || f.Path == nil {
		return nil
	}
	worth := f.worthOf(most[0])
	part := measure.Ratio(worth, f.Wall)
	for i := range list {
		it, most := &list[i], max(list[i].AtMost, list[i].likely)
		if it.Gain != nil {
			most = it.Gain.Ns
		}
		if !it.Remark && (it.Defect || most > worth) {
			return nil
		}
	}
	return []Item{{ID: "less-work", Claim: "less work makes the run shorter", Subject: f.whose(most[0]), Remark: true, Change: LessWork,
		Evidence: []Fact{share("of the run for its own code", part)},
		Text:     fmt.Sprintf("Less work makes the run shorter. Own code worth most of it: %s.", words)}}
}
