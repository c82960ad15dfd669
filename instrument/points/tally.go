package points

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"

	"qinst.dev/sddf/spec"
)

// Tally holds the calls of a procedure that are counted by frame counters, in memory of
// the activation. Such a count is an increment, whereas a probe is a call, which also
// spills registers. Getting the memory and giving it back costs as much as two or three
// probes, so that it pays only for calls in loops, or for several calls that are always
// made. A call whose callee is found at run time has two words: its count and the callee.
type Tally struct {
	First  uint32      // lowest of the points
	Words  []uint32    // point of each word
	Starts []token.Pos // the activation gets its memory before these places, if it has none yet
}

// MostWords is the most words that a tally has. A page of the runtime's must hold a tally
// and the meaning of each word.
const MostWords = 96

const (
	farWords = 1 << 15 // from the first point
	fewCalls = 5       // outside of loops
)

// Word returns the word that counts the calls of a point, -1 if there is none.
func (t *Tally) Word(point uint32) int { return slices.Index(t.Words, point) }

// outerLoop is a loop that is in no other loop. A statement may stand before start.
type outerLoop struct{ start, from, to token.Pos }

func (p *placer) outerLoop(s ast.Stmt, head spot) {
	if p.loops.depth == 0 && head.skip == 0 {
		p.outer = append(p.outer, outerLoop{head.insertion.Pos, s.Pos(), s.End()})
	}
}

// startOf returns the beginning of the outermost loop around a place. For a loop made of
// gotos it returns the beginning of the procedure.
func (p *placer) startOf(pos token.Pos) token.Pos {
	for _, l := range p.outer {
		if l.from <= pos && pos < l.to {
			return l.start
		}
	}
	return p.fn.Body.Lbrace + 1
}

// tally decides which of fn's calls have frame counters: those in statements and conditions
// of a procedure with an explicit exit. (A procedure that ranges over functions has no
// explicit exit, because the compiler treats the bodies of such ranges as other functions.)
func (p *placer) tally(fn *Func) {
	if fn.Bare || fn.Exit != ExplicitExit {
		return
	}
	looped, others, starts := p.talliedCalls(fn)
	if len(starts) == 0 {
		return
	}
	list := append(looped, others...) // calls in loops first, in case there are too many
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

// talliedCalls finds the calls in loops, the other calls, and the places before which the
// memory for their counts is needed.
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
