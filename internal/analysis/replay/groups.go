package replay

import (
	"regexp"
	"slices"
	"strings"

	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Root is one of the origins of all work of a program. A goroutine belongs to the root of its
// creator, unless the runtime starts it for its own purposes.
type Root int

// The roots.
const (
	RootMain       Root = iota // main.main and everything it starts
	RootInit                   // package initialization and everything it starts
	RootTimers                 // functions called by timers (time.AfterFunc)
	RootFinalizers             // finalizers and cleanups
	RootGC                     // the garbage collector
	RootTool                   // the tool's work in the program's goroutines: extensions
	RootOther                  // calls from C, runtime goroutines, unknown
	NumRoots
)

func (r Root) String() string {
	return [NumRoots]string{"main", "init", "timers", "finalizers", "gc", "tool", "other"}[r]
}

// GroupID is the number of a group of goroutines.
type GroupID int32

// NoGroup is the group of what no goroutine does.
const NoGroup GroupID = -1

// mainGroup is the main goroutine's.
const mainGroup GroupID = 0

// Group is a kind of goroutine: start function and the procedure that created it.
type Group struct {
	Func    string
	Creator trace.PointID // NoPoint if none
	Count   uint64
	Named   bool // Func is the name that the goroutines gave themselves

	starts bool            // Func is what a method starts to call what was passed to it
	first  []trace.PointID // the procedures that they entered first, as far as events show; mostFirst of them
	calls  []trace.Frame   // what Func called, as far as stacks show; mostFirst of them, by function
	stacks map[trace.StackID]bool
}

// Probed is the procedure that a group's goroutines start with, NoPoint if it has no probes. There
// may be no event of it: it may only have been counted.
func (gr *Groups) Probed(id GroupID) trace.PointID {
	if p, ok := gr.procs[gr.Group(id).Func]; ok {
		return p
	}
	return trace.NoPoint
}

// mostFirst is how many procedures a group may enter first until none for which it was
// started.
const mostFirst = 8

// starter is what methods such as those of [sync.WaitGroup] and errgroup start, to call what was
// passed to them, and what the compiler makes of a go statement whose call has arguments.
var starter = regexp.MustCompile(`\.\(\*\w+(\[\.\.\.\])?\)\.(Try)?Go\.func[0-9.]+$|\.gowrap[0-9]+$`)

// Unknown is the function of goroutines whose beginning was not seen.
const Unknown = "unknown"

// Starts reports whether a function is one that only calls what was passed to it.
func Starts(function string) bool { return starter.MatchString(function) }

// Origin is what goroutines of a group are called, and where that is in the source.
type Origin struct {
	Name string
	File string // "" if it is not known
	Line int
}

// Origin returns what a group's goroutines are called: by the name that they gave themselves, or by
// the procedure for which they were started, which is Func unless that is a method's that starts
// goroutines for others.
func (gr *Groups) Origin(id GroupID) Origin {
	g := &gr.list[id]
	o := Origin{Name: g.Func}
	if g.Named {
		return o
	}
	if f, ok := g.called(); ok {
		at, known := gr.procs[f.Function]
		switch {
		case !known:
			return Origin{f.Function, f.File, f.Line}
		case gr.t.Points[at].Kind == spec.PointFunc || len(g.first) == 0 || g.first[0] == at:
			return gr.procedure(at)
		}
	}
	if work := gr.Work(id); work != trace.NoPoint {
		return gr.procedure(work)
	}
	if f := gr.Start(g.Func); f != nil {
		o.File, o.Line = f.File, f.Line
	} else if p := gr.Probed(id); p != trace.NoPoint {
		return gr.procedure(p)
	}
	if in := names.Procedure(g.Func); in != g.Func { // a go statement, whatever it calls
		o.Name = in + ": go"
	}
	return o
}

// procedure is a procedure as an origin.
func (gr *Groups) procedure(p trace.PointID) Origin {
	pt := &gr.t.Points[p]
	return Origin{pt.Name, pt.File, pt.Line}
}

// called returns what Func called, if stacks show of one function and events of no other.
func (g *Group) called() (f trace.Frame, ok bool) {
	if len(g.calls) != 1 || len(g.first) > 1 {
		return f, false
	}
	return g.calls[0], true
}

// waits notes what Func called, from a stack in which a goroutine waits.
func (g *Group) waits(number trace.StackID, stack trace.Stack) {
	if !g.starts || g.stacks[number] || len(g.calls) == mostFirst {
		return
	}
	if g.stacks == nil {
		g.stacks = map[trace.StackID]bool{}
	}
	g.stacks[number] = true
	starts := names.Procedure(g.Func)
	for i := len(stack) - 1; i > 0; i-- {
		if stack[i].Function != starts {
			continue
		}
		if f := stack[i-1]; !slices.ContainsFunc(g.calls,
			func(o trace.Frame) bool { return o.Function == f.Function }) {
			g.calls = append(g.calls, f)
		}
		return
	}
}

// Work returns the procedure for which goroutines of a group were started, if methods start them
// for others: Func tells nothing then. It is the one that all entered first, and that no stack
// contradicts. Where some entries have no event, goroutines seem to enter what that one calls; then
// it is the one that was called as often as there are goroutines. It is NoPoint where Func itself
// is that procedure, or there is no such one.
func (gr *Groups) Work(id GroupID) trace.PointID {
	g := &gr.list[id]
	if g.Named || len(g.first) == mostFirst || !g.starts || len(g.calls) > 1 {
		return trace.NoPoint
	}
	found := trace.NoPoint
	for _, p := range g.first {
		if len(g.first) > 1 && gr.t.Points[p].Hits != g.Count {
			continue
		}
		if found != trace.NoPoint {
			return trace.NoPoint
		}
		found = p
	}
	return found
}

// entered records the first procedure of a goroutine.
func (g *Group) entered(proc trace.PointID) {
	if len(g.first) < mostFirst && !slices.Contains(g.first, proc) {
		g.first = append(g.first, proc)
	}
}

// Groups sorts goroutines into groups, and gives each group its member in sets.
type Groups struct {
	t     *trace.Tables
	base  Member // of group 0
	list  []Group
	index map[groupKey]GroupID
	names map[string]GroupID
	procs map[string]trace.PointID // procedures by name
	main  trace.PointID            // main.main, NoPoint if it is not instrumented
}

type groupKey struct {
	pc      uint64
	creator trace.PointID
}

func newGroups(t *trace.Tables) *Groups {
	gr := &Groups{t: t, base: ProcMember(trace.PointID(len(t.Points))), index: map[groupKey]GroupID{},
		names: map[string]GroupID{}, procs: map[string]trace.PointID{}, main: trace.NoPoint}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointProc || p.Kind == spec.PointFunc {
			gr.procs[p.Name] = trace.PointID(i)
			if p.Kind == spec.PointProc && p.Name == "main.main" {
				gr.main = trace.PointID(i)
			}
		}
	}
	gr.list = []Group{{Func: mainStart, Creator: trace.NoPoint}}
	return gr
}

