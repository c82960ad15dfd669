package points

import (
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

// MostWords is how many words a tally has at most: a page of the runtime's holds one,
// and what each word is.
const MostWords = 96

const (
	farWords = 1 << 15 // from the first point
	fewCalls = 5       // outside of loops
)

// Word is where the calls of a point are counted, -1 if they are not.
func (t *Tally) Word(point uint32) int { return slices.Index(t.Words, point) }

// outerLoop is a loop that is in no other: before start a statement may stand.
type outerLoop struct{ start, from, to token.Pos }

func (p *placer) outerLoop(s ast.Stmt, head spot) {
	if p.loops.depth == 0 && head.skip == 0 {
		p.outer = append(p.outer, outerLoop{head.insertion.Pos, s.Pos(), s.End()})
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

// tally decides which of fn's calls are counted so: those in statements and conditions of
// a procedure with an explicit exit. (One that ranges over functions has none: the bodies
// of such ranges are other functions to the compiler.)
func (p *placer) tally(fn *Func) {
	if fn.Bare || fn.Exit != ExplicitExit {
		return
	}
	looped, others, starts := p.talliedCalls(fn)
	if len(starts) == 0 {
		return
	}
	list := append(looped, others...) // should there be too many
	first := slices.Min(list)
	fn.Tally = &Tally{First: first, Starts: starts}
	for _, n := range list {
		words := []uint32{n}
		if _, told := p.set.Dynamic[n]; told {
			words = append(words, n)
		}
		if len(fn.Tally.Words)+len(words) <= MostWords && n-first < farWords {
			fn.Tally.Words = append(fn.Tally.Words, words...)
			p.set.Points[n].Flags |= spec.FlagTallied
		}
	}
}

// talliedCalls finds the calls in loops, and the others, and before what the memory for
// their counts is needed.
func (p *placer) talliedCalls(fn *Func) (looped, others []uint32, starts []token.Pos) {
	always, calls := map[token.Pos]bool{}, 0
	for _, s := range fn.Body.List {
		always[s.Pos()] = true
	}
	begin := map[token.Pos]bool{}
	for _, a := range fn.Insertions {
		switch {
		case a.Form == Value:
		case a.looped:
			looped = append(looped, a.Points...)
			begin[p.startOf(a.Pos)] = true
		default:
			others = append(others, a.Points...)
			if a.Form == Before && always[a.Pos] {
				calls += len(a.Points)
			}
		}
	}
	for _, post := range fn.Posts {
		looped = append(looped, post.Points...)
		begin[p.startOf(post.Body)] = true
	}
	if calls >= fewCalls {
		return looped, others, []token.Pos{fn.Body.Lbrace + 1}
	}
	return looped, others, slices.Sorted(maps.Keys(begin))
}
