package points

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Dynamic reports how to find the callee of a call at run time.
type Dynamic struct {
	Operand ast.Expr // a function, or the value whose method is called
	Method  int      // index of the method in the interface's table; -1: Operand is the function
}

// dynamic determines how the insertion that counts a call can find its callee. The
// insertion evaluates the operand once more, so that the evaluation must have no effect
// and its variables must be the same at the insertion. If the operand goes through
// pointers, no other call may be counted before it: that call could be the one that
// makes the pointers valid.
func (p *placer) dynamic(c *ast.CallExpr, a *Insertion) (d Dynamic, ok bool) {
	d = Dynamic{Operand: ast.Unparen(c.Fun), Method: -1}
	if sel, ok := d.Operand.(*ast.SelectorExpr); ok {
		if m := p.Info.Selections[sel]; m != nil && m.Kind() == types.MethodVal {
			t := types.Unalias(m.Recv())
			iface, ok := t.Underlying().(*types.Interface)
			if _, param := t.(*types.TypeParam); !ok || param || len(m.Index()) != 1 {
				return d, false
			}
			d.Operand, d.Method = sel.X, methodIndex(iface, m.Obj().Name())
		}
	}
	if d.Method < 0 {
		t := p.Info.TypeOf(d.Operand)
		if t == nil {
			return d, false
		}
		if _, fn := types.Unalias(t).Underlying().(*types.Signature); !fn {
			return d, false
		}
		if _, param := types.Unalias(t).(*types.TypeParam); param {
			return d, false
		}
	}
	if a.Form == Value || !p.generics() || !isPlain(d.Operand) || p.derefs(d.Operand) && len(a.Points) > 0 {
		return d, false
	}
	return d, p.sameAt(d.Operand, a.Pos)
}

// methodIndex returns a method's index in the tables of an interface. The compiler
// puts exported methods first and orders each group by name.
func methodIndex(t *types.Interface, name string) int {
	var names []string
	for i := range t.NumMethods() {
		names = append(names, t.Method(i).Name())
	}
	slices.SortStableFunc(names, func(a, b string) int {
		if x, y := token.IsExported(a), token.IsExported(b); x != y {
			if x {
				return -1
			}
			return +1
		}
		return cmp.Compare(a, b)
	})
	return slices.Index(names, name)
}

// derefs reports whether evaluating a plain expression goes through a pointer.
func (p *placer) derefs(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return p.derefs(e.X)
	case *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		s := p.Info.Selections[e]
		return s != nil && (s.Indirect() || p.derefs(e.X))
	}
	return false
}

// sameAt reports whether the names in e mean the same at another position.
func (p *placer) sameAt(e ast.Expr, pos token.Pos) bool {
	same := true
	ast.Inspect(e, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if ok {
			same = same && p.sameAt(sel.X, pos)
			return false
		}
		if id, ok := n.(*ast.Ident); ok {
			obj := p.Info.Uses[id]
			scope := p.Types.Scope().Innermost(pos)
			if obj == nil || scope == nil {
				same = false
				return false
			}
			_, there := scope.LookupParent(id.Name, pos)
			same = same && there == obj
		}
		return true
	})
	return same
}
