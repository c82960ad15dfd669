package points

import (
	"go/ast"
	"go/token"
	"go/types"
)

// findClosures notes the variables that hold one function literal for all of
// their life. A call through such a variable is static, and must be left so: to ask
// at run time what it holds would keep a closure that the compiler has inlined.
func (f *finder) findClosures() {
	f.closures = map[types.Object]*ast.FuncLit{}
	assigned := map[types.Object]int{}
	assign := func(lhs ast.Expr, rhs ast.Expr) {
		if lhs == nil {
			return
		}
		id, ok := ast.Unparen(lhs).(*ast.Ident)
		if !ok {
			return
		}
		obj := f.Info.ObjectOf(id)
		if obj == nil {
			return
		}
		assigned[obj]++
		if rhs != nil {
			if lit, ok := ast.Unparen(rhs).(*ast.FuncLit); ok {
				f.closures[obj] = lit
			}
		}
	}
	each := func(lhs, rhs []ast.Expr) {
		for i, l := range lhs {
			if len(rhs) == len(lhs) {
				assign(l, rhs[i])
			} else {
				assign(l, nil)
			}
		}
	}
	for _, file := range f.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				each(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				if len(n.Values) > 0 {
					for i, id := range n.Names {
						if len(n.Values) == len(n.Names) {
							assign(id, n.Values[i])
						} else {
							assign(id, nil)
						}
					}
				}
			case *ast.RangeStmt:
				each([]ast.Expr{n.Key, n.Value}, nil)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					assign(n.X, nil)
				}
			}
			return true
		})
	}
	for obj := range f.closures {
		if assigned[obj] != 1 || obj.Parent() == nil || obj.Parent() == f.Types.Scope() {
			delete(f.closures, obj) // others may assign to a package's variable
		}
	}
}

// closure returns the literal that e always stands for.
func (f *finder) closure(e ast.Expr) *ast.FuncLit {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	return f.closures[f.Info.Uses[id]]
}
