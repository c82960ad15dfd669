package points

import (
	"cmp"
	"go/ast"
	"go/token"
	"maps"
	"slices"

	"qinst.dev/sddf/spec"
)

// Tally are the calls of a procedure that are counted in memory of its activation: an
// increment each, where a probe would be a call, and would spill what is in registers
// around it. To get that memory, and to give it back, costs as much as two or three
// probes: it is worth it for calls in loops, or for several that are always made. A call
// whose callee is told has two words: its count, and the callee.
type Tally struct {
	First  uint32      // lowest of the points
	Words  []uint32    // point of each word
	Starts []token.Pos // the activation gets its memory before these, if it has none
}

const (
	MostWords = 96      // of a tally; runtime: a page holds one, and what each word is
	farWords  = 1 << 15 // from the first point
	fewCalls  = 5       // outside of loops
)

// outerLoop is a loop that is in no other: before start a statement may stand.
type outerLoop struct{ start, from, to token.Pos }

func (p *placer) outerLoop(s ast.Stmt, head spot) {
	if p.loops.depth == 0 && len(p.loops.rooms) == 0 && head.skip == 0 {
		p.outer = append(p.outer, outerLoop{head.anchor.Pos, s.Pos(), s.End()})
	}
}

// Word is where the calls of a point are counted.
func (t *Tally) Word(point uint32) int { return slices.Index(t.Words, point) }

// tally decides which of fn's calls are counted so: those in statements and conditions of
// a procedure with an explicit exit. The body of a range over a function is another
// function to the compiler, and the calls in it keep their counters.
func (p *placer) tally(fn *Func) {
	if fn.Bare || fn.Exit != ExplicitExit {
		return
	}
	type call struct {
		point  uint32
		looped bool
	}
	var list []call
	starts := map[token.Pos]bool{}
	always := map[token.Pos]bool{}
	for _, s := range fn.Body.List {
		always[s.Pos()] = true
	}
	calls := 0 // that are always made
	for _, a := range fn.Anchors {
		if a.Form == Value || a.inBody {
			continue
		}
		if a.looped {
			starts[p.startOf(a.Pos)] = true
		} else if a.Form == Before && always[a.Pos] {
			calls += len(a.Points)
		}
		for _, n := range a.Points {
			list = append(list, call{n, a.looped})
		}
	}
	for _, post := range fn.Posts {
		for _, n := range post.Points {
			if !post.inBody {
				list = append(list, call{n, true})
				starts[p.startOf(post.Body)] = true
			}
		}
	}
	if calls >= fewCalls {
		starts = map[token.Pos]bool{fn.Body.Lbrace + 1: true}
	}
	if len(starts) == 0 {
		return
	}
	first := slices.MinFunc(list, func(a, b call) int { return cmp.Compare(a.point, b.point) }).point
	slices.SortStableFunc(list, func(a, b call) int { // should there be too many
		switch {
		case a.looped == b.looped:
			return cmp.Compare(a.point, b.point)
		case a.looped:
			return -1
		}
		return 1
	})
	fn.Tally = &Tally{First: first, Starts: slices.Sorted(maps.Keys(starts))}
	for _, c := range list {
		words := []uint32{c.point}
		if _, told := p.set.Dynamic[c.point]; told {
			words = append(words, c.point)
		}
		if len(fn.Tally.Words)+len(words) <= MostWords && c.point-first < farWords {
			fn.Tally.Words = append(fn.Tally.Words, words...)
			p.set.Points[c.point].Flags |= spec.FlagTallied
		}
	}
}

// startOf is where the outermost loop around a place begins; one that is made of gotos
// begins with the procedure.
func (p *placer) startOf(pos token.Pos) token.Pos {
	for _, l := range p.outer {
		if l.from <= pos && pos < l.to {
			return l.start
		}
	}
	return p.fn.Body.Lbrace + 1
}
