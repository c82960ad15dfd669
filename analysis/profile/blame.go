package profile

import (
	"slices"

	"qinst.dev/analysis/replay"
	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// blame finds out whose time a wait is (ADR 21).
type blame struct {
	r      *replay.Replay
	owners map[string][]trace.PointID // by name of objects: procedures with operations that are no events
}

func newBlame(r *replay.Replay) *blame {
	b := &blame{r: r, owners: map[string][]trace.PointID{}}
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

// ends is who ends a wait; known says that it was for an object from its beginning on.
func (b *blame) ends(w *replay.Wait, known bool, by replay.Waker, now trace.Time, s *sampled) ender {
	switch {
	case by.G == nil:
		return causeOf(by.Cause)
	case !known:
		return ender(b.r.Contexts.Node(by.G.Context).Proc)
	}
	return ender(b.wakes(w, by.G, now, s))
}

// wakes is the procedure in which a goroutine ends a wait: that of the operation that it
// just did, or, where that is no event, one whose calls are none either.
func (b *blame) wakes(w *replay.Wait, g *replay.G, now trace.Time, s *sampled) trace.PointID {
	if w.Address == g.Did.Address && now-g.Did.At < togetherNS {
		return b.r.Operates(g, g.Did.Point)
	}
	if len(b.owners) > 0 {
		return b.ownerAt(g.Context, b.owners[b.name(w)], s)
	}
	return b.r.Contexts.Node(g.Context).Proc
}

// name is what an object is called as long as not all is known.
func (b *blame) name(w *replay.Wait) string {
	if name := b.r.Names.AtPlace(w.Stack, w.Reason); name != "" || len(w.Object.Points) == 0 {
		return name
	}
	return b.r.T.Points[w.Object.Points[0]].Name
}

// ownerAt is the procedure that operates on an object, of those that do, where events tell
// that a goroutine is in a place: the place's own, the only one whose calls are not all
// events, or of several such the one in which samples found goroutines there most often.
func (b *blame) ownerAt(id replay.ContextID, owners []trace.PointID, s *sampled) trace.PointID {
	top := b.r.Contexts.Node(id).Proc
	if slices.Contains(owners, top) {
		return top
	}
	best, most := top, 0.0
	found := s.found[id]
	var others int
	for _, proc := range owners {
		if b.r.T.Points[proc].Degraded() == 0 {
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
