package points

import (
	"go/ast"
	"go/token"
)

// Statements that follow each other, with nothing between that leaves, are reached
// equally often: their calls share one counter, that of the first.

// joins reports whether the calls of s may be counted together with those of the
// statements before it: s is simple, no statement must stand right before it, and
// no callee is told there.
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
		return false // the probe of the channel stands behind it
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

// passes reports whether what stands behind s is reached whenever s is, but for a
// run-time panic: nothing in it leaves it or waits, and it calls only what the
// compiler inlines.
func (p *placer) passes(s ast.Stmt) bool {
	passes := true
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.LabeledStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt, *ast.SendStmt,
			*ast.ForStmt, *ast.RangeStmt: // a loop may go on for good
			passes = false
		case *ast.UnaryExpr:
			passes = passes && n.Op != token.ARROW
		case *ast.CallExpr:
			tv := p.Info.Types[n.Fun]
			if isBuiltin(p.Info, n.Fun, "panic") || !tv.IsType() && !tv.IsBuiltin() && !p.Inlining.inlined(p.Fset.Position(n.Lparen)) {
				passes = false
			}
		}
		return passes
	})
	return passes
}
