package profile

import (
	"cmp"
	"maps"
	"slices"

	"qinst.dev/sddf/spec"
)

// Stack is what was used on one call path, in ns.
type Stack struct {
	Frames []Frame // innermost first
	NPT    int64
	Busy   int64
	Spin   int64

	Blocked int64
	Ready   int64
	Syscall int64
}

// Frame is a procedure, or the start function of goroutines: below it on the path is what
// started them.
type Frame struct {
	Name  string
	File  string
	Line  int // where the procedure begins
	At    int // line of the loop that it was in, or Line
	Start bool
}

// Stacks returns the call paths on which time was used, through goroutines to their
// creators. A procedure is on a path once; where it calls itself through others, only
// the innermost one shows that. Their order is that of the trace.
func (p *Profile) Stacks() []Stack {
	b := p.built
	if b == nil {
		var list []Stack
		for _, part := range p.parts {
			list = append(list, part.Stacks()...)
		}
		return list
	}
	plain := make([]Usage, len(b.sets.nodes))
	for i := range plain {
		plain[i].add(&b.sets.nodes[i].usage)
	}
	again := slices.SortedFunc(maps.Keys(b.again), func(x, y topIn) int { return cmp.Or(cmp.Compare(x.set, y.set), cmp.Compare(x.top, y.top)) })
	for _, k := range again {
		plain[k.set].less(b.again[k])
	}
	var list []Stack
	add := func(set setID, top int32, u *Usage) {
		if st := b.stack(set, top, u); st.Busy|st.Spin|st.Blocked|st.Ready|st.Syscall != 0 {
			list = append(list, st)
		}
	}
	for i := range plain {
		add(setID(i), noProc, &plain[i])
	}
	for _, k := range again {
		add(k.set, k.top, b.again[k])
	}
	return list
}

// topIn is a procedure that is the innermost one and stands further out on its path.
type topIn struct {
	set setID
	top int32
}

// inAgain is what is used where top stands on the path twice, and is not its innermost
// procedure.
func (b *builder) inAgain(w *where) *Usage {
	k := topIn{w.set, w.top}
	u := b.again[k]
	if u == nil {
		u = new(Usage)
		b.again[k] = u
	}
	return u
}

// stack is the call path of a set, and of top if that stands on it further out.
func (b *builder) stack(set setID, top int32, u *Usage) Stack {
	st := Stack{NPT: round(u.NPT()), Busy: u.Busy(), Spin: u.Spin, Blocked: u.Blocked, Ready: u.Ready, Syscall: u.Syscall}
	if top != noProc {
		st.Frames = append(st.Frames, b.procFrame(top))
	}
	at := 0 // line of the innermost loop so far
	for ; set != 0; set = b.sets.nodes[set].parent {
		m := b.sets.nodes[set].member
		switch proc := m - int32(NumRoots); {
		case proc < 0: // a root
		case m >= b.groups.base:
			g := b.groups.list[m-b.groups.base]
			f := Frame{Name: "go " + g.fn, Start: true}
			if fn := b.groups.function(g.fn); fn != nil && !g.named {
				f.File, f.Line, f.At = fn.File, fn.Line, fn.Line
			}
			st.Frames = append(st.Frames, f)
			at = 0
		case b.t.Points[proc].Kind == spec.PointLoop:
			if at == 0 {
				at = b.t.Points[proc].Line
			}
		default:
			f := b.procFrame(proc)
			if at != 0 {
				f.At, at = at, 0
			}
			st.Frames = append(st.Frames, f)
		}
	}
	return st
}

func (b *builder) procFrame(proc int32) Frame {
	p := &b.t.Points[proc]
	return Frame{Name: p.Name, File: p.File, Line: p.Line, At: p.Line}
}
