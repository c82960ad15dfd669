package points

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// objectName returns a readable name for the object that an expression denotes:
//
//	path.(*Server).mu   a field, by the type that declares it
//	path.jobs           a package's variable
//	path.Run.done       a variable or parameter of a function
//	path.locks[...]     an element
//	path.Recv()         the result of a call
func (f *finder) objectName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.objectName(e.X)
	case *ast.StarExpr:
		return f.objectName(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return f.objectName(e.X)
		}
	case *ast.Ident:
		return f.variableName(e)
	case *ast.SelectorExpr:
		if s := f.Info.Selections[e]; s != nil && s.Kind() == types.FieldVal {
			return f.fieldName(e, s)
		}
		return f.variableName(e.Sel) // of another package
	case *ast.IndexExpr:
		return f.objectName(e.X) + "[...]"
	case *ast.CallExpr:
		if fn := typeutil.Callee(f.Info, e); fn != nil && fn.Pkg() != nil {
			if fn, ok := fn.(*types.Func); ok {
				return symbol(fn.Origin()) + "()"
			}
			return f.variable(fn) + "()"
		}
	}
	return "unnamed " + types.TypeString(f.Info.TypeOf(e), func(p *types.Package) string { return p.Path() })
}

func (f *finder) variableName(id *ast.Ident) string {
	obj := f.Info.ObjectOf(id)
	if obj == nil || obj.Pkg() == nil {
		return id.Name
	}
	return f.variable(obj)
}

// variable names a variable by the place of its declaration.
func (f *finder) variable(obj types.Object) string {
	if obj.Parent() == obj.Pkg().Scope() || obj.Pkg() != f.Types {
		return prefix(obj.Pkg()) + "." + obj.Name()
	}
	if fn := f.declaring(obj.Pos()); fn != nil {
		return fn.Name + "." + obj.Name()
	}
	return prefix(obj.Pkg()) + "." + obj.Name()
}

// declaring returns the innermost function around a position.
func (f *finder) declaring(pos token.Pos) (found *Func) {
	for _, fn := range f.set.Funcs { // inner ones come later
		if fn.Node.Pos() <= pos && pos < fn.Node.End() {
			found = fn
		}
	}
	return found
}

// fieldName names a field by the type that declares it.
func (f *finder) fieldName(e *ast.SelectorExpr, s *types.Selection) string {
	t := s.Recv()
	path := s.Index()
	name := ""
	for i, index := range path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return e.Sel.Name
		}
		owner := typeName(t)
		switch {
		case owner != "":
			name = owner
		case i == 0: // an unnamed struct: name it by the expression
			name = f.objectName(e.X)
		}
		name += "." + st.Field(index).Name()
		t = st.Field(index).Type()
	}
	return name
}

// promoted names the embedded field whose method is called.
func (f *finder) promoted(e ast.Expr, m *types.Selection) string {
	t := m.Recv()
	name := ""
	path := m.Index()
	for _, index := range path[:len(path)-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			break
		}
		switch owner := typeName(t); {
		case owner != "":
			name = owner
		case name == "":
			name = f.objectName(e) // an unnamed struct: name it by the expression
		}
		name += "." + st.Field(index).Name()
		t = st.Field(index).Type()
	}
	return name
}

// typeName returns the name of a type in the form that the linker uses for its methods.
func typeName(t types.Type) string {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	name := named.Obj().Name()
	if named.TypeArgs().Len() > 0 || named.TypeParams().Len() > 0 {
		name += "[...]"
	}
	return prefix(named.Obj().Pkg()) + ".(*" + name + ")"
}

// isParameter reports whether e is a parameter or the result of a call. The object
// then has a better name elsewhere.
func (f *finder) isParameter(e ast.Expr) bool {
	if _, call := ast.Unparen(e).(*ast.CallExpr); call {
		return true
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := f.Info.ObjectOf(id).(*types.Var)
	return ok && (v.Kind() == types.ParamVar || v.Kind() == types.RecvVar)
}
