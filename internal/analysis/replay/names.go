package replay

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Names names the objects that goroutines wait for: by the place of the wait, by the name that
// operations give the object, or by the runtime's reason.
type Names struct {
	t       *trace.Tables
	sites   map[site]trace.PointID  // sync points by place
	points  map[place]trace.PointID // at the places of waits, as far as they were asked for
	places  map[place]string        // the name that the place of a wait gives its object
	runtime map[place]bool          // whether the wait is the runtime's own
	callers map[trace.StackID]caller
	procs   map[string]bool // names of procedures
	probed  map[string]bool // packages that have some, as names have them; true: they are the user's own
	std     string          // the folder of the standard library's packages, "" if it is not known
	cond    trace.ReasonID  // of waits for a condition, NoReason if there are none
}

type site struct {
	file string
	line int
}

// place is a stack in which a goroutine waits, and the reason.
type place struct {
	stack  trace.StackID
	reason trace.ReasonID
}

// caller is a cached result of Caller.
type caller struct {
	trace.Frame
	known bool
}

func newNames(t *trace.Tables) *Names {
	n := &Names{t: t, sites: map[site]trace.PointID{}, points: map[place]trace.PointID{},
		places: map[place]string{}, runtime: map[place]bool{}, callers: map[trace.StackID]caller{},
		procs: map[string]bool{}, probed: map[string]bool{}, std: stdOf(t), cond: trace.NoReason}
	for code, reason := range t.Reasons {
		if reason == "sync.Cond.Wait" {
			n.cond = code
		}
	}
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind == spec.PointProc {
			n.procs[p.Name] = true
		}
		if p.Kind == spec.PointProc || p.Kind == spec.PointFunc { // all procedures of a package may be small
			if pkg := t.PackageOf(p.Name); pkg != "" { // not the system's
				n.probed[pkg] = n.IsOwnFile(p.File)
			}
		}
		if p.Kind == spec.PointSync || p.Kind == spec.PointSite {
			at := site{p.File, p.Line}
			if old, ok := n.sites[at]; !ok || !MayWait(t.Points[old].Op) {
				n.sites[at] = trace.PointID(i)
			}
		}
	}
	return n
}

// of returns the name of the object that a goroutine waits for in a stack. best is the point
// whose name the object has, NoPoint if it is not known.
func (n *Names) of(stack trace.StackID, reason trace.ReasonID, best trace.PointID) string {
	if name := n.ofRuntime(stack, reason); name != "" {
		return name
	}
	at := n.site(stack, reason)
	if at != trace.NoPoint && n.strong(at) {
		return n.nameOfPoint(at, stack)
	}
	if best != trace.NoPoint {
		return n.t.Points[best].Name
	}
	if at != trace.NoPoint {
		return n.nameOfPoint(at, stack)
	}
	what := n.t.Reason(reason)
	switch what {
	case "":
		return "[not known]" // nothing tells of the wait but that the goroutine ran again, where events were lost
	case "sleep":
		what = "time.Sleep"
	}
	if f, ok := n.Caller(stack); ok {
		return what + " in " + f.Function
	}
	if f, ok := n.inRuntime(stack); ok {
		return what + " in " + f.Function
	}
	return what
}

// mayName reports whether the object of a point can be the one that a goroutine waits for.
// Addresses are reused: an operation at the address, before the wait or after it, may have been on
// another object.
func (n *Names) mayName(p trace.PointID, stack trace.StackID, reason trace.ReasonID) bool {
	pt, what := &n.t.Points[p], n.t.Reason(reason)
	ofChannel := what == "select" || strings.HasPrefix(what, "chan ")
	switch KindOf(pt.Op) {
	case KindLock, KindWaitGroup, kindCond:
		if ofChannel {
			return false
		}
	case KindChannel:
		if strings.HasPrefix(what, "sync.") {
			return false
		}
	}
	if int(stack) >= len(n.t.Stacks) {
		return true
	}
	if _, ok := n.Caller(stack); !ok { // the runtime waits for objects of its own
		_, ok = n.inRuntime(stack)
		return !ok
	}
	if at := n.site(stack, reason); at != trace.NoPoint && n.ofTimers(at) && !n.t.OfTimer(pt.Name) {
		return false
	}
	if owner := pt.Owner; owner >= 0 && int(owner) < len(n.t.Points) && owner != p && n.t.OfTimer(pt.Name) {
		// it has the name of the procedure that uses it
		return slices.ContainsFunc(n.t.Stacks[stack],
			func(f trace.Frame) bool { return f.Function == n.t.Points[owner].Name })
	}
	return true
}

// ofTimers reports whether an operation is only about channels that package time or context has.
func (n *Names) ofTimers(p trace.PointID) bool {
	channels := n.t.Points[p].Name
	if list, ok := strings.CutPrefix(channels, spec.OpSelect+"("); ok {
		channels = strings.TrimSuffix(list, ")")
	}
	return !slices.ContainsFunc(strings.Split(channels, ", "), func(name string) bool { return !n.t.OfTimer(name) })
}

