package replay

import (
	"slices"
	"strings"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// An object may have two names: a channel is made as a variable, and reaches its other side through
// a field, an element or an interface. Its address alone does not show, because addresses are
// reused. But who waits for an object and who ends that wait by an operation on the same address
// are at one object. So their names are joined, for this address.

// woke is a wait that a goroutine has ended, until its next operation or wait shows by which name
// it knows the object.
type woke struct {
	object trace.Address
	at     trace.PointID // of the wait
}

// joinWaker joins the name that the place of a wait gives its object with that which the waker has
// for it. An operation on the address since the wait began was on the same object. Otherwise the
// operation's event is after it.
func (r *Replay) joinWaker(by *G, w *Wait) {
	at := r.Names.site(w.Stack, w.Reason)
	if at == trace.NoPoint {
		return
	}
	if by.Did.Address == w.Address && by.Did.At >= w.Since {
		r.join(w.Object, at, by.Did.Point)
		return
	}
	by.woke = woke{w.Address, at}
}

// joinWoken is called when a goroutine operates on an object at a point, or waits for it.
func (r *Replay) joinWoken(g *G, object trace.Address, at trace.PointID) {
	if g.woke.object == object && object != 0 && at != trace.NoPoint {
		r.join(r.object(object), g.woke.at, at)
	}
	g.woke = woke{}
}

// join notes that two points were about the object that is at an address.
func (r *Replay) join(ob *Object, p, q trace.PointID) {
	n := r.Names
	if n.t.Points[p].Name == n.t.Points[q].Name || KindOf(n.t.Points[p].Op) != KindOf(n.t.Points[q].Op) || !n.one(p) ||
		!n.one(q) {
		return
	}
	for _, point := range []trace.PointID{p, q} {
		if !n.Among(ob.Same, point) {
			ob.Same = append(ob.Same, point)
		}
	}
}

// one reports whether a point's operation is on one object, which its name is of.
func (n *Names) one(p trace.PointID) bool {
	op := n.t.Points[p].Op
	return op != spec.OpSelect && op != spec.OpDefault
}

// Among reports whether one of the points has a point's name.
func (n *Names) Among(points []trace.PointID, p trace.PointID) bool {
	return slices.ContainsFunc(points, func(q trace.PointID) bool { return n.t.Points[q].Name == n.t.Points[p].Name })
}

// declared returns the point with the name of the variable that an object was declared as, rather
// than of a place where it is used.
func (n *Names) declared(points []trace.PointID) trace.PointID {
	return slices.MinFunc(points, func(p, q trace.PointID) int {
		if a, b := n.distance(p), n.distance(q); a != b {
			return a - b
		}
		return strings.Compare(n.t.Points[p].Name, n.t.Points[q].Name)
	})
}

// distance is how far a point's name may be from the declaration of its object: a variable of a
// package or of a function, a field, an element, a parameter or interface.
func (n *Names) distance(p trace.PointID) int {
	pt := &n.t.Points[p]
	owner := pt.Name[:max(0, strings.LastIndexByte(pt.Name, '.'))]
	switch {
	case pt.Flags&spec.FlagWeakName != 0:
		return 3
	case strings.HasSuffix(pt.Name, "[...]"):
		return 2
	case strings.HasSuffix(owner, ")") && !n.procs[owner]:
		return 1
	}
	return 0
}

// site returns the point at the place of a wait, NoPoint if there is none.
func (n *Names) site(stack trace.StackID, reason trace.ReasonID) trace.PointID {
	at := place{stack, reason}
	p, ok := n.points[at]
	if !ok {
		p = n.findSite(stack, reason)
		n.points[at] = p
	}
	return p
}

func (n *Names) findSite(stack trace.StackID, reason trace.ReasonID) trace.PointID {
	if f, ok := n.Caller(stack); ok {
		if p, ok := n.sites[site{f.File, f.Line}]; ok && waitsFor(n.t.Reason(reason), n.t.Points[p].Op) {
			return p
		}
	}
	return trace.NoPoint
}

// waitsFor reports whether a wait for a reason may be that of an operation. Something else on its
// line may wait, too: an allocation for the collector.
func waitsFor(reason, op string) bool {
	switch {
	case strings.HasPrefix(reason, "chan "), strings.HasPrefix(reason, "select"):
		return op == spec.OpSelect || KindOf(op) == KindChannel
	case strings.Contains(reason, "Mutex"):
		return op == spec.OpOnce || KindOf(op) == KindLock
	case strings.Contains(reason, "WaitGroup"):
		return KindOf(op) == KindWaitGroup
	}
	return op == spec.OpCondWait && strings.Contains(reason, "Cond")
}
