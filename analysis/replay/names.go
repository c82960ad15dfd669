package replay

import (
	"strings"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// Names names the objects that goroutines wait for: by the place of the wait, by the name that
// operations give the object, or by the runtime's reason.
type Names struct {
	t       *trace.Tables
	sites   map[site]trace.PointID // sync points by place
	places  map[place]string       // the name that the place of a wait gives its object
	callers map[trace.StackID]caller
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
	n := &Names{t: t, sites: map[site]trace.PointID{}, places: map[place]string{}, callers: map[trace.StackID]caller{}}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointSync || p.Kind == spec.PointSite {
			at := site{p.File, p.Line}
			if old, ok := n.sites[at]; !ok || !MayWait(t.Points[old].Op) {
				n.sites[at] = trace.PointID(i)
			}
		}
	}
	return n
}

// Of returns the name of the object that a goroutine waits for in a stack. best is the point
// whose name the object has, NoPoint if it is not known.
func (n *Names) Of(stack trace.StackID, reason trace.ReasonID, best trace.PointID) string {
	if name := n.ofRuntime(stack, reason); name != "" {
		return name
	}
	f, ok := n.Caller(stack)
	p, atSite := trace.PointID(0), false
	if ok {
		p, atSite = n.sites[site{f.File, f.Line}]
	}
	if atSite && n.strong(p) {
		return n.t.Points[p].Name
	}
	if best != trace.NoPoint {
		return n.t.Points[best].Name
	}
	switch {
	case atSite:
		return n.t.Points[p].Name
	case ok:
		return n.t.Reason(reason) + " in " + f.Function
	}
	return n.t.Reason(reason)
}

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
	if f, ok := n.Caller(stack); ok {
		if p, ok := n.sites[site{f.File, f.Line}]; ok && n.strong(p) {
			return n.t.Points[p].Name
		}
	}
	return ""
}

// ofRuntime returns the name of a wait that is the runtime's own, "" if it is none. An allocation may have to
// wait for the start of a collection, and its procedure has nothing to do with that.
func (n *Names) ofRuntime(stack trace.StackID, reason trace.ReasonID) string {
	r := n.t.Reason(reason)
	if OfCollector(r) {
		return r
	}
	if r != "semacquire" || int(stack) >= len(n.t.Stacks) {
		return "" // package sync's semaphores have reasons of their own, but for those of files
	}
	for _, f := range n.t.Stacks[stack] {
		name, own := strings.CutPrefix(f.Function, "runtime.")
		if !own {
			return ""
		}
		if !strings.HasPrefix(name, "sem") && !strings.HasPrefix(name, "gopark") {
			return r + " in " + f.Function
		}
	}
	return ""
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
		pkg := f.Function
		if slash := strings.LastIndexByte(pkg, '/'); slash >= 0 {
			pkg = pkg[:slash] + strings.Replace(pkg[slash:], ".", "\x00", 1)
		} else {
			pkg = strings.Replace(pkg, ".", "\x00", 1)
		}
		pkg, _, _ = strings.Cut(pkg, "\x00")
		switch pkg {
		case "runtime", "sync", "internal/sync", "internal/poll", "time":
			continue
		}
		return f, true
	}
	return trace.Frame{}, false
}

// OfCollector reports whether a wait is for the garbage collector, wherever it is.
func OfCollector(reason string) bool {
	switch reason {
	case "stopping the world", "wait for GC cycle", "flushing proc caches", "garbage collection", "garbage collection scan", "force gc (idle)":
		return true
	}
	return strings.HasPrefix(reason, "GC ")
}

// MayWait reports whether an operation may wait.
func MayWait(op string) bool {
	switch op {
	case spec.OpLock, spec.OpRLock, spec.OpWait, spec.OpCondWait, spec.OpOnce, spec.OpSend, spec.OpReceive, spec.OpSelect:
		return true
	}
	return false
}

// KindLock is the kind of objects that are locked and unlocked.
const KindLock = "lock"

// KindOf is the kind of object that has an operation.
func KindOf(op string) string {
	switch op {
	case spec.OpLock, spec.OpUnlock, spec.OpTryLock, spec.OpRLock, spec.OpRUnlock, spec.OpTryRLock:
		return KindLock
	case spec.OpAdd, spec.OpDone, spec.OpWait:
		return "wait group"
	case spec.OpCondWait, spec.OpSignal, spec.OpBroadcast:
		return "cond"
	case spec.OpSend, spec.OpReceive, spec.OpClose:
		return "channel"
	}
	return op
}
