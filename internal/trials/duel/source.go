package duel

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// source is the source of a command, as far as it says where an object is used. Which functions an
// answer may name is in [source.accepts].
type source struct {
	funcs []function
	types map[string][]string // names of fields by their type
	info  types.Info
}

// function is a function, or a literal in one.
type function struct {
	name  string          // as profiles have it
	of    string          // the type that it is a method of
	top   string          // the function in which the literal is, or itself
	short string          // without package and type; "": a literal
	uses  map[string]bool // names
	calls map[string]bool
	// fields are the types of which fields are used, by the fields' names; "": it is not known.
	fields map[string][]string
}

// parse reads a folder.
func parse(dir string) (*source, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	s, set := &source{types: map[string][]string{}}, token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(f, s.typeSpec)
		parsed = append(parsed, f)
	}
	s.info.Selections = map[*ast.SelectorExpr]*types.Selection{}
	// Types from elsewhere are not needed to know those of the program's own.
	c := types.Config{Importer: nothing{}, Error: func(error) {}}
	_, _ = c.Check("main", set, parsed, &s.info)
	for _, f := range parsed {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				s.function(d)
			}
		}
	}
	return s, nil
}

// nothing imports packages without anything in them.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// typeSpec adds the fields of a type.
func (s *source) typeSpec(n ast.Node) bool {
	spec, ok := n.(*ast.TypeSpec)
	if !ok {
		return true
	}
	if st, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range st.Fields.List {
			for _, id := range field.Names {
				s.types[spec.Name.Name] = append(s.types[spec.Name.Name], id.Name)
			}
		}
	}
	return true
}

// function adds a function, and the literals in it.
func (s *source) function(d *ast.FuncDecl) {
	f := function{name: "main." + d.Name.Name, short: d.Name.Name}
	if d.Recv != nil {
		t := d.Recv.List[0].Type
		star, ok := t.(*ast.StarExpr)
		if ok {
			t = star.X
		}
		if x, ok := t.(*ast.IndexExpr); ok {
			t = x.X
		}
		if id, isName := t.(*ast.Ident); isName {
			if f.of = id.Name; ok {
				f.name = fmt.Sprintf("main.(*%s).%s", f.of, f.short)
			} else {
				f.name = fmt.Sprintf("main.%s.%s", f.of, f.short)
			}
		}
	}
	f.top = f.name
	s.body(f, d.Body)
}

// body adds a function with this body. The compiler numbers the literals in a function, func1 and
// so on, and those in a literal 1 and so on.
func (s *source) body(f function, body *ast.BlockStmt) {
	f.uses, f.calls, f.fields = map[string]bool{}, map[string]bool{}, map[string][]string{}
	literals := 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			literals++
			inner := function{name: fmt.Sprintf("%s.func%d", f.name, literals), of: f.of, top: f.top}
			if f.short == "" {
				inner.name = fmt.Sprintf("%s.%d", f.name, literals)
			}
			s.body(inner, n.Body)
			return false
		case *ast.Ident:
			f.uses[n.Name] = true
		case *ast.SelectorExpr:
			f.fields[n.Sel.Name] = append(f.fields[n.Sel.Name], s.owner(n))
		case *ast.CallExpr:
			switch x := n.Fun.(type) {
			case *ast.Ident:
				f.calls[x.Name] = true
			case *ast.SelectorExpr:
				f.calls[x.Sel.Name] = true
			}
		}
		return true
	})
	s.funcs = append(s.funcs, f)
}

// accepts reports whether the name of a function names what must change. It does so
//
//   - if it has one of the names in it, or is one of them,
//   - if one of them is an object, and the function uses something of that name, or a literal in it
//     does, unless that is known to be a field of another type,
//   - with callers, if one of them is a function, and this one calls it. Function main, which is
//     above all others, is never accepted for that.
func (s *source) accepts(name string, wants []string, callers bool) bool {
	return slices.ContainsFunc(wants, func(want string) bool {
		if exact, ok := strings.CutPrefix(want, "="); ok {
			return within(name, exact) || callers && s.caller(name, exact)
		}
		if some, ok := strings.CutPrefix(want, "~"); ok || strings.Contains(name, want) {
			return strings.Contains(name, some)
		}
		is := func(f function) bool { return f.short != "" && strings.HasSuffix(f.name, want) }
		if i := slices.IndexFunc(s.funcs, is); i >= 0 {
			return callers && s.caller(name, s.funcs[i].name)
		}
		of, object := s.object(want)
		if object == "" { // a type, with all that it has
			return slices.ContainsFunc(s.types[of], func(field string) bool { return s.user(name, of, field) })
		}
		return s.user(name, of, object)
	})
}

// object is the object that is named, and its type if it is a field: "store).mu", "permits". Of
// "main.(*geoTable)" only the type is known.
func (s *source) object(name string) (of, object string) {
	words := strings.FieldsFunc(name, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_'
	})
	for _, w := range words {
		if s.types[w] != nil {
			of = w
		}
	}
	if object = words[len(words)-1]; object == of {
		object = ""
	}
	return of, object
}

// within reports whether a name is that of a function, or of a literal in it.
func within(name, function string) bool {
	return name == function || strings.HasPrefix(name, function+".")
}

// caller reports whether the name is that of a function or literal that calls another.
func (s *source) caller(name, callee string) bool {
	short := callee[strings.LastIndexByte(callee, '.')+1:]
	return slices.ContainsFunc(s.funcs, func(f function) bool {
		return f.name == name && f.name != "main.main" && f.calls[short]
	})
}

// user reports whether the name is that of a function that uses an object.
func (s *source) user(name, of, object string) bool {
	field := slices.Contains(s.types[of], object)
	return slices.ContainsFunc(s.funcs, func(f function) bool {
		if !within(name, f.top) {
			return false
		}
		used := f.fields[object]
		return !field && f.uses[object] || slices.Contains(used, of) || slices.Contains(used, "")
	})
}

// owner is the type of whose values a field or method is selected; "": it is not known, or the
// field may be one of an embedded type.
func (s *source) owner(n *ast.SelectorExpr) string {
	x := s.info.Selections[n]
	if x == nil || len(x.Index()) > 1 {
		return ""
	}
	t := x.Recv()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}
