package profile

import (
	"cmp"
	"iter"
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

// Stacks are the call paths on which time was used, through goroutines to their
// creators. A procedure is on a path once; where it calls itself through others, only
// the innermost one shows that. Their order is that of the trace. Frames are valid until
// the next one.
func (p *Profile) Stacks() iter.Seq[Stack] {
	return func(yield func(Stack) bool) {
		if p.built != nil {
			p.built.stacks(yield)
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

func (b *builder) stacks(yield func(Stack) bool) {
	var frames []Frame
	give := func(set setID, top int32, u *Usage) bool {
		if u.none() {
			return true
		}
		st := b.stack(frames[:0], set, top, u)
		frames = st.Frames
		return yield(st)
	}
	again := slices.SortedFunc(maps.Keys(b.again), func(x, y topIn) int { return cmp.Or(cmp.Compare(x.set, y.set), cmp.Compare(x.top, y.top)) })
	rest := again
	for i := range b.sets.nodes {
		u := b.sets.nodes[i].usage
		if u == nil {
			continue
		}
		if len(rest) > 0 && rest[0].set == setID(i) {
			plain := new(Usage)
			plain.add(u)
			for ; len(rest) > 0 && rest[0].set == setID(i); rest = rest[1:] {
				plain.less(b.again[rest[0]])
			}
			u = plain
		}
		if !give(setID(i), noProc, u) {
			return
		}
	}
	for _, k := range again {
		if !give(k.set, k.top, b.again[k]) {
			return
		}
	}
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
func (b *builder) stack(frames []Frame, set setID, top int32, u *Usage) Stack {
	st := Stack{Frames: frames, NPT: round(u.NPT()), Busy: u.Busy(), Spin: u.Spin, Blocked: u.Blocked, Ready: u.Ready, Syscall: u.Syscall}
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