// inRuntime is the function of the runtime that waits, where nobody else does: the innermost one
// that is no operation itself.
func (n *Names) inRuntime(stack trace.StackID) (trace.Frame, bool) {
	if int(stack) >= len(n.t.Stacks) {
		return trace.Frame{}, false
	}
	for _, f := range n.t.Stacks[stack] {
		name, own := strings.CutPrefix(f.Function, "runtime.")
		if own && name != "goexit" && !operation.MatchString(name) {
			return f, true
		}
	}
	return trace.Frame{}, false
}

// operation matches what functions of the runtime wait by.
var operation = regexp.MustCompile(`^(gopark|chan|select|block|sem|notify|park|goroutineReady|netpollblock)`)

// AtPlace returns the name that the place of a wait gives its object, "" if it gives none. It
// does not depend on the address, because addresses are reused.
func (n *Names) AtPlace(stack trace.StackID, reason trace.ReasonID) string {
	at := place{stack, reason}
	name, ok := n.places[at]
	if !ok {
		name = n.nameOfPlace(stack, reason)
		n.places[at] = name
	}
	return name
}

func (n *Names) nameOfPlace(stack trace.StackID, reason trace.ReasonID) string {
	if name := n.ofRuntime(stack, reason); name != "" {
		return name
	}
	if p := n.site(stack, reason); p != trace.NoPoint && n.strong(p) {
		return n.nameOfPoint(p, stack)
	}
	if _, ok := n.Caller(stack); !ok { // the runtime's own objects are given up early, and others get their addresses
		if f, ok := n.inRuntime(stack); ok {
			return n.t.Reason(reason) + " in " + f.Function
		}
	}
	return ""
}

// nameOfPoint is the name of a point's object. One that all timers have is told apart by the
// procedure that waits, as the table of points does it where it knows the procedure.
func (n *Names) nameOfPoint(p trace.PointID, stack trace.StackID) string {
	pt := &n.t.Points[p]
	if f, ok := n.Caller(stack); ok && pt.Kind == spec.PointSite && pt.Owner == p && n.t.OfTimer(pt.Name) {
		return pt.Name + " in " + f.Function
	}
	return pt.Name
}

// OfRuntime reports whether a wait is the runtime's own: for the garbage collector, wherever the
// program is.
func (n *Names) OfRuntime(stack trace.StackID, reason trace.ReasonID) bool {
	at := place{stack, reason}
	own, ok := n.runtime[at]
	if !ok {
		own = n.ofRuntime(stack, reason) != ""
		n.runtime[at] = own
	}
	return own
}

// ofRuntime returns the name of a wait that is the runtime's own, "" if it is none. An allocation
// may have to wait for the start of a collection, and its procedure has nothing to do with that.
func (n *Names) ofRuntime(stack trace.StackID, reason trace.ReasonID) string {
	r := n.t.Reason(reason)
	if OfCollector(r) {
		return r
	}
	switch r {
	case "semacquire": // package sync's semaphores have reasons of their own, but for those of files
	// the runtime has channels, too: a goroutine that starts a collection may have to wait for its
	// workers
	case "chan receive", "chan send":
	default:
		return ""
	}
	if int(stack) >= len(n.t.Stacks) {
		return ""
	}
	for i, f := range n.t.Stacks[stack] {
		name, own := strings.CutPrefix(f.Function, "runtime.")
		if !own {
			return ""
		}
		if !operation.MatchString(name) {
			if r != "semacquire" && !called(n.t.Stacks[stack][i:]) {
				return ""
			}
			return r + " in " + f.Function
		}
	}
	return ""
}

// called reports whether a stack leads into the runtime from outside.
func called(stack trace.Stack) bool {
	return slices.ContainsFunc(stack, func(f trace.Frame) bool { return !strings.HasPrefix(f.Function, "runtime.") })
}

// strong reports whether a point names the one object that it operates on.
func (n *Names) strong(p trace.PointID) bool {
	return n.t.Points[p].Flags&spec.FlagWeakName == 0 && n.t.Points[p].Op != spec.OpSelect
}

// Caller is the frame of a stack from which sync or the runtime was called.
func (n *Names) Caller(stack trace.StackID) (trace.Frame, bool) {
	c, ok := n.callers[stack]
	if !ok {
		c.Frame, c.known = n.callerOf(stack)
		n.callers[stack] = c
	}
	return c.Frame, c.known
}

func (n *Names) callerOf(stack trace.StackID) (trace.Frame, bool) {
	if int(stack) >= len(n.t.Stacks) {
		return trace.Frame{}, false
	}
	for _, f := range n.t.Stacks[stack] {
		switch pkg := n.packageOf(&f); pkg {
		case "runtime", "sync", "internal/sync", "internal/poll", "time":
			continue
		default:
			if strings.HasPrefix(pkg, "internal/runtime/") { // its maps, for one
				continue
			}
		}
		if strings.Contains(f.Function, "_qinst") {
			continue // a probe around an operation
		}
		return f, true
	}
	return trace.Frame{}, false
}

