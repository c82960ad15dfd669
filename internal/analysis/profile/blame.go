package profile

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// blame divides the time of waits among those who caused them (ADR 21).
type blame struct {
	r      *replay.Replay
	owners map[string][]trace.PointID // by name of objects: procedures with operations that are no events
	woke   map[trace.Slot]woke        // the last waits that goroutines ended by operations that are events
}

// woke is when a goroutine last ended a wait by an operation.
type woke struct {
	by replay.Operation
	at trace.Time
}

func newBlame(r *replay.Replay) *blame {
	b := &blame{r: r, owners: map[string][]trace.PointID{}, woke: map[trace.Slot]woke{}}
	for i := range r.T.Points {
		p := &r.T.Points[i]
		if p.Kind != spec.PointSync || p.Degraded() == 0 || p.Owner < 0 || int(p.Owner) >= len(r.T.Points) {
			continue
		}
		if r.T.Points[p.Owner].Kind == spec.PointProc && !slices.Contains(b.owners[p.Name], p.Owner) {
			b.owners[p.Name] = append(b.owners[p.Name], p.Owner)
		}
	}
	return b
}

// ends returns the waker to which a wait is charged. known reports whether the wait's object was
// known from its beginning.
func (b *blame) ends(w *replay.Wait, known bool, by replay.Waker, now trace.Time, s *sampled) ender {
	switch {
	case by.G == nil:
		return causeOf(by.Cause)
	case !known:
		return ender(b.in(by.G))
	}
	return ender(b.wakes(w, by.G, now, s))
}

// meanwhile returns the procedure in which a goroutine worked while another one waited until it
// ended that. It is the innermost one that it was in all the time: which of those that this called
// took long is not known where calls are only counted, and what ends a wait, such as the procedure
// of a barrier or of a queue, may be called for a moment.
func (b *blame) meanwhile(w *replay.Wait, by ender, g *replay.G) ender {
	if g == nil || by < 0 && by != noProcedure || isLock(b.r.T.Reason(w.Reason)) { // the lock was had there
		return by
	}
	return ender(b.at(g, g.Throughout(w.Since)))
}

// wakes returns the procedure in which a goroutine ends a wait: that of the operation it has just
// done or, if that operation was not an event, a procedure whose calls are not events either. One
// operation may end many waits, and each may take long, because a thread is woken.
func (b *blame) wakes(w *replay.Wait, g *replay.G, now trace.Time, s *sampled) trace.PointID {
	if w.Address == g.Did.Address {
		last := g.Did.At
		if woke, ok := b.woke[g.Slot]; ok && woke.by == g.Did {
			last = woke.at
		}
		if now-last < togetherNS {
			b.woke[g.Slot] = woke{g.Did, now}
			return b.r.Operates(g, g.Did.Point)
		}
	}
	if len(b.owners) > 0 {
		return b.ownerAt(g, b.owners[b.name(w)], s)
	}
	return b.in(g)
}

// in returns the procedure that a goroutine is in. Methods such as that of [sync.WaitGroup] end
// waits when what they called has returned: that is not the procedure that started the goroutine,
// which may be the one that waits.
func (b *blame) in(g *replay.G) trace.PointID { return b.at(g, g.Context) }

// at returns the procedure of a context of a goroutine's.
func (b *blame) at(g *replay.G, c replay.ContextID) trace.PointID {
	if c == g.Base {
		group := b.r.Contexts.Node(g.Base).Group
		for _, p := range []trace.PointID{b.r.Groups.Probed(group), b.r.Groups.Work(group)} {
			if p != trace.NoPoint {
				return p
			}
		}
	}
	return b.r.Contexts.Node(c).Proc
}

// name returns the name of a wait's object, as far as it is known before the end of the trace.
func (b *blame) name(w *replay.Wait) string {
	if name := b.r.Names.AtPlace(w.Stack, w.Reason); name != "" || len(w.Object.Points) == 0 {
		return name
	}
	return b.r.T.Points[w.Object.Points[0]].Name
}

// ownerAt returns the one of owners, the procedures that operate on an object, in which a
// goroutine is. It is the procedure of its context, or the only owner whose calls are
// not all events. If there are several of those, it is the one in which samples found goroutines
// there most often.
func (b *blame) ownerAt(g *replay.G, owners []trace.PointID, s *sampled) trace.PointID {
	top := b.in(g)
	if slices.Contains(owners, top) {
		return top
	}
	best, most := top, 0.0
	found := s.found[g.Context]
	var others int
	for _, proc := range owners {
		if b.r.T.Points[proc].Degraded() == 0 {
			continue // otherwise there would be an event
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
