package profile

import (
	"strings"

	"qinst.dev/trace"
)

// Root is one of the origins of all work of a program. A goroutine belongs to
// the root of its creator, except where the runtime starts it for purposes of
// its own.
type Root int

// The roots.
const (
	RootMain       Root = iota // main.main and what it starts
	RootInit                   // package initialization and what it starts
	RootTimers                 // functions called by timers (time.AfterFunc)
	RootFinalizers             // finalizers and cleanups
	RootGC                     // the garbage collector
	RootTool                   // what the tool does in the program's goroutines: extensions
	RootOther                  // calls from C, runtime goroutines, unknown
	NumRoots
)

func (r Root) String() string {
	return [NumRoots]string{"main", "init", "timers", "finalizers", "gc", "tool", "other"}[r]
}

// Members of sets are numbered: roots, then procedures, then goroutine groups.
func rootMember(r Root) int32 { return int32(r) }

// group is a kind of goroutine: start function and the procedure that created it.
type group struct {
	fn      string
	creator int32 // procedure, noProc if none
	count   uint64
	longest int64 // busy time of one of its goroutines, ns
	named   bool  // fn is what its goroutines call themselves
}

// groups sorts goroutines into groups, and gives each its place among the sets.
type groups struct {
	t     *trace.Trace
	base  int32 // member of group 0
	list  []group
	index map[groupKey]int32
	names map[string]int32
}

type groupKey struct {
	pc      uint64
	creator int32
}

func newGroups(t *trace.Trace) *groups {
	gr := &groups{t: t, base: int32(NumRoots) + int32(len(t.Points)), index: map[groupKey]int32{}, names: map[string]int32{}}
	gr.list = []group{{fn: mainStart, creator: noProc}}
	return gr
}

// mainStart is where the main goroutine starts; coroStart where the body of an
// iter.Pull does, which is the program's, not the runtime's.
const (
	mainStart = "runtime.main"
	coroStart = "runtime.corostart"
)

func (gr *groups) procMember(proc int32) int32 { return int32(NumRoots) + proc }
func (gr *groups) mainMember() int32           { return gr.base }

// place says where a new goroutine is: its set, its group, and the procedure that its time
// goes to until it enters one of its own. It reports whether it is the runtime's own.
func (gr *groups) place(s *sets, w, by *where, e *trace.Event) (system bool) {
	name := ""
	if f := gr.t.Function(e.Arg); f != nil {
		name = f.Name
	}
	root, system := gr.root(name, by != nil, e)
	creator := int32(noProc)
	if by != nil && !system {
		// Work for the runtime is nobody's else, whoever happened to run
		// when the runtime started its goroutine.
		creator, w.top, w.inner = by.top, by.top, by.inner
		w.set = by.set
	} else {
		w.set = s.with(0, rootMember(root))
	}
	w.group = gr.find(e, name, creator)
	gr.list[w.group].count++
	w.set = s.with(w.set, gr.base+w.group)
	return system
}

// find returns the group of a new goroutine.
func (gr *groups) find(e *trace.Event, name string, creator int32) int32 {
	if e.G == 1 {
		return 0
	}
	key := groupKey{e.Arg, creator}
	i, ok := gr.index[key]
	if !ok {
		i = int32(len(gr.list))
		gr.index[key] = i
		if name == "" {
			name = "unknown"
		}
		gr.list = append(gr.list, group{fn: name, creator: creator})
	}
	return i
}

// named returns the group of goroutines that have given themselves a name.
func (gr *groups) named(name string) int32 {
	i, ok := gr.names[name]
	if !ok {
		i = int32(len(gr.list))
		gr.names[name] = i
		gr.list = append(gr.list, group{fn: name, creator: noProc, named: true})
	}
	return i
}

// works reports whether a group's goroutines are the collector's workers.
func (gr *groups) works(group int32) bool {
	return strings.HasPrefix(gr.list[group].fn, "runtime.gcBgMarkWorker")
}

// function returns the start function of that name.
func (gr *groups) function(name string) *trace.Function {
	for i := range gr.t.Functions {
		if gr.t.Functions[i].Name == name {
			return &gr.t.Functions[i]
		}
	}
	return nil
}

// root tells the origin of a goroutine by its start function, and whether it is
// the runtime's own.
func (gr *groups) root(name string, created bool, e *trace.Event) (Root, bool) {
	switch {
	case e.G == 1:
		if gr.hasMain() {
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

// hasMain reports whether main.main is instrumented, so that the end of package
// initialization is known.
func (gr *groups) hasMain() bool {
	for i := range gr.t.Points {
		if gr.t.Points[i].Name == "main.main" && gr.t.Points[i].Kind == "proc" {
			return true
		}
	}
	return false
}
