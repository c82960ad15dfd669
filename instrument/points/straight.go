package points

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// Successive statements are reached equally often if control cannot leave between
// them. Their calls then share one counter, that of the first.

// joins reports whether the calls of s may be counted together with those of the
// statements before it. They may if s is simple, no statement must stand right before
// it, and no callee is found there at run time.
func (p *placer) joins(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if c, ok := ast.Unparen(s.X).(*ast.CallExpr); ok {
			if y, _ := p.syncCall(c); y != nil {
				return false
			}
		}
	case *ast.AssignStmt, *ast.IncDecStmt, *ast.ReturnStmt:
	default:
		return false
	}
	if receiver(s) != nil {
		return false // the probe of the channel follows it
	}
	joins := true
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			_, dynamic := p.callee(n)
			joins = joins && (!dynamic || p.Info.Types[n.Fun].IsBuiltin() || p.Info.Types[n.Fun].IsType())
		}
		return joins
	})
	return joins
}

// passes reports whether the statement behind s is reached whenever s is, run-time
// panics aside. It is if s contains no jump and no wait, and all functions that s
// calls are inlined and return.
func (p *placer) passes(s ast.Stmt) bool {
	passes := true
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.LabeledStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt,
			*ast.SendStmt,
			*ast.ForStmt, *ast.RangeStmt: // a loop may never end
			passes = false
		case *ast.UnaryExpr:
			passes = passes && n.Op != token.ARROW
		case *ast.CallExpr:
			passes = passes && p.returns(n)
		}
		return passes
	})
	return passes
}

// returns reports whether a call always returns. It does if the compiler inlines it
// and the callee is calm.
func (p *placer) returns(c *ast.CallExpr) bool {
	tv := p.Info.Types[c.Fun]
	switch {
	case tv.IsType():
		return true
	case tv.IsBuiltin():
		return !isBuiltin(p.Info, c.Fun, "panic")
	case !p.Inlining.inlined(p.Fset.Position(c.Lparen)):
		return false
	}
	if lit := p.closure(c.Fun); lit != nil {
		return p.calm(p.ssa[lit])
	}
	fn := typeutil.StaticCallee(p.Info, c)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if fn.Pkg() != p.Types {
		return calmPackages[fn.Pkg().Path()]
	}
	return p.SSA != nil && p.calm(p.SSA.Prog.FuncValue(fn.Origin()))
}

// calmPackages have small functions that panic, if at all, at run-time errors only.
var calmPackages = map[string]bool{
	"encoding/binary": true, "math": true, "math/bits": true, "sync/atomic": true, "unicode": true,
	"unicode/utf8": true, "unsafe": true,
}

// calm reports whether a function of the package neither panics explicitly nor waits
// nor calls a function that might.
func (f *finder) calm(fn *ssa.Function) bool {
	if fn == nil || len(fn.Blocks) == 0 {
		return false
	}
	if known, ok := f.calms[fn]; ok {
		return known
	}
	f.calms[fn] = false // recursion may never end
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Panic, *ssa.Send, *ssa.Select, *ssa.Go, *ssa.Defer:
				return false
			case *ssa.UnOp:
				if in.Op == token.ARROW {
					return false
				}
			case *ssa.Call:
				if !f.calmCall(in) {
					return false
				}
			}
		}
	}
	f.calms[fn] = len(f.naturals(fn)) == 0
	return f.calms[fn]
}

func (f *finder) calmCall(c *ssa.Call) bool {
	if b, ok := c.Call.Value.(*ssa.Builtin); ok {
		return b.Name() != "panic"
	}
	callee := c.Call.StaticCallee()
	if callee == nil {
		return false
	}
	if callee.Origin() != nil {
		callee = callee.Origin()
	}
	if pkg := callee.Pkg; pkg != nil && pkg != f.SSA {
		return calmPackages[pkg.Pkg.Path()]
	}
	return f.calm(callee)
}