// Own is the frame of a stack that its user can change: the innermost one in a package with probes
// that is not a dependency's. If there is none, it is the innermost one in a package with probes,
// or else that is not the runtime's, or an empty one.
func (n *Names) Own(stack trace.StackID) trace.Frame {
	if int(stack) >= len(n.t.Stacks) {
		return trace.Frame{}
	}
	var probed *trace.Frame
	for i := range n.t.Stacks[stack] {
		f := &n.t.Stacks[stack][i]
		own, some := n.probed[n.packageOf(f)]
		if own {
			return *f
		}
		if some && probed == nil {
			probed = f
		}
	}
	if probed != nil {
		return *probed
	}
	f, _ := n.Caller(stack)
	return f
}

// CalledBy returns the function that a frame of a stack calls; empty: it is the innermost one.
func (n *Names) CalledBy(f *trace.Frame, stack trace.StackID) string {
	if int(stack) >= len(n.t.Stacks) {
		return ""
	}
	list := n.t.Stacks[stack]
	i := slices.IndexFunc(list, func(in trace.Frame) bool { return in == *f })
	if i < 1 {
		return ""
	}
	return list[i-1].Function
}

// HasProbes reports whether a frame is of a package with probes.
func (n *Names) HasProbes(f *trace.Frame) bool {
	_, some := n.probed[n.packageOf(f)]
	return some
}

// Probes reports whether a package has probes of which a function is, by its name.
func (n *Names) Probes(function string) bool {
	_, some := n.probed[names.PackageOf(function)]
	return some
}

// packageOf is the package in whose text a frame is. A closure of a function that is inlined has
// the name of where it is inlined: main.f.Keys[...].func1 is in package maps.
func (n *Names) packageOf(f *trace.Frame) string {
	if n.std != "" {
		if file, ok := strings.CutPrefix(f.File, n.std); ok {
			return path.Dir(file)
		}
	}
	return n.t.PackageOf(f.Function)
}

// IsOwn reports whether a function is in a package with probes that is not a dependency's.
func (n *Names) IsOwn(function string) bool { return n.probed[n.t.PackageOf(function)] }

// IsOwnFile reports whether a file is neither a dependency's nor the standard library's.
func (n *Names) IsOwnFile(file string) bool {
	return !inModule.MatchString(file) && (n.std == "" || !strings.HasPrefix(file, n.std))
}

// inModule matches files of modules that were downloaded, or copied into a vendor folder.
var inModule = regexp.MustCompile(`@v[0-9]|(^|/)vendor/`)

// stdOf is the folder of the standard library's packages, told by the runtime's functions.
func stdOf(t *trace.Tables) string {
	for _, s := range t.Stacks {
		for _, f := range s {
			if at := strings.LastIndex(f.File, "/runtime/"); at > 0 && t.PackageOf(f.Function) == "runtime" {
				return f.File[:at+1]
			}
		}
	}
	return ""
}

// OfCollector reports whether a wait is for the garbage collector, wherever it is.
func OfCollector(reason string) bool {
	switch reason {
	case "stopping the world", "wait for GC cycle", "flushing proc caches", "garbage collection",
		"garbage collection scan", "force gc (idle)",
		"preempted": // so that its stack can be scanned
		return true
	}
	return strings.HasPrefix(reason, "GC ")
}

// MayWait reports whether an operation may wait.
func MayWait(op string) bool {
	switch op {
	case spec.OpLock, spec.OpRLock, spec.OpWait, spec.OpCondWait, spec.OpOnce, spec.OpSend, spec.OpReceive,
		spec.OpSelect, spec.OpAcquire:
		return true
	}
	return false
}

// EndsAll reports whether an operation ends all waits for its object at once.
func EndsAll(op string) bool { return op == spec.OpBroadcast || op == spec.OpClose }

// Kinds of objects.
const (
	KindLock      = "lock"
	KindChannel   = "channel"
	KindWaitGroup = "wait group"
	KindSemaphore = "semaphore"
	kindCond      = "cond"
)

// KindOf is the kind of object that has an operation.
func KindOf(op string) string {
	switch op {
	case spec.OpLock, spec.OpUnlock, spec.OpTryLock, spec.OpRLock, spec.OpRUnlock, spec.OpTryRLock:
		return KindLock
	case spec.OpAdd, spec.OpDone, spec.OpWait:
		return KindWaitGroup
	case spec.OpAcquire, spec.OpRelease:
		return KindSemaphore
	case spec.OpCondWait, spec.OpSignal, spec.OpBroadcast:
		return kindCond
	case spec.OpSend, spec.OpReceive, spec.OpClose:
		return KindChannel
	}
	return op
}
