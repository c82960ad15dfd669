package replay

import (
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Object is the state of an address: its holders, as far as operations were recorded, and the
// number of waiting goroutines.
type Object struct {
	Address trace.Address
	ID      int             // dense: another object's once this one is forgotten
	Points  []trace.PointID // that operated on it, the first one first
	Partly  bool            // too few operations on it are events, so that they do not determine the holders
	Known   bool            // it was held once
	Holders []Holder
	// points with different names that were all about the object that is here now; none: as far as
	// is known one name
	Same    []trace.PointID
	Waiting int  // goroutines
	blinks  bool // its points were not always traced
	Unseen  bool // some operations on it may have no probe
}

// Holder is a goroutine that holds a lock, or reads under it.
type Holder struct {
	Slot trace.Slot
	Proc trace.PointID // that took it, NoPoint if not known
}

// InUse reports whether a goroutine holds the object or waits for it.
func (ob *Object) InUse() bool { return len(ob.Holders) > 0 || ob.Waiting > 0 }

// Operation is one with a synchronization object.
type Operation struct {
	Address trace.Address
	At      trace.Time
	Point   trace.PointID
}

// mostAddresses is the number of addresses kept at first. Beyond it, objects that no goroutine
// holds or waits for are forgotten, because otherwise memory would grow with the program's
// allocations.
const mostAddresses = 1 << 16

// objects is the table of the objects that are kept.
type objects struct {
	t         *trace.Tables
	byAddress map[trace.Address]*Object
	free      []int               // numbers of forgotten objects
	next      int                 // the least number that no object has had
	most      int                 // how many objects are kept until some are forgotten
	partly    map[string]bool     // locks by name of which too few operations are events
	blinks    map[string]bool     // and those of which some are not
	blinking  map[*Object]bool    // of these, objects that are held
	unseen    map[string]bool     // locks by name that have operations without a probe
	levels    []trace.LevelChange // those that are still to come
}

// partlyFrom is the share of operations without events from which on the others do not determine
// who holds a lock.
const partlyFrom = 0.01

func newObjects(t *trace.Tables) objects {
	o := objects{t: t, byAddress: map[trace.Address]*Object{}, most: mostAddresses, partly: map[string]bool{},
		blinks: map[string]bool{}, blinking: map[*Object]bool{}, unseen: Unseen(t), levels: t.Levels}
	hits, degraded := map[string]uint64{}, map[string]uint64{}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointSync && KindOf(p.Op) == KindLock && p.Hits > 0 {
			hits[p.Name] += t.Hits(trace.PointID(i)).Shown()
			degraded[p.Name] += t.Degraded(trace.PointID(i))
			o.partly[p.Name] = float64(degraded[p.Name]) > partlyFrom*float64(hits[p.Name])
			o.blinks[p.Name] = degraded[p.Name] > 0
		}
	}
	return o
}

// Unseen returns the names of the locks on which there are operations without a probe, in packages
// with probes.
func Unseen(t *trace.Tables) map[string]bool {
	unseen := map[string]bool{}
	for i := range t.Points {
		if p := &t.Points[i]; p.Flags&spec.FlagUnseen != 0 && KindOf(p.Op) == KindLock {
			unseen[p.Name] = true
		}
	}
	return unseen
}

// Objects calls f for every object that is kept, in no particular order.
func (r *Replay) Objects(f func(*Object)) {
	for _, ob := range r.objects.byAddress {
		f(ob)
	}
}

// Object returns the object at an address, nil if none is kept.
func (r *Replay) Object(a trace.Address) *Object { return r.objects.byAddress[a] }

// object returns the object at an address, and makes it if necessary. Others may be forgotten then.
func (r *Replay) object(a trace.Address) *Object {
	if ob := r.objects.byAddress[a]; ob != nil {
		return ob
	}
	if r.objects.full() {
		r.v.Forget()
		r.objects.forget()
	}
	return r.objects.add(a)
}

// full reports whether there are too many objects.
func (o *objects) full() bool { return len(o.byAddress) >= o.most }

