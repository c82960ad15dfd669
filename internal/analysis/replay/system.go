package replay

import (
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// The work of the runtime and of the tool in the program's time has contexts of its own:
// procedures that are not in the source.
const (
	GCWorker = "[gc worker]"
	GCAssist = "[gc assist]" // on behalf of the allocating procedure
	StopTheW = "[stop the world]"
	Waking   = "[wake a thread]" // for an idle processor
	Probes   = "[probes]"        // number of events and counts times their measured cost
	OffCPU   = "[off-CPU]"       // running threads that the operating system kept waiting
)

// System are the procedures appended to those of the program.
type System struct{ Worker, Assist, Stop, Waking, Probes, OffCPU trace.PointID }

// withSystem are tables with them.
func withSystem(t *trace.Tables) (*trace.Tables, System) {
	own := *t
	n := trace.PointID(len(t.Points))
	own.Points = slices.Clip(t.Points)
	for i, name := range []string{GCWorker, GCAssist, StopTheW, Waking, Probes, OffCPU} {
		own.Points = append(own.Points, trace.Point{Kind: spec.PointProc, Name: name, Owner: n + trace.PointID(i),
			Representative: n + trace.PointID(i), Loop: trace.NoPoint})
	}
	return &own, System{n, n + 1, n + 2, n + 3, n + 4, n + 5}
}

// IsSystem reports whether a procedure is one that is not in the source.
func (r *Replay) IsSystem(p trace.PointID) bool { return p >= r.System.Worker }

// Outside returns the context of a group's goroutines in one of these procedures that is not a part
// of the program's paths, below a root of its own.
func (r *Replay) Outside(p trace.PointID, root Root, group GroupID) ContextID {
	set := r.Sets.With(r.Sets.With(0, RootMember(root)), r.Groups.Member(group))
	return r.Find(Context{Set: r.Sets.With(set, ProcMember(p)), Proc: p, Inner: p, Loop: trace.NoPoint, Group: group})
}

// Aside returns the context of one of these procedures on behalf of nobody: no goroutine does it.
func (r *Replay) Aside(p trace.PointID) ContextID {
	return r.Find(Context{Set: r.Sets.With(r.Sets.With(0, RootMember(RootOther)), ProcMember(p)), Proc: p, Inner: p,
		Loop: trace.NoPoint, Group: NoGroup})
}

func (r *Replay) enterSystem(g *G, now trace.Time, p trace.PointID) {
	if g == nil {
		return
	}
	r.Settle(g, now)
	r.v.Enter(g, p, now)
	g.push(r.Contexts.into(g.Context, p), g.Spins, now)
}

// leaveSystem leaves it if it is the innermost one; its end may be lost.
func (r *Replay) leaveSystem(g *G, now trace.Time, p trace.PointID) {
	if g != nil && r.Contexts.list[g.Context].Proc == p && g.Depth() > 0 {
		r.leave(g, now)
	}
}
