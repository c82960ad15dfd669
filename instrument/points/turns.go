package points

import (
	"go/ast"
	"go/token"
	"slices"
)

// The body of a loop stands twice, too, in the text with probes: an activation keeps the text that
// it began with, and may never return. So each iteration chooses by a level of the loop's own.
// Loops that stand twice may lie within each other: an outer loop may take long for an iteration.
//
// A body may not stand twice if a copy would be something else, as for functions (see
// chooseBodies), or if all that it does is to be seen: the operations on synchronization objects,
// and what it starts.

// What probes cost, in increments: more for a call whose callee is known at run time only, which is
// noted, and for a loop in the body; and what an iteration with probes pays for the choice. A body
// that would save no more stands once.
const (
	toldSteps = 2
	loopSteps = 6
	turnSteps = 2
)

// chooseLoops decides which of fn's loops stand twice, and which points are in them.
func (f *finder) chooseLoops(fn *Func) {
	if fn.Bare || f.hasLines(fn) || fn.Bodies.Once == OnceLarge {
		return
	}
	nodes := f.bothNodes(fn, f.own(fn, func(OneBody) {}))
	for _, lp := range fn.Probes.Loops {
		if lp.Twice = f.loopTwice(&fn.Probes, lp); lp.Twice {
			ast.Inspect(lp.block, func(n ast.Node) bool {
				c, call := n.(*ast.CallExpr)
				lp.inlines = lp.inlines || call && f.Inlining.inlined(f.Fset.Position(c.Lparen))
				nodes++
				return true
			})
		}
	}
	if f.set.placeInLoops(fn); nodes > sureNodes {
		f.set.turnOnce(fn, func(*Loop) bool { return true })
	}
}

// turnOnce makes the bodies of some of fn's loops stand once.
func (s *Set) turnOnce(fn *Func, some func(*Loop) bool) {
	for _, lp := range fn.Probes.Loops {
		lp.Twice = lp.Twice && !some(lp)
	}
	for i := int(fn.Point); i < len(s.Points) && s.Points[i].Owner == fn.Point; i++ {
		s.Points[i].Loop = uint32(i)
	}
	s.placeInLoops(fn)
}

// turns reports whether the body of a loop stands twice; inlining, of one in which the compiler
// inlines calls: then it may make a third function of a literal in what is inlined.
func (p *Probes) turns() bool {
	return slices.ContainsFunc(p.Loops, func(lp *Loop) bool { return lp.Twice })
}

func (p *Probes) turnsInlining() bool {
	return slices.ContainsFunc(p.Loops, func(lp *Loop) bool { return lp.Twice && lp.inlines })
}

// loopTwice reports whether the body of a loop may stand twice, and whether that gains anything.
func (f *finder) loopTwice(probes *Probes, lp *Loop) bool {
	if lp.block == nil || lp.Func || lp.Deep || lp.Spin {
		return false
	}
	for _, y := range probes.Syncs {
		if lp.holds(y.Pos) {
			return false
		}
	}
	saved := 0
	for _, p := range probes.Posts {
		if p.Body == lp.Body {
			return false // such a call is counted when the next iteration begins
		}
	}
	for _, a := range probes.Insertions {
		if !lp.holds(a.Pos) {
			continue
		}
		for _, n := range a.Points {
			saved++
			if f.set.Points[n].Name == "" { // its callee is known at run time only, as in machines
				saved += toldSteps
			}
		}
	}
	for _, in := range probes.Loops {
		if lp.holds(in.Start) {
			saved += loopSteps
			if in.Func || in.Deep {
				return false
			}
		}
	}
	return saved > turnSteps && f.copiable(lp.block)
}

// copiable reports whether a copy of a block means the same as the block.
func (f *finder) copiable(b *ast.BlockStmt) bool {
	ok := true
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.LabeledStmt, *ast.TypeSpec, *ast.SelectStmt:
			ok = false
		case *ast.BranchStmt:
			ok = ok && n.Tok != token.GOTO
		case *ast.RangeStmt:
			ok = ok && !overFunc(f.Info, n)
		}
		return ok
	})
	return ok
}

// holds reports whether an insertion is in the body, or at one of its ends.
func (lp *Loop) holds(pos token.Pos) bool {
	return lp.block != nil && lp.Body <= pos && pos <= lp.block.Rbrace
}

// BodyEnd is where the body of a loop that stands twice ends.
func (lp *Loop) BodyEnd() token.Pos { return lp.block.Rbrace }

// Encloses reports whether a loop stands in lp's body.
func (lp *Loop) Encloses(in *Loop) bool { return lp.holds(in.Start) }

// placeInLoops notes for each point of fn in which loop it is counted.
func (s *Set) placeInLoops(fn *Func) {
	place := func(point uint32, pos token.Pos) {
		for _, lp := range fn.Probes.Loops { // outer ones first
			if lp.Twice && lp.holds(pos) {
				s.Points[point].Loop = lp.Point
			}
		}
	}
	for n, pos := range fn.Probes.counters {
		place(n, pos)
	}
	for _, lp := range fn.Probes.Loops {
		place(lp.Point, lp.Start)
	}
	for i := int(fn.Point); i < len(s.Points) && s.Points[i].Owner == fn.Point; i++ {
		if p := &s.Points[i]; p.Representative != uint32(i) && s.Points[p.Representative].Loop != p.Representative {
			p.Loop = s.Points[p.Representative].Loop
		}
	}
}
