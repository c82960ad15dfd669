package points

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A loop may ask channels, over and over, whether one of them has something: all that it does is a
// select with a default that does nothing, yields, or sleeps. It waits, though it works. What its
// procedure does itself is that wait, if the procedure has no other loop.

// asking returns the clauses of such a loop's select that operate on channels.
func (f *finder) asking(fn *Func, loop *ast.ForStmt) (clauses []*ast.CommClause) {
	var sel *ast.SelectStmt
	for _, s := range loop.Body.List {
		if l, ok := s.(*ast.LabeledStmt); ok {
			s = l.Stmt
		}
		switch s := s.(type) {
		case *ast.SelectStmt:
			if sel != nil {
				return nil
			}
			sel = s
		default:
			if !f.idles(s) {
				return nil
			}
		}
	}
	if sel == nil || loopsIn(fn.Body) != 1 {
		return nil
	}
	asks := false
	for _, s := range sel.Body.List {
		switch c := s.(*ast.CommClause); {
		case c.Comm != nil:
			clauses = append(clauses, c)
		case slices.ContainsFunc(c.Body, func(s ast.Stmt) bool { return !f.idles(s) }):
			return nil
		default:
			asks = true
		}
	}
	if !asks {
		return nil
	}
	return clauses
}

// idles reports whether a statement does nothing, yields, or sleeps.
func (f *finder) idles(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.EmptyStmt, *ast.IncDecStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE && s.Label == nil
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		fn, ok := declared(f.Info, c.Fun).(*types.Func)
		return ok && (fn.FullName() == "runtime.Gosched" || fn.FullName() == "time.Sleep")
	}
	return false
}

// loopsIn is how many loops a function has, without those of literals.
func loopsIn(body *ast.BlockStmt) (n int) {
	ast.Inspect(body, func(s ast.Node) bool {
		switch s.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			n++
		}
		return true
	})
	return n
}
