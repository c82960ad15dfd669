package profile

import (
	"slices"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// heldLock is what a goroutine knows of a lock that it holds.
type heldLock struct {
	addr  uint64
	point int32    // that took it
	use   *lockUse // the point's, or its own as long as it is not sure that all of it belongs there
	again bool     // it holds another of that name, too
}

// mostHeld bounds the locks that a goroutine may hold, and mostReaders the goroutines that
// read under one: those that were first gave it back where nobody saw it.
const (
	mostHeld    = 64
	mostReaders = 1024
)

func (b *builder) shared(point int32) bool {
	op := b.t.Points[point].Op
	return op == spec.OpRLock || op == spec.OpTryRLock
}

// operate takes in a Sync event: what goroutines hold, and what the object's waiters are
// to be blamed on.
func (b *builder) operate(e *trace.Event) {
	point, ob := int32(e.Arg), b.objects.at(e.Obj)
	if !slices.Contains(ob.points, point) {
		ob.points = append(ob.points, point)
		ob.partly = ob.partly || b.objects.partly[b.t.Points[point].Name]
	}
	ob.longestQueue = max(ob.longestQueue, int(e.Aux))
	b.gs[e.Slot].did = operation{e.Obj, e.Time, point}
	switch b.t.Points[point].Op {
	case spec.OpLock, spec.OpTryLock, spec.OpRLock, spec.OpTryRLock:
		b.acquire(e.Slot, e.Time, e.Obj, point)
	case spec.OpUnlock, spec.OpRUnlock:
		b.release(e.Slot, e.Time, e.Obj, true)
	}
}

// acquire says that a goroutine holds a lock from now on.
func (b *builder) acquire(slot int32, now int64, addr uint64, point int32) {
	g, most := &b.gs[slot], 1
	if b.shared(point) {
		most = mostReaders
	}
	if len(g.held) == mostHeld {
		b.release(slot, now, g.held[0].addr, false)
	}
	ob := b.objects.at(addr)
	for len(ob.holders) >= most { // what was held was given back unseen
		b.release(ob.holders[0].slot, now, addr, false)
		ob.freed = -1
	}
	b.settle(g, now)
	ob.take(now, holder{slot, b.operates(g, point)})
	name := b.t.Points[point].Name
	again := slices.ContainsFunc(g.held, func(o heldLock) bool { return b.t.Points[o.point].Name == name })
	use := b.objects.use(point)
	if ob.partly {
		use = new(lockUse)
	}
	g.held = append(g.held, heldLock{addr, point, use, again})
	if g.lent.addr == addr {
		g.lent = heldLock{}
	}
}

// release says that a goroutine gives a lock back: its own, or another one's. Where that
// was not seen it was earlier, and nobody knows when.
func (b *builder) release(slot int32, now int64, addr uint64, seen bool) {
	if g := &b.gs[slot]; g.lent.addr == addr {
		g.lent = heldLock{} // it took it again unseen
	}
	if holds := b.objects.at(addr).free(now, slot, seen); holds >= 0 {
		slot = holds
	}
	g := &b.gs[slot]
	b.settle(g, now)
	for i, h := range slices.Backward(g.held) {
		if h.addr != addr {
			continue
		}
		if use := b.objects.use(h.point); seen && use != h.use {
			use.self.add(&h.use.self)
			use.all.add(&h.use.all)
		}
		g.held = slices.Delete(g.held, i, i+1)
		for k := range g.held[i:] {
			q := &g.held[i+k]
			if q.again && b.t.Points[q.point].Name == b.t.Points[h.point].Name {
				q.again = h.again
				break
			}
		}
		break
	}
}

// lend and regain are what [sync.Cond.Wait] does with its lock, which is the one taken
// last: no probe sees it.
func (b *builder) lend(slot int32, now int64) {
	if g := &b.gs[slot]; len(g.held) > 0 {
		h := g.held[len(g.held)-1]
		b.release(slot, now, h.addr, true)
		g.lent = h
	}
}

func (b *builder) regain(slot int32, now int64) {
	if h := b.gs[slot].lent; h.addr != 0 && len(b.objects.at(h.addr).holders) == 0 {
		b.acquire(slot, now, h.addr, h.point)
	}
}

// dies says that a goroutine has ended. A lock for writing another may unlock; for reading
// it was unlocked where nobody saw it.
func (b *builder) dies(slot int32, now int64) {
	for _, h := range slices.Clone(b.gs[slot].held) {
		if b.shared(h.point) {
			b.release(slot, now, h.addr, false)
		}
	}
}

// operation is one with a synchronization object.
type operation struct {
	addr  uint64
	at    int64 // ns
	point int32
}

// operates is the procedure in which a goroutine is that operates at a point: the point's
// own, where calls of that were not all traced, for then no event tells that it was entered.
func (b *builder) operates(g *gor, point int32) int32 {
	top := b.at(g).top
	owner := b.t.Points[point].Owner
	if owner == top || owner < 0 || int(owner) >= len(b.t.Points) {
		return top
	}
	if p := &b.t.Points[owner]; p.Kind != spec.PointProc || p.Degraded() == 0 {
		return top
	}
	return owner
}

// wakes is the procedure in which a goroutine ends a wait: that of the operation that it
// just did, or, where that is no event, one whose calls are none either.
func (b *builder) wakes(g *gor, e *trace.Event) int32 {
	did := &g.did
	w, ok := b.objects.open[e.Slot]
	if ok && w.key.addr != 0 && w.key.addr == did.addr && e.Time-did.at < togetherNS {
		return b.operates(g, did.point)
	}
	if ok && w.queue != nil && len(b.objects.owners) > 0 {
		return b.ownerAt(g.place, b.objects.owners[b.objects.calledAt(w)])
	}
	return b.at(g).top
}

// ownerAt is the procedure that operates on an object, of those that do, where events tell
// that a goroutine is in a place: the place's own, the only one whose calls are not all
// events, or of several such the one in which samples found goroutines there most often.
func (b *builder) ownerAt(place int32, owners []int32) int32 {
	top := b.places.list[place].top
	if slices.Contains(owners, top) {
		return top
	}
	best, most := top, 0.0
	found := b.sampled.places[place]
	var others int
	for _, proc := range owners {
		if b.t.Points[proc].Degraded() == 0 {
			continue // an event would tell
		}
		if others++; others == 1 {
			best = proc // the only one, so far
		}
		if found != nil && found.within[proc] > most {
			best, most = proc, found.within[proc]
		}
	}
	if others > 1 && most == 0 {
		return top
	}
	return best
}

// noteOwner notes whose operations on objects of a name are not all events.
func (o *objects) noteOwner(p *trace.Point) {
	if i := int(p.Owner); i >= 0 && i < len(o.t.Points) && o.t.Points[i].Kind == spec.PointProc && !slices.Contains(o.owners[p.Name], p.Owner) {
		o.owners[p.Name] = append(o.owners[p.Name], p.Owner)
	}
}

// calledAt is what an object is called as long as not all is known.
func (o *objects) calledAt(w wait) string {
	if name := o.strongSite(w.key); name != "" || w.queue.of == nil || len(w.queue.of.points) == 0 {
		return name
	}
	return o.t.Points[w.queue.of.points[0]].Name
}

// spendHeld accounts a goroutine's time to the locks that it holds: of one name once.
func (b *builder) spendHeld(g *gor, s stretch) {
	for k := range g.held {
		h := &g.held[k]
		if !h.again {
			h.use.all.spend(g, s)
		}
		if k == len(g.held)-1 {
			h.use.self.spend(g, s)
		}
	}
}

// lockUse is what goroutines used while they held a lock taken at one point: self where
// no lock was taken later.
type lockUse struct{ self, all Usage }

func (o *objects) use(point int32) *lockUse {
	u := o.uses[point]
	if u == nil {
		u = new(lockUse)
		o.uses[point] = u
	}
	return u
}
