package replay

import (
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// paths finds contexts that events do not show: procedures below level trace occur only in the
// paths of samples and in the stacks of waits.
type paths struct {
	procs map[string]trace.PointID // procedures that are entered without an event
	walks map[walk]walked
	waits map[waited]ContextID
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

func newPaths(t *trace.Tables) paths {
	p := paths{procs: map[string]trace.PointID{}, walks: map[walk]walked{}, waits: map[waited]ContextID{}}
	for i := range t.Points {
		if pt := &t.Points[i]; pt.Kind == spec.PointProc && pt.Degraded() > 0 {
			p.procs[pt.Name] = trace.PointID(i)
		}
	}
	return p
}

// Found returns the context in which a sampler found a goroutine, and whether a probe ran there. If
// the path disagrees with the events, a procedure was just being entered or left, and the result is
// the context known from events.
func (r *Replay) Found(g *G, s trace.Sampled) (at ContextID, probe bool) {
	w := r.follow(g, s.Path)
	if w.told != g.Context {
		w.all = g.Context
	} else if s.Code != 0 {
		w.all = r.merge(g, s.Path, s.Code)
	}
	return w.all, r.isProbe(s.Code)
}

// follow returns the contexts that a path leads to from the context in which a goroutine started.
func (r *Replay) follow(g *G, path trace.PathID) walked {
	if path == 0 {
		return walked{g.Base, g.Base}
	}
	key := walk{g.Base, path}
	if w, ok := r.paths.walks[key]; ok {
		return w
	}
	p := &r.T.Paths[path]
	w := r.follow(g, p.From)
	if p.Point >= 0 {
		if p.From == 0 && g.main && p.Point == r.main {
			w.all = r.afterInit(w.all)
		}
		w.all = r.into(w.all, p.Point)
		if !p.Untraced {
			if p.From == 0 && g.main && p.Point == r.main {
				w.told = r.afterInit(w.told)
			}
			w.told = r.into(w.told, p.Point)
		}
	}
	r.paths.walks[key] = w
	return w
}

// waitsAt returns the context of a goroutine that begins to wait in a stack.
func (r *Replay) waitsAt(g *G, stack trace.StackID) ContextID {
	if len(r.paths.procs) == 0 || stack == 0 || int(stack) >= len(r.T.Stacks) {
		return g.Context
	}
	key := waited{g.Context, stack}
	if at, ok := r.paths.waits[key]; ok {
		return at
	}
	top, frames := r.Contexts.list[g.Context].Proc, r.T.Stacks[stack]
	if len(g.frames) > 0 && top != trace.NoPoint {
		name := r.T.Points[top].Name
		if i := slices.IndexFunc(frames, func(f trace.Frame) bool { return f.Function == name }); i >= 0 {
			frames = frames[:i]
		}
	}
	at := g.Context
	for _, f := range slices.Backward(frames) {
		if proc, ok := r.paths.procs[f.Function]; ok {
			if g.main && proc == r.main && at == g.Base {
				at = r.afterInit(at)
			}
			at = r.into(at, proc)
		}
	}
	r.paths.waits[key] = at
	return at
}
