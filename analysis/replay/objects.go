package replay

import (
	"slices"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// Object is what has an address: who holds it, as far as operations tell, and who waits.
type Object struct {
	Address trace.Address
	ID      int             // dense: another object's once this one is forgotten
	Points  []trace.PointID // that operated on it, the first one first
	Partly  bool            // of some of those not all operations are events: who holds it is not known from them
	Known   bool            // it was held once
	Holders []Holder
	waiting int
}

// Holder is a goroutine that holds a lock, or reads under it.
type Holder struct {
	Slot trace.Slot
	Proc trace.PointID // that took it, NoPoint if not known
}

// InUse reports whether somebody holds it or waits for it.
func (ob *Object) InUse() bool { return len(ob.Holders) > 0 || ob.waiting > 0 }

// Operation is one with a synchronization object.
type Operation struct {
	Address trace.Address
	At      trace.Time
	Point   trace.PointID
}

// Wait is one of a goroutine's.
type Wait struct {
	Object  *Object       // nil while, and where, it is not known: a select's is known at its end
	Address trace.Address // likewise, 0
	Stack   trace.StackID
	Reason  trace.ReasonID
	In      trace.PointID // innermost procedure, NoPoint for none
	Since   trace.Time
}

// Waker is who ended a wait: a goroutine, or what Cause says.
type Waker struct {
	G     *G // nil: none
	Cause trace.Cause
}

// mostAddresses is how many addresses are kept apart at first. What nobody holds or waits for
// is forgotten beyond it, since addresses may be as many as allocations.
const mostAddresses = 1 << 16

// objects are those that are kept.
type objects struct {
	byAddress map[trace.Address]*Object
	free      []int
	next      int
	most      int
	partly    map[string]bool // locks by name: not all operations on them are events
}

func newObjects(t *trace.Tables) objects {
	o := objects{byAddress: map[trace.Address]*Object{}, most: mostAddresses, partly: map[string]bool{}}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointSync && KindOf(p.Op) == KindLock && p.Degraded() > 0 {
			o.partly[p.Name] = true
		}
	}
	return o
}

// Objects calls f for every object that is kept, in no order.
func (r *Replay) Objects(f func(*Object)) {
	for _, ob := range r.objects.byAddress {
		f(ob)
	}
}

// Object is what is kept of an address, nil if nothing is.
func (r *Replay) Object(a trace.Address) *Object { return r.objects.byAddress[a] }

// object is what is kept of an address from now on.
func (r *Replay) object(a trace.Address) *Object {
	o := &r.objects
	ob := o.byAddress[a]
	if ob != nil {
		return ob
	}
	if len(o.byAddress) >= o.most {
		r.forget()
	}
	ob = &Object{Address: a}
	if n := len(o.free); n > 0 {
		ob.ID, o.free = o.free[n-1], o.free[:n-1]
	} else {
		ob.ID = o.next
		o.next++
	}
	o.byAddress[a] = ob
	return ob
}

// forget makes room for objects.
func (r *Replay) forget() {
	r.v.Forget()
	o := &r.objects
	for a, ob := range o.byAddress {
		if !ob.InUse() {
			delete(o.byAddress, a)
			o.free = append(o.free, ob.ID)
		}
	}
	o.most = max(mostAddresses, 2*len(o.byAddress))
}

// waitFor begins a wait.
func (r *Replay) waitFor(g *G, e *trace.Event) {
	if g.System || g.token() {
		return
	}
	w := e.Wait()
	g.wait = Wait{Address: w.Object, Stack: w.Stack, Reason: w.Reason, In: r.Contexts.list[g.waits].Proc, Since: e.Time}
	g.Wait = &g.wait
	if w.Object != 0 {
		g.wait.Object = r.object(w.Object)
		g.wait.Object.waiting++
	}
	r.v.Wait(g)
}

// wake ends it.
func (r *Replay) wake(g *G, e *trace.Event) {
	by := Waker{r.g(e.By), e.Cause}
	if by.G != nil {
		r.Settle(by.G, e.Time)
	}
	w := g.Wait
	g.Wait = nil
	if w.Object != nil {
		w.Object.waiting--
	} else if a := e.Woken(); a != 0 {
		w.Address, w.Object = a, r.object(a)
	}
	r.v.Wake(g, w, by, e.Time)
}

// BestPoint is the point whose name an object gets: not that of a parameter, if there is
// another. NoPoint: nobody operated on it.
func (r *Replay) BestPoint(ob *Object) trace.PointID {
	best := trace.NoPoint
	for _, p := range ob.Points {
		if best == trace.NoPoint || r.betterName(p, best) {
			best = p
		}
	}
	return best
}

func (r *Replay) betterName(p, q trace.PointID) bool {
	a, b := &r.T.Points[p], &r.T.Points[q]
	if x, y := a.Flags&spec.FlagWeakName, b.Flags&spec.FlagWeakName; x != y {
		return x < y
	}
	return p < q
}

// NameOf names what a goroutine waits for, as far as is known so far.
func (r *Replay) NameOf(w *Wait) string {
	best := trace.NoPoint
	if w.Object != nil {
		best = r.BestPoint(w.Object)
	}
	return r.Names.Of(w.Stack, w.Reason, best)
}

// operate takes in a Sync event.
func (r *Replay) operate(e *trace.Event) {
	op := e.Sync()
	g, ob := r.gs[e.Slot], r.object(op.Object)
	if !slices.Contains(ob.Points, op.Point) {
		ob.Points = append(ob.Points, op.Point)
		ob.Partly = ob.Partly || r.objects.partly[r.T.Points[op.Point].Name]
	}
	r.v.Sync(g, ob, op)
	g.Did = Operation{op.Object, e.Time, op.Point}
	switch r.T.Points[op.Point].Op {
	case spec.OpLock, spec.OpTryLock, spec.OpRLock, spec.OpTryRLock:
		r.acquire(g, e.Time, op.Object, op.Point)
	case spec.OpUnlock, spec.OpRUnlock:
		r.release(g, e.Time, op.Object, Unlocked)
	}
}
