package replay

import (
	"slices"
	"strings"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// codes finds procedures and loops in the text that samples show. A profile stack lacks procedures
// that run without their probes, and shows one for the time between its two probes alone. The
// thread's own stack lacks neither.
type codes struct {
	calls []call                            // by CodeID
	loops map[trace.PointID][]trace.PointID // of a procedure, outer ones first
	path  []trace.Path                      // of the sample at hand, innermost first
	list  []trace.PointID                   // procedures and loops of its code, outermost first
}

// call is what a code says of its own function.
type call struct {
	proc trace.PointID // NoPoint: none with probes
	tool bool          // it is a probe, or a part of one
	asks bool          // it asks the system
}

func newCodes(t *trace.Tables) codes {
	c := codes{calls: make([]call, len(t.Codes)), loops: map[trace.PointID][]trace.PointID{}}
	procs := map[string]trace.PointID{}
	for i := range t.Points {
		switch p := &t.Points[i]; {
		case p.Kind == spec.PointProc:
			procs[p.Name] = trace.PointID(i)
		case p.Kind == spec.PointLoop && p.End > 0:
			c.loops[p.Owner] = append(c.loops[p.Owner], trace.PointID(i))
		}
	}
	for i := range t.Codes {
		name := t.Codes[i].Function
		if at := strings.LastIndex(name, "-range"); at >= 0 {
			name = name[:at] // the body of a range over a function
		}
		proc, ok := procs[name]
		if !ok {
			proc = trace.NoPoint
		}
		c.calls[i] = call{proc, strings.HasPrefix(name, "runtime.qinst") || strings.HasPrefix(name, "qinst_"),
			name == "internal/runtime/syscall/linux.Syscall6" || name == "runtime.futex"}
	}
	return c
}

// isProbe reports whether a code is in a probe that a procedure called. One that asks the system is
// not believed: a signal may be tens of microseconds late, as interrupts of virtual machines are,
// but for the end of a system call. So these are found ten times as often as they run.
func (r *Replay) isProbe(code trace.CodeID) bool {
	if code != 0 && r.codes.calls[code].asks {
		return false
	}
	for ; code != 0 && r.codes.calls[code].proc == trace.NoPoint; code = r.T.Codes[code].From {
		if r.codes.calls[code].tool {
			return true
		}
	}
	return false
}

// IsProbe reports whether a sample found a probe.
func (r *Replay) IsProbe(s trace.Sampled) bool { return r.isProbe(s.Code) }

// InProbed reports whether a sample found a thread in the text of a procedure that has probes, or
// is counted.
func (r *Replay) InProbed(s trace.Sampled) bool {
	return s.Code != 0 && r.codes.calls[s.Code].proc != trace.NoPoint
}

// LineIn returns the line of a procedure at which a code is, in the innermost of its activations.
func (r *Replay) LineIn(code trace.CodeID, proc trace.PointID) (line int, ok bool) {
	for ; code != 0; code = r.T.Codes[code].From {
		if proc != trace.NoPoint && r.codes.calls[code].proc == proc {
			return r.T.Codes[code].Line, true
		}
	}
	return 0, false
}

// pointsOf returns the procedures and loops that a code is in, outermost first, and whether these
// are all from where the goroutine started. They are valid until the next call.
func (r *Replay) pointsOf(code trace.CodeID) (list []trace.PointID, whole bool) {
	list, whole = r.codes.list[:0], true
	for ; code != 0; code = r.T.Codes[code].From {
		node, proc := &r.T.Codes[code], r.codes.calls[code].proc
		whole = node.Function != ""
		if proc == trace.NoPoint {
			continue
		}
		for _, loop := range slices.Backward(r.codes.loops[proc]) {
			if p := &r.T.Points[loop]; p.Line <= node.Line && node.Line <= p.End {
				list = append(list, loop)
			}
		}
		list = append(list, proc)
	}
	slices.Reverse(list)
	r.codes.list = list
	return list, whole
}

// merge returns the context that a path and a code lead to. What is on the path is looked for in
// the code, in its order. What the code has besides ran without probes, if it ever does: otherwise
// events show of it, which are exact. What the path has besides counts if events told of it, too.
func (r *Replay) merge(g *G, path trace.PathID, code trace.CodeID) ContextID {
	r.codes.path = r.codes.path[:0]
	for ; path != 0; path = r.T.Paths[path].From {
		r.codes.path = append(r.codes.path, r.T.Paths[path])
	}
	at := g.Base
	points, whole := r.pointsOf(code)
	into := func(p trace.PointID) {
		if g.main && p == r.main && at == g.Base {
			at = r.afterInit(at)
		}
		at = r.into(at, p)
	}
	untold := func(list []trace.PointID) {
		for _, p := range list {
			if r.T.Points[p].Degraded() > 0 {
				into(p)
			}
		}
	}
	for _, e := range slices.Backward(r.codes.path) {
		if e.Point < 0 {
			continue
		}
		k := slices.Index(points, e.Point)
		if k >= 0 {
			untold(points[:k])
			points = points[k+1:]
		}
		if k >= 0 || !e.Untraced || !whole || r.T.Points[e.Point].Kind == spec.PointLoop &&
			r.T.Points[e.Point].End == 0 {
			into(e.Point)
		}
	}
	untold(points)
	return at
}
