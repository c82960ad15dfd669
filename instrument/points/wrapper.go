package points

import (
	"go/ast"
	"go/types"
)

// wrapper is a method that the compiler inlines and that does one operation on a
// part of its receiver, as in
//
//	func (s *Server) lock() { s.mu.Lock() }
//
// It has no probe. Instead, each call of it is treated as the operation. All calls must be in its
// package and name it, because nothing is known of calls elsewhere, nor of those of a value.
type wrapper struct {
	Sync
	op syncOp
}

// findWrappers notes the wrappers of the package.
func (f *finder) findWrappers() {
	found, values := map[*types.Func]*wrapper{}, f.values()
	for _, fn := range f.set.Funcs {
		d, ok := fn.Node.(*ast.FuncDecl)
		if !ok || d.Recv == nil || fn.Body == nil || len(d.Recv.List[0].Names) != 1 || f.skipFunc(fn) != Inlinable {
			continue
		}
		recv := f.Info.Defs[d.Recv.List[0].Names[0]]
		obj, ok := f.Info.Defs[d.Name].(*types.Func)
		if !ok || recv == nil || obj.Exported() && f.Types.Name() != "main" || values[obj.Origin()] {
			continue
		}
		if _, pointer := recv.Type().Underlying().(*types.Pointer); !pointer {
			continue // the method operates on a copy
		}
		if w := f.wraps(fn.Body, recv); w != nil {
			found[obj.Origin()] = w
		}
	}
	f.wrappers = found // set last: a wrapper of a wrapper is not one
}

// values returns the functions and methods of the package that are used as values.
func (f *finder) values() map[*types.Func]bool {
	called, list := map[*ast.Ident]bool{}, map[*types.Func]bool{}
	for _, file := range f.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				switch fun := c.Fun.(type) { // in parentheses it is a value
				case *ast.Ident:
					called[fun] = true
				case *ast.SelectorExpr:
					called[fun.Sel] = true
				}
			}
			return true
		})
	}
	for id, obj := range f.Info.Uses {
		if fn, ok := obj.(*types.Func); ok && !called[id] {
			list[fn.Origin()] = true
		}
	}
	return list
}

// wraps returns the wrapped operation if a body performs exactly one, once.
func (f *finder) wraps(body *ast.BlockStmt, recv types.Object) (w *wrapper) {
	ops := 0
	ast.Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if y, _ := f.syncCall(c); y != nil {
				ops++
			}
		}
		return true
	})
	if ops != 1 {
		return nil
	}
	for _, s := range body.List {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			continue
		}
		c, ok := ast.Unparen(e.X).(*ast.CallExpr)
		if !ok {
			continue
		}
		y, op := f.syncCall(c)
		if y == nil || y.method == nil || y.Object != Variable || y.indirect || y.Within != "" || y.Amount != nil ||
			op.tries() {
			continue
		}
		if path, ok := f.fieldPath(y.Operand, recv); ok {
			return &wrapper{Sync{Within: path + y.Path, Queue: y.Queue, method: y.method}, op}
		}
	}
	return nil
}

// fieldPath spells out e as fields of the struct that root points to. ok is false if e
// is not in that struct.
func (f *finder) fieldPath(e ast.Expr, root types.Object) (path string, ok bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return "", f.Info.Uses[e] == root
	case *ast.SelectorExpr:
		s := f.Info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			return "", false
		}
		path, ok = f.fieldPath(e.X, root)
		if !ok || path != "" && s.Indirect() {
			return "", false
		}
		return path + "." + e.Sel.Name, true
	}
	return "", false
}

// wrapped returns the operation of the wrapper that a selector names, nil if it names
// none.
func (f *finder) wrapped(sel *ast.SelectorExpr) (*Sync, syncOp) {
	m := f.Info.Selections[sel]
	if m == nil || m.Kind() != types.MethodVal || len(m.Index()) != 1 {
		return nil, syncOp{}
	}
	fn, ok := m.Obj().(*types.Func)
	if !ok {
		return nil, syncOp{}
	}
	w := f.wrappers[fn.Origin()]
	if w == nil {
		return nil, syncOp{}
	}
	y := w.Sync
	if y.Object = Variable; isPointer(m.Recv()) {
		y.Object = Pointer
	}
	return &y, w.op
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}