// mainStart is the start function of the main goroutine. coroStart is that of the body of an
// iter.Pull, which belongs to the program, not to the runtime.
const (
	mainStart = "runtime.main"
	coroStart = "runtime.corostart"
)

// Len is how many groups there are so far.
func (gr *Groups) Len() int { return len(gr.list) }

// Group is the group of a number. It is valid until another one is found.
func (gr *Groups) Group(id GroupID) *Group { return &gr.list[id] }

// Member is a group as a member of sets.
func (gr *Groups) Member(id GroupID) Member { return gr.base + Member(id) }

// Of is the group that a member is, if it is one.
func (gr *Groups) Of(m Member) (GroupID, bool) { return GroupID(m - gr.base), m >= gr.base }

// place returns the first context of a new goroutine: its set, its group, and the procedure
// charged with its time until it enters one of its own. It reports whether the goroutine is the
// runtime's own.
func (gr *Groups) place(s *Sets, c, by *Context, e *trace.Event, start uint64) (system bool) {
	name := ""
	if f := gr.t.Function(start); f != nil {
		name = strings.TrimSuffix(f.Name, "-fm") // a method that was passed as a value
	}
	root, system := gr.root(name, by != nil, e)
	creator := trace.NoPoint
	if by != nil && !system {
		// Work for the runtime must not be charged to the goroutine that happened to run when the
		// runtime started this one.
		creator, c.Proc, c.Inner = by.Proc, by.Proc, by.Inner
		c.Set = by.Set
	} else {
		c.Set = s.With(0, RootMember(root))
	}
	c.Group = gr.find(e.G, groupKey{start, creator}, name)
	gr.list[c.Group].Count++
	c.Set = s.With(c.Set, gr.Member(c.Group))
	return system
}