// add makes the object at an address.
func (o *objects) add(a trace.Address) *Object {
	ob := &Object{Address: a}
	if n := len(o.free); n > 0 {
		ob.ID, o.free = o.free[n-1], o.free[:n-1]
	} else {
		ob.ID = o.next
		o.next++
	}
	o.byAddress[a] = ob
	return ob
}

// forget removes the objects that are not in use.
func (o *objects) forget() {
	for a, ob := range o.byAddress {
		if !ob.InUse() {
			delete(o.byAddress, a)
			o.free = append(o.free, ob.ID)
		}
	}
	o.most = max(mostAddresses, 2*len(o.byAddress))
}

// operated records that a point operated on an object.
func (o *objects) operated(ob *Object, point trace.PointID) {
	if slices.Contains(ob.Points, point) {
		return
	}
	ob.Points = append(ob.Points, point)
	name := o.t.Points[point].Name
	ob.Partly = ob.Partly || o.partly[name]
	ob.blinks = ob.blinks || o.blinks[name]
	ob.Unseen = ob.Unseen || o.unseen[name]
}

// acquired records that an object has got a holder.
func (o *objects) acquired(ob *Object) {
	if ob.blinks {
		o.blinking[ob] = true
	}
	ob.Known = true
}

// released records that it has lost one.
func (o *objects) released(ob *Object) {
	if len(ob.Holders) == 0 && ob.blinks {
		delete(o.blinking, ob)
	}
}

// heldNamed returns the locks of a name that are held, if some operations on them are no events.
func (o *objects) heldNamed(name string) (held []*Object) {
	for ob := range o.blinking {
		if slices.ContainsFunc(ob.Points, func(p trace.PointID) bool { return o.t.Points[p].Name == name }) {
			held = append(held, ob)
		}
	}
	slices.SortFunc(held, func(a, b *Object) int { return a.ID - b.ID })
	return held
}

// due takes the next change of a point's level up to a time. It returns nil if there is none.
func (o *objects) due(now trace.Time) *trace.LevelChange {
	if len(o.levels) == 0 || o.levels[0].Time > now {
		return nil
	}
	c := &o.levels[0]
	o.levels = o.levels[1:]
	return c
}

// BestPoint returns the point whose name an object gets: not that of a parameter, if there is
// another. It returns NoPoint if no operation on the object was recorded.
func (r *Replay) BestPoint(ob *Object) trace.PointID {
	if len(ob.Same) > 0 {
		return r.Names.declared(ob.Same)
	}
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

// NameAt returns the name of the object at an address that a goroutine waits for at a place, as far
// as it is known now. The object is nil if it is not known.
func (r *Replay) NameAt(stack trace.StackID, reason trace.ReasonID, ob *Object) string {
	if ob == nil {
		return r.Names.of(stack, reason, trace.NoPoint)
	}
	if p := r.Names.site(stack, reason); p != trace.NoPoint && r.Names.Among(ob.Same, p) {
		return r.T.Points[r.Names.declared(ob.Same)].Name
	}
	best := r.BestPoint(ob)
	if best != trace.NoPoint && !r.Names.mayName(best, stack, reason) {
		best = trace.NoPoint
		for _, p := range ob.Points {
			if r.Names.mayName(p, stack, reason) && (best == trace.NoPoint || r.betterName(p, best)) {
				best = p
			}
		}
	}
	return r.Names.of(stack, reason, best)
}

// operate processes a Sync event.
func (r *Replay) operate(e *trace.Event) {
	op := e.Sync()
	g, ob := r.gs[e.Slot], r.object(op.Object)
	r.objects.operated(ob, op.Point)
	r.joinWoken(g, op.Object, op.Point)
	r.v.Sync(g, ob, op, e.Time)
	g.Did = Operation{op.Object, e.Time, op.Point}
	switch r.T.Points[op.Point].Op {
	case spec.OpLock, spec.OpTryLock, spec.OpRLock, spec.OpTryRLock:
		r.acquire(g, e.Time, op.Object, op.Point)
	case spec.OpUnlock, spec.OpRUnlock:
		r.release(g, e.Time, op.Object, Unlocked)
	}
}
