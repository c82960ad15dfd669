package points

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// nameFuncs lists every function of the package and gives it the compiler's
// name. Literals are numbered in the order in which the compiler meets them. That
// is the order of the source, with two exceptions: a for statement's post comes
// before its body, and code that a constant condition excludes is never met. See
// closureName in cmd/compile/internal/ir, and cmd/compile/internal/noder.
func (f *finder) nameFuncs() {
	inits := 0
	for _, file := range f.Files {
		after := file.Name.End()
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				f.nameDecl(d, after, pragmas(file, after, d.Type.Func), &inits)
			}
			after = decl.End()
		}
	}
	global := &namer{finder: f, name: prefix(f.Types) + ".init", first: ".func"}
	for _, init := range f.Info.InitOrder {
		global.walk(init.Rhs)
	}
	global.skip = Dead // the remaining literals, such as those of blank variables
	for _, file := range f.Files {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok {
				global.walk(d)
			}
		}
	}
}

func (f *finder) nameDecl(d *ast.FuncDecl, start token.Pos, doc []*ast.Comment, inits *int) {
	fn := &Func{Node: d, Type: d.Type, Body: d.Body, doc: doc, Bodies: Bodies{Start: start}}
	obj, _ := f.Info.Defs[d.Name].(*types.Func)
	switch {
	case d.Name.Name == "_":
		fn.Name, fn.Skip = prefix(f.Types)+"._", Blank
	case d.Name.Name == "init" && d.Recv == nil:
		fn.Name = fmt.Sprintf("%s.init.%d", prefix(f.Types), *inits)
		*inits++
	default:
		fn.Name = symbol(obj)
		if f.reduces(obj) {
			fn.Skip = Reduces
		}
	}
	f.set.Funcs = append(f.set.Funcs, fn)
	if d.Body != nil {
		n := &namer{finder: f, fn: fn, name: fn.Name, first: ".func", skip: fn.Skip}
		n.walk(d.Body)
	}
}

// namer numbers the literals of one function.
type namer struct {
	*finder
	fn    *Func // nil for the package's variables
	name  string
	first string // between the name and the number: ".func", inside literals "."
	count int
	skip  SkipReason // why the code being walked is not probed; Dead: the compiler will not see it

	// met, if there is one, is called with each identifier that the compiler meets, in place of
	// numbering literals.
	met func(*ast.Ident)
}

func (n *namer) walk(node ast.Node) {
	ast.Inspect(node, func(node ast.Node) bool {
		if e, ok := node.(ast.Expr); ok && n.met != nil {
			if n.Info.Types[e].Value != nil || n.skip == Dead {
				return false
			}
		}
		switch x := node.(type) {
		case *ast.Ident:
			if n.met != nil {
				n.met(x)
			}
		case *ast.FuncLit:
			n.literal(x)
		case *ast.GoStmt:
			if n.met == nil {
				n.begun.started[ast.Unparen(x.Call.Fun)] = true
				n.begun.begin(n.Info, x.Call.Fun)
			}
			n.walk(x.Call)
		case *ast.CallExpr:
			if n.met != nil {
				return true
			}
			switch arg := passedToGo(x).(type) {
			case nil:
			case *ast.FuncLit:
				n.begun.handed[arg] = true
			default:
				n.begun.begin(n.Info, arg)
			}
			return true
		case *ast.IfStmt:
			n.ifStmt(x)
		case *ast.ForStmt:
			n.forStmt(x)
		case *ast.SwitchStmt:
			n.switchStmt(x)
		case *ast.BlockStmt:
			n.list(x.List)
		case *ast.CaseClause:
			for _, e := range x.List {
				n.walk(e)
			}
			n.list(x.Body)
		case *ast.CommClause:
			if x.Comm != nil {
				n.walk(x.Comm)
			}
			n.list(x.Body)
		default:
			return true
		}
		return false
	})
}

func (n *namer) literal(lit *ast.FuncLit) {
	if n.met != nil {
		n.walk(lit.Body)
		return
	}
	if n.literals[lit] != nil {
		return
	}
	fn := &Func{Node: lit, Type: lit.Type, Body: lit.Body, nest: nest{within: n.fn}}
	if n.skip == Dead || n.skip == Blank {
		fn.Name, fn.Skip = n.name+n.first, Dead
	} else {
		n.count++
		fn.Name, fn.Skip = fmt.Sprintf("%s%s%d", n.name, n.first, n.count), n.skip
		if n.fn != nil {
			n.fn.nest.literals = append(n.fn.nest.literals, fn)
		}
	}
	n.literals[lit] = fn
	n.set.Funcs = append(n.set.Funcs, fn)
	inner := &namer{finder: n.finder, fn: fn, name: fn.Name, first: ".", skip: n.skip}
	inner.walk(lit.Body)
}

func (n *namer) ifStmt(s *ast.IfStmt) {
	if s.Init != nil {
		n.walk(s.Init)
	}
	n.walk(s.Cond)
	cond := staticBool(n.Info, s.Cond)
	n.walkIf(cond >= 0, s.Body)
	if s.Else != nil {
		n.walkIf(cond <= 0, s.Else)
	}
}

func (n *namer) forStmt(s *ast.ForStmt) {
	live := true
	if s.Init != nil {
		n.walk(s.Init)
	}
	if s.Cond != nil {
		n.walk(s.Cond)
		live = staticBool(n.Info, s.Cond) >= 0
	}
	if s.Post != nil {
		n.walkIf(live, s.Post)
	}
	n.walkIf(live, s.Body)
}

func (n *namer) switchStmt(s *ast.SwitchStmt) {
	if s.Init != nil {
		n.walk(s.Init)
	}
	target, constant := staticClause(n.Info, s)
	if !constant && s.Tag != nil {
		n.walk(s.Tag)
	}
	for _, c := range s.Body.List {
		n.walkIf(!constant || c == target, c)
	}
}

func (n *namer) walkIf(live bool, node ast.Node) {
	was := n.skip
	if !live {
		n.skip = Dead
	}
	n.walk(node)
	n.skip = was
}

// list walks statements. Like the compiler, it drops the statements after a
// terminating statement, unless a label follows.
func (n *namer) list(stmts []ast.Stmt) {
	lastLabel := -1
	for i, s := range stmts {
		if _, ok := s.(*ast.LabeledStmt); ok {
			lastLabel = i
		}
	}
	dead := false
	for i, s := range stmts {
		_, labeled := s.(*ast.LabeledStmt)
		if dead && i > lastLabel && !labeled {
			n.walkIf(false, s)
			continue
		}
		n.walk(s)
		dead = terminates(n.Info, s)
	}
}

// terminates approximates terminating statements as the compiler does.
func terminates(info *types.Info, s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.GOTO
	case *ast.ExprStmt:
		call, ok := ast.Unparen(s.X).(*ast.CallExpr)
		return ok && isBuiltin(info, call.Fun, "panic")
	case *ast.IfStmt:
		cond := staticBool(info, s.Cond)
		return (cond < 0 || terminates(info, s.Body)) &&
			(cond > 0 || s.Else != nil && terminates(info, s.Else))
	case *ast.BlockStmt:
		last := lastOf(s.List)
		return last != nil && terminates(info, last)
	}
	return false
}

// lastOf returns the last statement that is not empty, nil if there is none.
func lastOf(list []ast.Stmt) ast.Stmt {
	for _, s := range slices.Backward(list) {
		if _, empty := s.(*ast.EmptyStmt); !empty {
			return s
		}
	}
	return nil
}

func isBuiltin(info *types.Info, fun ast.Expr, name string) bool {
	id, ok := ast.Unparen(fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}
