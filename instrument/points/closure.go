package points

import (
	"go/ast"
	"go/token"
	"go/types"
)

// closures are the variables that hold the same function literal or method value all the
// time. The compiler makes a call through a variable with a literal static and may inline
// the closure. A probe must not read such a variable at run time, because the closure would
// then have to exist.
type closures struct {
	of    map[types.Object]ast.Expr // the function that a variable holds
	bound map[ast.Expr]bool         // these functions
}

func findClosures(p *Package) closures {
	found := closures{map[types.Object]ast.Expr{}, map[ast.Expr]bool{}}
	// passed: uses that are neither assignments nor calls
	assigned, passed := map[types.Object]int{}, map[types.Object]int{}
	assign := func(lhs ast.Expr, rhs ast.Expr) {
		if lhs == nil {
			return
		}
		id, ok := ast.Unparen(lhs).(*ast.Ident)
		if !ok {
			return
		}
		obj := p.Info.ObjectOf(id)
		if obj == nil {
			return
		}
		assigned[obj]++
		if p.Info.Uses[id] != nil {
			passed[obj]--
		}
		switch rhs := ast.Unparen(rhs).(type) {
		case *ast.FuncLit, *ast.SelectorExpr:
			found.of[obj] = rhs
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
	for _, file := range p.Files {
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
			case *ast.CallExpr:
				if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
					passed[p.Info.Uses[id]]--
				}
			case *ast.Ident:
				passed[p.Info.Uses[n]]++
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
	for obj, value := range found.of {
		_, method := value.(*ast.SelectorExpr)
		switch {
		// other packages may assign to a package's variable
		case assigned[obj] != 1, obj.Parent() == nil, obj.Parent() == p.Types.Scope():
			delete(found.of, obj)
		case method && passed[obj] > 0: // a probe at the calls would not see all
			delete(found.of, obj)
		default:
			found.bound[value] = true
		}
	}
	return found
}

// closure returns the literal that is always the value of e.
func (f *finder) closure(e ast.Expr) *ast.FuncLit {
	lit, _ := f.held(e).(*ast.FuncLit)
	return lit
}

// methodValue returns the method value that is always the value of e, nil if there
// is none.
func (f *finder) methodValue(e ast.Expr) *ast.SelectorExpr {
	sel, _ := f.held(e).(*ast.SelectorExpr)
	return sel
}

func (f *finder) held(e ast.Expr) ast.Expr {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	return f.closures.of[f.Info.Uses[id]]
}
