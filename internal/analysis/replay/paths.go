package replay

import (
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// paths finds contexts that events do not show: procedures below level trace occur only in the
// paths of samples and in the stacks of waits.
type paths struct {
	t        *trace.Tables
	contexts *Contexts
	codes    codes
	procs    map[string]trace.PointID // procedures that are entered without an event
	walks    map[walk]walked
	waits    map[waited]ContextID
	path     []trace.Path // of the sample at hand, innermost first
}

// walk is a path from a context.
type walk struct {
	from ContextID
	path trace.PathID
}

// walked is the context at the end of a path, and the one reached by its traced part only.
type walked struct{ all, told ContextID }

// waited is a context and the stack in which a goroutine waits there.
type waited struct {
	from  ContextID
	stack trace.StackID
}

func newPaths(t *trace.Tables, contexts *Contexts) paths {
	ps := paths{t: t, contexts: contexts, codes: newCodes(t), procs: map[string]trace.PointID{},
		walks: map[walk]walked{}, waits: map[waited]ContextID{}}
	for i := range t.Points {
		if pt := &t.Points[i]; pt.Kind == spec.PointProc && pt.Degraded() > 0 {
			ps.procs[pt.Name] = trace.PointID(i)
		}
	}
	return ps
}

// Found returns the context in which a sampler found a goroutine, and whether a probe ran there. If
// the path disagrees with the events, a procedure was just being entered or left, and the result is
// the context known from events.
func (r *Replay) Found(g *G, s trace.Sampled) (at ContextID, probe bool) {
	w := r.paths.follow(&g.Stack, s.Path)
	if w.told != g.Context {
		w.all = g.Context
	} else if s.Code != 0 {
		w.all = r.paths.merge(&g.Stack, s.Path, s.Code)
	}
	return w.all, r.IsProbe(s)
}

// follow returns the contexts that a path leads to from the context in which a goroutine started.
func (ps *paths) follow(s *Stack, path trace.PathID) walked {
	if path == 0 {
		return walked{s.Base, s.Base}
	}
	key := walk{s.Base, path}
	if w, ok := ps.walks[key]; ok {
		return w
	}
	p := &ps.t.Paths[path]
	w := ps.follow(s, p.From)
	if p.Point >= 0 {
		if p.From == 0 && p.Point == s.main {
			w.all = ps.contexts.afterInit(w.all)
		}
		w.all = ps.contexts.into(w.all, p.Point)
		if !p.Untraced {
			if p.From == 0 && p.Point == s.main {
				w.told = ps.contexts.afterInit(w.told)
			}
			w.told = ps.contexts.into(w.told, p.Point)
		}
	}
	ps.walks[key] = w
	return w
}

// merge returns the context that a path and a code lead to. What is on the path is looked for in
// the code, in its order. What the code has besides ran without probes, if it ever does: otherwise
// events show of it, which are exact. What the path has besides counts if events told of it, too.
func (ps *paths) merge(s *Stack, path trace.PathID, code trace.CodeID) ContextID {
	ps.path = ps.path[:0]
	for ; path != 0; path = ps.t.Paths[path].From {
		ps.path = append(ps.path, ps.t.Paths[path])
	}
	at := s.Base
	points, whole := ps.codes.pointsOf(code)
	into := func(p trace.PointID) {
		if p == s.main && at == s.Base {
			at = ps.contexts.afterInit(at)
		}
		at = ps.contexts.into(at, p)
	}
	untold := func(list []trace.PointID) {
		for _, p := range list {
			if ps.t.Points[p].Degraded() > 0 {
				into(p)
			}
		}
	}
	for _, e := range slices.Backward(ps.path) {
		if e.Point < 0 {
			continue
		}
		k := slices.Index(points, e.Point)
		if k >= 0 {
			untold(points[:k])
			points = points[k+1:]
		}
		if k >= 0 || !e.Untraced || !whole || ps.t.Points[e.Point].Kind == spec.PointLoop &&
			ps.t.Points[e.Point].End == 0 {
			into(e.Point)
		}
	}
	untold(points)
	return at
}

// waitsAt returns the context of a goroutine that begins to wait in a stack.
func (ps *paths) waitsAt(s *Stack, stack trace.StackID) ContextID {
	if len(ps.procs) == 0 || stack == 0 || int(stack) >= len(ps.t.Stacks) {
		return s.Context
	}
	key := waited{s.Context, stack}
	if at, ok := ps.waits[key]; ok {
		return at
	}
	top, frames := ps.contexts.list[s.Context].Proc, ps.t.Stacks[stack]
	if s.Depth() > 0 && top != trace.NoPoint {
		name := ps.t.Points[top].Name
		if i := slices.IndexFunc(frames, func(f trace.Frame) bool { return f.Function == name }); i >= 0 {
			frames = frames[:i]
		}
	}
	at := s.Context
	for _, f := range slices.Backward(frames) {
		if proc, ok := ps.procs[f.Function]; ok {
			if proc == s.main && at == s.Base {
				at = ps.contexts.afterInit(at)
			}
			at = ps.contexts.into(at, proc)
		}
	}
	ps.waits[key] = at
	return at
}
