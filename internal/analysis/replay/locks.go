package replay

import (
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Held is the record that a goroutine has of a lock that it holds.
type Held struct {
	Address trace.Address
	Point   trace.PointID // that took it
	Again   bool          // it holds another of that name, too
}

// Locks are those that a goroutine holds.
type Locks struct {
	Held []Held // in the order in which they were taken
	lent Held   // given back while it waits for a condition; its Address is 0 if there is none
}

// newHold is the record of a lock that the goroutine takes now at a point.
func (l *Locks) newHold(t *trace.Tables, addr trace.Address, point trace.PointID) Held {
	name := t.Points[point].Name
	return Held{addr, point, slices.ContainsFunc(l.Held, func(o Held) bool { return t.Points[o.Point].Name == name })}
}

// holdOf returns the index of the hold of a lock, of several the last one, and -1 if there is none.
func (l *Locks) holdOf(addr trace.Address) int {
	held := len(l.Held) - 1
	for held >= 0 && l.Held[held].Address != addr {
		held--
	}
	return held
}

// Has reports whether the goroutine holds a lock.
func (l *Locks) Has(addr trace.Address) bool { return l.holdOf(addr) >= 0 }

// hold adds a hold.
func (l *Locks) hold(h Held) {
	l.Held = append(l.Held, h)
	l.unlend(h.Address)
}

// unlend records that a lock is no longer lent, if it was.
func (l *Locks) unlend(addr trace.Address) {
	if l.lent.Address == addr {
		l.lent = Held{}
	}
}

// drop removes a hold. If another one of its name was not the first because of it, it is now.
func (l *Locks) drop(t *trace.Tables, held int) {
	h := l.Held[held]
	l.Held = slices.Delete(l.Held, held, held+1)
	for k := range l.Held[held:] {
		q := &l.Held[held+k]
		if q.Again && t.Points[q.Point].Name == t.Points[h.Point].Name {
			q.Again = h.Again
			break
		}
	}
}

// Release is the way in which a lock is given back.
type Release uint8

// The ways in which a lock is given back. If the operation was not recorded, the release was
// earlier, at an unknown time.
const (
	Unlocked  Release = iota // by an operation
	Unnoticed                // without one
	Overtaken                // not seen: another goroutine has it now
)

// mostHeld bounds the locks that a goroutine may hold, and mostReaders the goroutines that read
// under one lock. Beyond the bound the oldest hold is taken to have ended unseen, because
// otherwise unseen releases would make the lists grow with the run.
const (
	mostHeld    = 64
	mostReaders = 1024
)

// Shared reports whether a point takes a lock for reading.
func (r *Replay) Shared(p trace.PointID) bool {
	op := r.T.Points[p].Op
	return op == spec.OpRLock || op == spec.OpTryRLock
}

// acquire records that a goroutine holds a lock after this.
func (r *Replay) acquire(g *G, now trace.Time, addr trace.Address, point trace.PointID) {
	most := 1
	if r.Shared(point) {
		most = mostReaders
	}
	if len(g.Held) == mostHeld {
		r.release(g, now, g.Held[0].Address, Unnoticed)
	}
	ob := r.object(addr)
	for len(ob.Holders) >= most {
		r.release(r.gs[ob.Holders[0].Slot], now, addr, Overtaken)
	}
	r.Settle(g, now)
	h := g.newHold(r.T, addr, point)
	holder := Holder{g.Slot, r.Operates(g, point)}
	r.v.Acquire(g, ob, holder, h, now)
	ob.Holders = append(ob.Holders, holder)
	r.objects.acquired(ob)
	g.hold(h)
}

// release records that a lock is given back by its holder or by another goroutine, because any
// goroutine may unlock: then the hold is its holder's. If some operations have no probe, another
// goroutine is more likely to have taken the lock unseen.
func (r *Replay) release(g *G, now trace.Time, addr trace.Address, how Release) {
	g.unlend(addr) // if it was lent, it was taken again unseen
	ob := r.object(addr)
	holder := slices.IndexFunc(ob.Holders, func(h Holder) bool { return h.Slot == g.Slot })
	if holder < 0 {
		holder = len(ob.Holders) - 1
		if ob.Unseen && how == Unlocked {
			how = Unnoticed
		}
	}
	if holder >= 0 {
		g = r.gs[ob.Holders[holder].Slot]
	}
	held := g.holdOf(addr)
	r.Settle(g, now)
	r.v.Release(g, ob, held, how, now)
	if holder >= 0 {
		ob.Holders = slices.Delete(ob.Holders, holder, holder+1)
		r.objects.released(ob)
	}
	if held >= 0 {
		g.drop(r.T, held)
	}
}

// blink processes a change of a point's level. A goroutine that holds its objects after that is not
// known, because what they did meanwhile has no event: a hold that ended unseen would otherwise
// last until the next time that somebody looks.
func (r *Replay) blink(c *trace.LevelChange) {
	if int(c.Point) >= len(r.T.Points) || r.T.Points[c.Point].Kind != spec.PointSync {
		return
	}
	for _, ob := range r.objects.heldNamed(r.T.Points[c.Point].Name) {
		for len(ob.Holders) > 0 {
			r.release(r.gs[ob.Holders[0].Slot], c.Time, ob.Address, Unnoticed)
		}
	}
}

// lend and regain stand for the operations of [sync.Cond.Wait] on its lock, which no probe sees.
// The lock is assumed to be the one taken last.
func (r *Replay) lend(g *G, now trace.Time) {
	if len(g.Held) > 0 {
		h := g.Held[len(g.Held)-1]
		r.release(g, now, h.Address, Unlocked)
		g.lent = h
	}
}

func (r *Replay) regain(g *G, now trace.Time) {
	if h := g.lent; h.Address != 0 && len(r.object(h.Address).Holders) == 0 {
		r.acquire(g, now, h.Address, h.Point)
	}
}

// dies records the end of a goroutine. A lock for writing stays held, because another goroutine
// may unlock it; a lock for reading must have been unlocked unseen.
func (r *Replay) dies(g *G, now trace.Time) {
	for _, h := range slices.Clone(g.Held) {
		if r.Shared(h.Point) {
			r.release(g, now, h.Address, Unnoticed)
		}
	}
}

// Operates returns the procedure of a goroutine that operates at a point. It is the point's own
// if calls of that procedure were not all traced, because then no event shows that it was
// entered, or if its deferred calls run after its exit.
func (r *Replay) Operates(g *G, point trace.PointID) trace.PointID {
	top := r.Contexts.list[g.Context].Proc
	owner := r.T.Points[point].Owner
	if owner == top || owner < 0 || int(owner) >= len(r.T.Points) {
		return top
	}
	if p := &r.T.Points[owner]; p.Kind != spec.PointProc || p.Degraded() == 0 && p.Flags&spec.FlagLateDefer == 0 {
		return top
	}
	return owner
}
