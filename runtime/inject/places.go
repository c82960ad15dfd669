package inject

import (
	"bytes"
	"go/ast"
	"go/printer"
	"go/token"
)

// head is the place right after the opening brace of a function, named "f" or
// "receiver.f".
func head(name string) place {
	return func(f *ast.File) (n int, start, end token.Pos) {
		for _, fn := range funcs(f, name) {
			n++
			start = fn.Body.Lbrace + 1
		}
		return n, start, start
	}
}

// before and after are the places around a statement of a function, given as
// gofmt prints it.
func before(name, stmt string) place {
	return func(f *ast.File) (n int, start, end token.Pos) {
		n, start, _ = statement(f, name, stmt)
		return n, start, start
	}
}

func after(name, stmt string) place {
	return func(f *ast.File) (n int, start, end token.Pos) {
		n, _, end = statement(f, name, stmt)
		return n, end, end
	}
}

// only is the one statement of a function that reads as given.
func only(name, stmt string) place {
	return func(f *ast.File) (n int, start, end token.Pos) {
		return statement(f, name, stmt)
	}
}

// condition is the k-th of exactly n conditions of ifs of a function that read
// as given.
func condition(name, expr string, k, n int) place {
	return func(f *ast.File) (matches int, start, end token.Pos) {
		found := 0
		for _, fn := range funcs(f, name) {
			ast.Inspect(fn.Body, func(node ast.Node) bool {
				if s, ok := node.(*ast.IfStmt); ok && source(s.Cond) == expr {
					if found++; found == k {
						start, end = s.Cond.Pos(), s.Cond.End()
					}
				}
				return true
			})
		}
		return found - n + 1, start, end
	}
}

// beforeInit is the place before the first if of a function whose init
// statement reads as given.
func beforeInit(name, stmt string) place {
	return func(f *ast.File) (n int, start, end token.Pos) {
		if s := ifWithInit(f, name, stmt); s != nil {
			return 1, s.Pos(), s.Pos()
		}
		return 0, 0, 0
	}
}

// insideInit is the head of the body of such an if.
func insideInit(name, stmt string) place {
	return func(f *ast.File) (n int, start, end token.Pos) {
		if s := ifWithInit(f, name, stmt); s != nil {
			return 1, s.Body.Lbrace + 1, s.Body.Lbrace + 1
		}
		return 0, 0, 0
	}
}

// insideIf is the head of the body of the one if of a function with that condition.
func insideIf(name, expr string) place {
	return func(f *ast.File) (n int, start, end token.Pos) {
		for _, fn := range funcs(f, name) {
			ast.Inspect(fn.Body, func(node ast.Node) bool {
				if s, ok := node.(*ast.IfStmt); ok && source(s.Cond) == expr {
					n++
					start = s.Body.Lbrace + 1
				}
				return true
			})
		}
		return n, start, start
	}
}

func ifWithInit(f *ast.File, name, stmt string) (found *ast.IfStmt) {
	for _, fn := range funcs(f, name) {
		ast.Inspect(fn.Body, func(node ast.Node) bool {
			if s, ok := node.(*ast.IfStmt); ok && found == nil && s.Init != nil && source(s.Init) == stmt {
				found = s
			}
			return true
		})
	}
	return found
}

// field is the place after a field of a struct type; "" is its last one.
func field(name, field string) place {
	return func(f *ast.File) (n int, start, end token.Pos) {
		ast.Inspect(f, func(node ast.Node) bool {
			t, ok := node.(*ast.TypeSpec)
			if !ok || t.Name.Name != name {
				return true
			}
			s, ok := t.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for i, member := range s.Fields.List {
				if len(member.Names) > 0 && member.Names[0].Name == field || field == "" && i == len(s.Fields.List)-1 {
					n++
					start = member.End()
				}
			}
			return true
		})
		return n, start, start
	}
}

func statement(f *ast.File, name, stmt string) (n int, start, end token.Pos) {
	for _, fn := range funcs(f, name) {
		ast.Inspect(fn.Body, func(node ast.Node) bool {
			if s, ok := node.(ast.Stmt); ok && source(s) == stmt {
				n++
				start, end = s.Pos(), s.End()
			}
			return true
		})
	}
	return n, start, end
}

func source(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return ""
	}
	return b.String()
}

func funcs(f *ast.File, name string) []*ast.FuncDecl {
	var list []*ast.FuncDecl
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && funcName(fn) == name {
			list = append(list, fn)
		}
	}
	return list
}

func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return ""
}
