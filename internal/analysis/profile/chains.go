package profile

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Chain is why goroutines wait for a lock at the end: each has what the one before waits for, and
// waits itself, for the lock of the next one or something else.
type Chain struct {
	Links []Link `json:"links"`
	// Cycle: the last one waits for what the first one has, so that none of them can go on.
	Cycle bool `json:"cycle"`
	// Waiting is how many others wait for one of these locks.
	Waiting int64 `json:"waiting"`
}

// Link is a goroutine that has a lock and waits.
type Link struct {
	Goroutine string `json:"goroutine"` // its function
	Has       string `json:"has"`
	Taken     Place  `json:"taken"`
	For       string `json:"for"`          // the runtime's reason of its wait
	On        string `json:"on,omitempty"` // the object
	Waits     Place  `json:"waits"`
	Since     int64  `json:"since_ns"`
}

// Place is a line of a procedure.
type Place struct {
	In   string `json:"in,omitempty"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// chaser follows from locks that goroutines wait for to what their holders wait for.
type chaser struct {
	r       *replay.Replay
	bySlot  map[trace.Slot]*replay.G
	waiting map[*replay.Object]int64 // how many goroutines wait for a lock that somebody has
	seen    map[*replay.Object]bool
}

// chains finds the chains at the end of the trace, cycles first: the longest one to each goroutine,
// or cycle, that the others wait for in the end.
func chains(r *replay.Replay) (list []Chain) {
	c := chaser{r, map[trace.Slot]*replay.G{}, map[*replay.Object]int64{}, map[*replay.Object]bool{}}
	var order []*replay.Object
	for _, g := range r.Goroutines() {
		if g.State == trace.None {
			continue
		}
		c.bySlot[g.Slot] = g
		if ob := hasHolder(g); ob != nil {
			if c.waiting[ob]++; c.waiting[ob] == 1 {
				order = append(order, ob)
			}
		}
	}
	inner := map[*replay.Object]bool{} // a chain leads to it
	for _, ob := range order {
		if next := c.next(ob); next != nil {
			inner[next] = true
		}
	}
	slices.SortStableFunc(order, func(a, b *replay.Object) int { return one(inner[a]) - one(inner[b]) })
	at := map[*replay.Object]int{} // in the list, by the last lock, or by the least one of a cycle
	for _, ob := range order {
		if c.seen[ob] {
			continue
		}
		locks, end, waiting := c.follow(ob)
		if end == nil {
			continue
		}
		i, known := at[end]
		if !known {
			i, at[end] = len(list), len(list)
			list = append(list, Chain{Cycle: c.next(end) != nil})
		}
		x := &list[i]
		if x.Waiting += waiting; len(locks) > len(x.Links) {
			x.Links = c.links(locks)
		}
	}
	for i := range list { // not those of the chain itself, of which the last one of no cycle waits for no lock
		x := &list[i]
		x.Waiting -= int64(len(x.Links) - 1 + one(x.Cycle))
	}
	slices.SortStableFunc(list, func(a, b Chain) int { return one(b.Cycle) - one(a.Cycle) })
	return list
}

// hasHolder is the lock that a goroutine waits for and somebody has; nil: it waits for none.
func hasHolder(g *replay.G) *replay.Object {
	if g.State != trace.Waiting || g.System || g.Wait == nil {
		return nil
	}
	if ob := g.Wait.Object; ob != nil && !ob.Partly && len(ob.Holders) > 0 {
		return ob
	}
	return nil
}

// holder is the goroutine that has a lock and waits; nil: it goes on, or has ended. Its slot may be
// that of another goroutine then, which has no such lock.
func (c *chaser) holder(ob *replay.Object) *replay.G {
	h := c.bySlot[ob.Holders[0].Slot]
	if h == nil || h.State != trace.Waiting || h.Wait == nil || !h.Has(ob.Address) {
		return nil
	}
	return h
}

// next is the lock that the holder of one waits for; nil: it waits for something else, or goes on.
func (c *chaser) next(ob *replay.Object) *replay.Object {
	if h := c.holder(ob); h != nil {
		return hasHolder(h)
	}
	return nil
}

// follow goes from a lock to the end. It returns the chain, of a cycle only that; what is the same
// for all chains with this end, nil if who has the last lock goes on; and how many goroutines wait
// for locks that were not seen before.
func (c *chaser) follow(ob *replay.Object) (locks []*replay.Object, end *replay.Object, waiting int64) {
	at := map[*replay.Object]int{}
	for ; ob != nil; ob = c.next(ob) {
		if i, again := at[ob]; again {
			locks = locks[i:]
			return locks, slices.MinFunc(locks, func(a, b *replay.Object) int { return a.ID - b.ID }), waiting
		}
		if !c.seen[ob] {
			c.seen[ob] = true
			waiting += c.waiting[ob]
		}
		at[ob], locks, end = len(locks), append(locks, ob), ob
	}
	if c.holder(end) == nil {
		return nil, nil, 0
	}
	return locks, end, waiting
}

// links are the goroutines that have these locks.
func (c *chaser) links(locks []*replay.Object) (list []Link) {
	for _, ob := range locks {
		list = append(list, link(c.r, c.holder(ob), ob))
	}
	return list
}

// link is a goroutine that has a lock and waits.
func link(r *replay.Replay, g *replay.G, ob *replay.Object) Link {
	l := Link{For: r.T.Reason(g.Wait.Reason), Since: int64(g.Wait.Since),
		On: r.NameAt(g.Wait.Stack, g.Wait.Reason, g.Wait.Object)}
	own := r.Names.Own(g.Wait.Stack)
	l.Waits = Place{own.Function, own.File, own.Line}
	if group := r.Contexts.Node(g.Context).Group; group != replay.NoGroup {
		l.Goroutine = r.Groups.Origin(group).Name
	}
	for _, h := range g.Held {
		if h.Address == ob.Address {
			l.Has, l.Taken = r.T.Points[h.Point].Name, takenAt(r, h)
		}
	}
	return l
}

// takenAt is where a goroutine took a lock.
func takenAt(r *replay.Replay, h replay.Held) Place {
	pt := &r.T.Points[h.Point]
	at := Place{File: pt.File, Line: pt.Line}
	if pt.Owner >= 0 && int(pt.Owner) < len(r.T.Points) && r.T.Points[pt.Owner].Kind == spec.PointProc {
		at.In = r.T.Points[pt.Owner].Name
	}
	return at
}
