package points

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Small procedures are counted, and no more: they have no entry, no exit and no token, and their
// time is in the line of their caller. A pair of probes takes as long as they do, so that what it
// measured would be itself, and a small procedure is often the hottest one.
//
// The rule is a cost model. A procedure is small if it has fewer instructions than the bound in the
// SSA form, without jumps; neither loops nor waits; and calls only functions that the compiler
// inlines, or procedures of the same package of which all that is true, but for their size. A
// procedure that calls others may take any time, and one that calls itself takes as long as its
// recursion.

// UsualSmall is the bound if nothing else is asked for. It is a pair of probes' worth.
const UsualSmall = 40

// shown are functions whose text shows how long they take, and inlined ones that take longer than
// their text each time, once they are known.
type shown struct{ briefs, longs map[*ssa.Function]bool }

// small reports whether fn is only counted.
func (f *finder) small(fn *Func) bool {
	form := f.ssa[fn.Node]
	if f.Limits.Small == 0 || form == nil || f.demanded(fn) || fn.Forced || f.starts(fn) || f.fromOutside(fn) {
		return false
	}
	if _, declared := fn.Node.(*ast.FuncDecl); declared &&
		(fn.Name == "main.main" || form.Synthetic != "" || form.Name() == "init") {
		return false
	}
	size := 0
	for _, b := range form.Blocks {
		for _, in := range b.Instrs {
			switch in.(type) {
			case *ssa.Phi, *ssa.Jump, *ssa.If, *ssa.DebugRef:
				continue
			case *ssa.Defer, *ssa.RunDefers:
				return false
			}
			size++
		}
	}
	return size < f.Limits.Small && f.brief(form)
}

// briefCall reports whether a call takes no longer than some text: of what the compiler has inlined
// from another package, or of a brief function of this one.
func (f *finder) briefCall(in ssa.CallInstruction) bool {
	c := in.Common()
	if _, builtin := c.Value.(*ssa.Builtin); builtin {
		return true
	}
	callee := c.StaticCallee()
	if callee != nil && callee.Origin() != nil {
		callee = callee.Origin()
	}
	if callee != nil && callee.Pkg == f.SSA && len(callee.Blocks) > 0 {
		return f.brief(callee)
	}
	return f.Inlining.inlined(f.Fset.Position(in.Pos()))
}

// lasts reports whether a call that the compiler inlines takes longer than its text each time: its
// function has a loop, or makes a call that may take any time. What it calls now and then, as if a
// buffer is full, does not count.
func (f *finder) lasts(in ssa.CallInstruction) bool {
	fn := in.Common().StaticCallee()
	if fn == nil || f.briefCall(in) {
		return false
	}
	lasts, known := f.longs[fn]
	if !known {
		f.longs[fn] = false // while it is looked at
		lasts = slices.ContainsFunc(fn.Blocks, func(b *ssa.BasicBlock) bool {
			return !leavesWithout(fn, b) && (inLoop(f.naturals(fn), b) || slices.ContainsFunc(b.Instrs, f.callLasts))
		})
		f.longs[fn] = lasts
	}
	return lasts
}

// callLasts reports whether an instruction is a call that may take any time.
func (f *finder) callLasts(in ssa.Instruction) bool {
	c, ok := in.(ssa.CallInstruction)
	return ok && !f.briefCall(c) && (!f.Inlining.inlined(f.Fset.Position(c.Pos())) || f.lasts(c))
}

// brief reports whether a function of the package takes no longer than its text: it has no loop and
// no wait, and calls nothing that may take any time, as far down as calls go. A small procedure
// that calls another one would otherwise have its time in a line further up, all of it.
func (f *finder) brief(fn *ssa.Function) bool {
	brief, known := f.briefs[fn]
	if !known {
		f.briefs[fn] = false // while it is looked at: what leads back to itself is not
		brief = len(f.naturals(fn)) == 0 && f.straight(fn)
		f.briefs[fn] = brief
	}
	return brief
}

// straight reports whether a function waits for nothing, and makes brief calls alone.
func (f *finder) straight(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Send, *ssa.Select, *ssa.Go:
				return false
			case *ssa.UnOp:
				if isReceive(in) {
					return false
				}
			case ssa.CallInstruction:
				if !f.briefCall(in) {
					return false
				}
			}
		}
	}
	return true
}

func isReceive(in *ssa.UnOp) bool {
	_, channel := in.X.Type().Underlying().(*types.Chan)
	return channel
}