// find returns the group of a new goroutine.
func (gr *Groups) find(g trace.GoID, key groupKey, name string) GroupID {
	if g == 1 {
		return mainGroup
	}
	i, ok := gr.index[key]
	if !ok {
		i = GroupID(len(gr.list))
		gr.index[key] = i
		if name == "" {
			name = Unknown
		}
		gr.list = append(gr.list, Group{Func: name, Creator: key.creator, starts: starter.MatchString(name)})
	}
	return i
}

// named returns the group of goroutines that have given themselves a name.
func (gr *Groups) named(name string) GroupID {
	i, ok := gr.names[name]
	if !ok {
		i = GroupID(len(gr.list))
		gr.names[name] = i
		gr.list = append(gr.list, Group{Func: name, Creator: trace.NoPoint, Named: true})
	}
	return i
}

// rename moves a goroutine to the group of its name.
func (r *Replay) rename(e *trace.Event) {
	g := r.gs[e.Slot]
	r.Settle(g, e.Time)
	group := r.Groups.named(r.Text(e.Text()))
	r.Groups.list[r.Contexts.list[g.Context].Group].Count--
	r.Groups.list[group].Count++
	from := NoContext
	g.move(func(id ContextID) ContextID {
		c := r.Contexts.list[id].Context
		c.Set, c.Group = r.Sets.With(c.Set, r.Groups.Member(group)), group
		from = r.Contexts.find(c, from)
		return from
	})
	r.v.Named(g)
}

// Peers reports whether two goroutines are of one kind: of one group, and if that is of a method
// that starts what is passed to it, they do not run different procedures, as far as is known.
func (r *Replay) Peers(g, h *G) bool {
	id := r.Contexts.list[g.Context].Group
	if id != r.Contexts.list[h.Context].Group {
		return false
	}
	return id == NoGroup || !r.Groups.list[id].starts || g.first == h.first || g.first == trace.NoPoint ||
		h.first == trace.NoPoint
}

// works reports whether a group's goroutines are the collector's workers.
func (gr *Groups) works(id GroupID) bool {
	return strings.HasPrefix(gr.list[id].Func, "runtime.gcBgMarkWorker")
}

// Start returns the start function of that name, nil if it is not known.
func (gr *Groups) Start(name string) *trace.Function {
	for i := range gr.t.Functions {
		if gr.t.Functions[i].Name == name {
			return &gr.t.Functions[i]
		}
	}
	return nil
}

// root returns the origin of a goroutine by its start function, and whether it is the runtime's
// own.
func (gr *Groups) root(name string, created bool, e *trace.Event) (Root, bool) {
	switch {
	case e.G == 1:
		if gr.main != trace.NoPoint { // so the end of package initialization is known
			return RootInit, false
		}
		return RootMain, false
	case name == "runtime.runFinalizers", name == "runtime.runfinq", strings.HasPrefix(name, "runtime.runCleanups"),
		strings.Contains(name, "runtime.(*cleanupQueue)"):
		return RootFinalizers, true
	case strings.HasPrefix(name, "runtime.gcBgMarkWorker"), strings.HasPrefix(name, "runtime.bgsweep"),
		strings.HasPrefix(name, "runtime.bgscavenge"), strings.HasPrefix(name, "runtime.forcegchelper"):
		return RootGC, true
	case strings.HasPrefix(name, "runtime.qinst"):
		return RootTool, true
	case strings.HasPrefix(name, "runtime.") && name != coroStart:
		return RootOther, true
	case created:
		return 0, false // its creator's
	case e.Cause == trace.ByRepair, name == "":
		return RootOther, false
	}
	return RootTimers, false // time.AfterFunc: created by the scheduler
}
