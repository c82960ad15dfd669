package points

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Small procedures are counted, and no more: they have no entry, no exit and no token, and their
// time is in the line of their caller. A pair of probes takes as long as they do, so that what it
// measured would be itself, and a small procedure is often the hottest one.
//
// The rule is a cost model. A procedure is small if it has fewer instructions than the bound in
// the SSA form, without jumps; neither loops nor waits; and calls only what the compiler inlines,
// or procedures of the same package, which have lines of their own. A procedure that calls others
// may take any time, and one that calls itself takes as long as its recursion.

// UsualSmall is the bound if nothing else is asked for. It is a pair of probes' worth.
const UsualSmall = 40

// small reports whether fn is only counted.
func (f *finder) small(fn *Func) bool {
	form := f.ssa[fn.Node]
	if f.Limits.Small == 0 || form == nil || f.demanded(fn) || fn.Forced || f.starts(fn) || f.fromOutside(fn) || len(naturals(form)) > 0 {
		return false
	}
	if _, declared := fn.Node.(*ast.FuncDecl); declared && (fn.Name == "main.main" || form.Synthetic != "" || form.Name() == "init") {
		return false
	}
	size := 0
	for _, b := range form.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Phi, *ssa.Jump, *ssa.If, *ssa.DebugRef:
				continue
			case *ssa.Send, *ssa.Select, *ssa.Go, *ssa.Defer, *ssa.RunDefers:
				return false
			case *ssa.UnOp:
				if isReceive(in) {
					return false
				}
			case *ssa.Call:
				if !f.smallCall(form, in) {
					return false
				}
			}
			size++
		}
	}
	return size < f.Limits.Small
}

// smallCall reports whether a small procedure may make a call.
func (f *finder) smallCall(from *ssa.Function, c *ssa.Call) bool {
	if _, builtin := c.Call.Value.(*ssa.Builtin); builtin || f.Inlining.inlined(f.Fset.Position(c.Pos())) {
		return true
	}
	callee := c.Call.StaticCallee()
	if callee == nil {
		return false
	}
	if callee.Origin() != nil {
		callee = callee.Origin()
	}
	return callee.Pkg == f.SSA && len(callee.Blocks) > 0 && !f.reaches(callee, from)
}

// reaches reports whether a function calls another one of the package, directly or through others,
// as far as the calls are static.
func (f *finder) reaches(from, to *ssa.Function) bool {
	if to.Origin() != nil {
		to = to.Origin()
	}
	seen := map[*ssa.Function]bool{}
	var walk func(fn *ssa.Function) bool
	walk = func(fn *ssa.Function) bool {
		if fn.Origin() != nil {
			fn = fn.Origin()
		}
		if fn == to {
			return true
		}
		if seen[fn] || fn.Pkg != f.SSA {
			return false
		}
		seen[fn] = true
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if call, ok := in.(ssa.CallInstruction); ok {
					if callee := call.Common().StaticCallee(); callee != nil && walk(callee) {
						return true
					}
				}
			}
		}
		return false
	}
	return walk(from)
}

func isReceive(in *ssa.UnOp) bool {
	_, channel := in.X.Type().Underlying().(*types.Chan)
	return channel
}
