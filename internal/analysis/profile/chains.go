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

// chains finds the chains at the end of the trace, cycles first.
func chains(r *replay.Replay) (list []Chain) {
	waiting := map[*replay.Object]int64{}
	held := func(g *replay.G) *replay.Object { // what it waits for, if somebody has that
		if g.State != trace.Waiting || g.System || g.Wait == nil {
			return nil
		}
		if ob := g.Wait.Object; ob != nil && !ob.Partly && len(ob.Holders) > 0 {
			return ob
		}
		return nil
	}
	all := slices.Clone(r.Goroutines())
	bySlot := map[trace.Slot]*replay.G{}
	for _, g := range all {
		if g.State != trace.None {
			bySlot[g.Slot] = g
			if ob := held(g); ob != nil {
				waiting[ob]++
			}
		}
	}
	seen := map[*replay.Object]bool{}
	for _, g := range all {
		if g.State == trace.None {
			continue
		}
		var c Chain
		var locks []*replay.Object
		for ob := held(g); ob != nil; {
			if i := slices.Index(locks, ob); i >= 0 {
				locks, c.Links, c.Cycle = locks[i:], c.Links[i:], true
				break
			}
			h := bySlot[ob.Holders[0].Slot]
			if seen[ob] || h == nil || h.State != trace.Waiting || h.Wait == nil {
				c.Links = nil // told of already, or it goes on
				break
			}
			locks, c.Links = append(locks, ob), append(c.Links, link(r, h, ob))
			ob = held(h)
		}
		for _, ob := range locks {
			if len(c.Links) > 0 {
				seen[ob] = true
				c.Waiting += waiting[ob]
			}
		}
		if c.Cycle {
			c.Waiting -= int64(len(c.Links))
		} else {
			c.Waiting -= int64(len(c.Links)) - 1
		}
		if len(c.Links) > 0 {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b Chain) int { return one(b.Cycle) - one(a.Cycle) })
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
