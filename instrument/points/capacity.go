package points

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// Capacity is that of a channel that is made in an expression.
type Capacity struct {
	Pos, End token.Pos // of what says so now; both are the end of the only argument if nothing does
	N        int
}

// stores are the variables and fields in which values are stored, with the names of these, by the
// variable or field that had the value before; nil: a value that is made there. Parameters of the
// package's functions are among them.
type stores struct {
	*finder
	from map[types.Object][]store
	made []store
}

type store struct {
	value ast.Expr
	to    types.Object
	name  string
}

// capacities are those of channels for which [Limits.Capacities] has another number. A channel has
// the names of all variables and fields in which it is stored.
func (f *finder) capacities() (list []Capacity) {
	if len(f.Limits.Capacities) == 0 {
		return nil
	}
	s := stores{finder: f, from: map[types.Object][]store{}}
	for _, file := range f.Files {
		ast.Inspect(file, s.visit)
	}
	for _, at := range s.made {
		args := ast.Unparen(at.value).(*ast.CallExpr).Args
		n, ok := s.capacity(at, map[types.Object]bool{nil: true})
		if !ok {
			continue
		}
		r := Capacity{args[0].End(), args[0].End(), n}
		if len(args) > 1 {
			r.Pos, r.End = args[1].Pos(), args[1].End()
		}
		list = append(list, r)
	}
	return list
}

// capacity is that for one of the names of a channel. Of several the first one in their order
// counts, so that each build is the same.
func (s *stores) capacity(at store, seen map[types.Object]bool) (n int, ok bool) {
	for _, as := range slices.Sorted(maps.Keys(s.Limits.Capacities)) {
		if listed([]string{as}, at.name) {
			return s.Limits.Capacities[as], true
		}
	}
	if seen[at.to] {
		return 0, false
	}
	seen[at.to] = true
	for _, next := range s.from[at.to] {
		if n, ok := s.capacity(next, seen); ok {
			return n, true
		}
	}
	return 0, false
}

// visit adds what a node stores.
func (s *stores) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if len(n.Rhs) == len(n.Lhs) {
				s.add(n.Rhs[i], s.variableOf(to), s.objectName(to))
			}
		}
	case *ast.ValueSpec:
		for i, to := range n.Names {
			if len(n.Values) == len(n.Names) {
				s.add(n.Values[i], s.variableOf(to), s.variableName(to))
			}
		}
	case *ast.CompositeLit:
		s.literal(n)
	case *ast.CallExpr:
		fn, ok := typeutil.Callee(s.Info, n).(*types.Func)
		if !ok || fn.Pkg() != s.Types {
			break
		}
		params := fn.Signature().Params()
		for i := range min(params.Len(), len(n.Args)) {
			s.add(n.Args[i], params.At(i), s.variable(params.At(i)))
		}
	}
	return true
}

// literal adds what a literal of a struct stores in its fields.
func (s *stores) literal(n *ast.CompositeLit) {
	t := s.Info.TypeOf(n)
	owner := typeName(t)
	if owner == "" {
		return
	}
	st, _ := t.Underlying().(*types.Struct)
	for i, e := range n.Elts {
		if e, ok := e.(*ast.KeyValueExpr); ok {
			if field, ok := e.Key.(*ast.Ident); ok {
				s.add(e.Value, s.Info.ObjectOf(field), owner+"."+field.Name)
			}
		} else if st != nil {
			s.add(n.Elts[i], st.Field(i), owner+"."+st.Field(i).Name())
		}
	}
}

// add notes that a value is stored, if it is a channel.
func (s *stores) add(value ast.Expr, to types.Object, name string) {
	t := s.Info.TypeOf(value)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Chan); !ok {
		return
	}
	if at := (store{value, to, name}); s.makes(value) {
		s.made = append(s.made, at)
	} else if from := s.variableOf(value); from != nil {
		s.from[from] = append(s.from[from], at)
	}
}

// variableOf is the variable or field that an expression is; nil: it is none.
func (s *stores) variableOf(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return s.Info.ObjectOf(e)
	case *ast.SelectorExpr:
		return s.Info.ObjectOf(e.Sel)
	}
	return nil
}

// makes reports whether a value is made where it stands.
func (s *stores) makes(value ast.Expr) bool {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := s.Info.Uses[id].(*types.Builtin)
	return ok && b.Name() == "make"
}
