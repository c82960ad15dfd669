package profile

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Stack is the usage on one call path, in ns.
type Stack struct {
	Frames []Frame // innermost first
	NPT    int64
	Busy   int64
	Spin   int64

	Blocked int64
	Ready   int64
	Syscall int64
	Off     int64
}

// Frame is a procedure, or the start function of goroutines; below that on the path are the
// procedures that started them.
type Frame struct {
	Name  string
	File  string
	Line  int // first line of the procedure
	At    int // line of the loop that it was in, or Line
	Start bool
}

// Stacks returns the call paths on which time was used, through goroutines to their creators, in
// the order of the trace. A procedure is on a path once; if it calls itself through others, only
// the innermost procedure shows that. Frames are valid only until the next iteration.
func (p *Profile) Stacks() iter.Seq[Stack] {
	return func(yield func(Stack) bool) {
		if p.built != nil {
			stacks(p.built, yield)
			return
		}
		for _, part := range p.parts {
			for st := range part.Stacks() {
				if !yield(st) {
					return
				}
			}
		}
	}
}

func stacks(b *builder, yield func(Stack) bool) {
	l := b.ledger
	var frames []Frame
	give := func(set replay.SetID, top trace.PointID, u *Usage) bool {
		if u.none() {
			return true
		}
		st := stack(b.r, frames[:0], set, top, u)
		frames = st.Frames
		return yield(st)
	}
	again := slices.SortedFunc(maps.Keys(l.again),
		func(x, y topIn) int { return cmp.Or(cmp.Compare(x.set, y.set), cmp.Compare(x.top, y.top)) })
	rest := again
	for i, u := range l.sets {
		set := replay.SetID(i)
		if u == nil {
			continue
		}
		if len(rest) > 0 && rest[0].set == set {
			plain := new(Usage)
			plain.add(u)
			for ; len(rest) > 0 && rest[0].set == set; rest = rest[1:] {
				plain.less(l.again[rest[0]])
			}
			u = plain
		}
		if !give(set, trace.NoPoint, u) {
			return
		}
	}
	for _, k := range again {
		if !give(k.set, k.top, l.again[k]) {
			return
		}
	}
}

// stack returns the call path of a set, with top on top if it also occurs further out.
func stack(r *replay.Replay, frames []Frame, set replay.SetID, top trace.PointID, u *Usage) Stack {
	st := Stack{Frames: frames, NPT: round(u.NPT()), Busy: u.Busy(), Spin: u.Spin, Blocked: u.Blocked, Ready: u.Ready,
		Syscall: u.Syscall, Off: u.Off}
	if top != trace.NoPoint {
		st.Frames = append(st.Frames, procFrame(r.T, top))
	}
	at := 0 // line of the innermost loop so far
	for ; set != 0; set = r.Sets.Parent(set) {
		m := r.Sets.Last(set)
		id, group := r.Groups.Of(m)
		switch proc := m.Point(); {
		case proc < 0: // a root
		case group:
			o := r.Groups.Origin(id)
			st.Frames = append(st.Frames, Frame{Name: "go " + o.Name, File: o.File, Line: o.Line, At: o.Line,
				Start: true})
			at = 0
		case r.T.Points[proc].Kind == spec.PointLoop:
			if at == 0 {
				at = r.T.Points[proc].Line
			}
		default:
			f := procFrame(r.T, proc)
			if at != 0 {
				f.At, at = at, 0
			}
			st.Frames = append(st.Frames, f)
		}
	}
	return st
}

func procFrame(t *trace.Tables, proc trace.PointID) Frame {
	p := &t.Points[proc]
	return Frame{Name: p.Name, File: p.File, Line: p.Line, At: p.Line}
}

// StackTimes are the times of a stack, by their names.
var StackTimes = []struct {
	Name string
	Of   func(*Stack) int64
}{
	{"npt", func(s *Stack) int64 { return s.NPT }},
	{"busy", func(s *Stack) int64 { return s.Busy }},
	{"spin", func(s *Stack) int64 { return s.Spin }},
	{"blocked", func(s *Stack) int64 { return s.Blocked }},
	{"ready", func(s *Stack) int64 { return s.Ready }},
	{"syscall", func(s *Stack) int64 { return s.Syscall }},
	{"off-CPU", func(s *Stack) int64 { return s.Off }},
}
