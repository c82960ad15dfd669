package api

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// checked is a file of its own as a package.
func checked(t *testing.T, name string) (*ast.File, *types.Scope) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check(name, fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, pkg.Scope()
}

// TestSignatures checks that the replacement of inert.go has the same declarations, with the same
// types, and the same version everywhere.
func TestSignatures(t *testing.T) {
	t.Parallel()
	version, functions := "", 0
	for path, folder := range Folders {
		inertFile := filepath.Join("..", "..", strings.TrimPrefix(strings.TrimPrefix(path, "qinst.dev"), "/"),
			"inert.go")
		_, inert := checked(t, inertFile)
		_, live := checked(t, filepath.Join(folder, "live.go"))
		for _, name := range inert.Names() {
			want, got := inert.Lookup(name), live.Lookup(name)
			if got == nil {
				t.Errorf("%s: live.go has no %s", path, name)
				continue
			}
			if !types.Identical(got.Type(), want.Type()) {
				t.Errorf("%s: %s is %s in live.go and %s in inert.go", path, name, got.Type(), want.Type())
			}
			if _, ok := got.(*types.Func); ok {
				functions++
			}
		}
		for _, scope := range []*types.Scope{inert, live} {
			c, ok := scope.Lookup("toolAPI").(*types.Const)
			if !ok {
				t.Fatalf("%s: a file has no constant toolAPI", path)
			}
			if version == "" {
				version = c.Val().String()
			}
			if v := c.Val().String(); v != version {
				t.Errorf("%s: toolAPI is %s, elsewhere %s", path, v, version)
			}
		}
	}
	if functions < 20 {
		t.Errorf("found %d functions", functions)
	}
}

const runtimeFiles = "../inject/_rt/*.go"

// parsed are the runtime's files.
func parsed(t *testing.T) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(runtimeFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// TestBodies checks that each function without a body is one of the runtime's, with the
// same types.
func TestBodies(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{} // by the linker's name
	for _, f := range parsed(t) {
		names := linknames(f)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && names[fn.Name.Name] != "" {
				bodies[names[fn.Name.Name]] = signature(fn)
			}
		}
	}
	found := 0
	for path, folder := range Folders {
		f, _ := checked(t, filepath.Join(folder, "live.go"))
		names := linknames(f)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body != nil {
				continue
			}
			found++
			if got, want := signature(fn), bodies[names[fn.Name.Name]]; got != want {
				t.Errorf("%s: %s is %s, in the runtime it is %q", path, fn.Name.Name, got, want)
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d functions without a body", found)
	}
}

// linknames are the linker's names of a file's functions.
func linknames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if w := strings.Fields(c.Text); len(w) == 3 && w[0] == "//go:linkname" {
				names[w[1]] = w[2]
			}
		}
	}
	return names
}

// signature are the types of a function's parameters and results.
func signature(fn *ast.FuncDecl) string {
	list := func(fields *ast.FieldList) (types_ []string) {
		if fields == nil {
			return nil
		}
		for _, f := range fields.List {
			for range max(len(f.Names), 1) {
				types_ = append(types_, types.ExprString(f.Type))
			}
		}
		return types_
	}
	return "(" + strings.Join(list(fn.Type.Params), ", ") + ") (" + strings.Join(list(fn.Type.Results), ", ") + ")"
}

// TestLayouts compares the structs and numbers of package extensions that mirror the
// runtime's with those.
func TestLayouts(t *testing.T) {
	t.Parallel()
	ours, err := parser.ParseFile(token.NewFileSet(), "../../extensions/live.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	theirs := declarations(t, parsed(t), map[string]string{"qinstBuffer": "head", "qinstPart": "part",
		"qinstBufferSize": "chunkSize", "qinstHeadSize": "headSize"})
	mirror := declarations(t, []*ast.File{ours}, map[string]string{"head": "head", "part": "part",
		"chunkSize": "chunkSize", "headSize": "headSize"})
	for _, arch := range []string{"amd64", "arm64"} {
		sizes := types.SizesFor("gc", arch)
		for _, name := range []string{"head", "part"} {
			a, b := fieldsOf(mirror.Lookup(name).Type()), fieldsOf(theirs.Lookup(name).Type())
			if len(a) != len(b) || len(a) == 0 {
				t.Fatalf("%s has %d fields, in the runtime %d", name, len(a), len(b))
			}
			at, bt := sizes.Offsetsof(a), sizes.Offsetsof(b)
			for i := range a {
				if at[i] != bt[i] || sizes.Sizeof(a[i].Type()) != sizes.Sizeof(b[i].Type()) {
					t.Errorf("%s: field %s of %s is %d bytes at %d, in the runtime %s is %d at %d", arch, a[i].Name(),
						name,
						sizes.Sizeof(a[i].Type()), at[i], b[i].Name(), sizes.Sizeof(b[i].Type()), bt[i])
				}
				if name == "head" && a[i].Name() != b[i].Name() {
					t.Errorf("field %d of head is %s, in the runtime %s", i, a[i].Name(), b[i].Name())
				}
			}
		}
	}
	for _, name := range []string{"chunkSize", "headSize"} {
		got, want := mirror.Lookup(name).(*types.Const).Val(), theirs.Lookup(name).(*types.Const).Val()
		if got.ExactString() != want.ExactString() {
			t.Errorf("%s is %s, in the runtime %s", name, got, want)
		}
	}
}

// declarations are some types and constants of files, under other names. The marker of
// memory that the collector does not know has no size.
func declarations(t *testing.T, files []*ast.File, names map[string]string) *types.Scope {
	t.Helper()
	src := "package p\n\nimport \"unsafe\"\n\nvar _ unsafe.Pointer\n"
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if name := names[s.Name.Name]; name != "" {
						text := types.ExprString(s.Type)
						if st, ok := s.Type.(*ast.StructType); ok {
							text = structText(st)
						}
						for from, to := range names {
							text = strings.ReplaceAll(text, " "+from+"\n", " "+to+"\n")
						}
						src += "type " + name + " " + text + "\n"
					}
				case *ast.ValueSpec:
					if name := names[s.Names[0].Name]; g.Tok == token.CONST && name != "" {
						src += "const " + name + " = " + types.ExprString(s.Values[0]) + "\n"
					}
				}
			}
		}
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return pkg.Scope()
}

func structText(st *ast.StructType) string {
	text := "struct {\n"
	for _, f := range st.Fields.List {
		typ := types.ExprString(f.Type)
		if typ == "sys.NotInHeap" {
			continue
		}
		for _, n := range f.Names {
			text += "\t" + n.Name + " " + typ + "\n"
		}
	}
	return text + "}"
}

func fieldsOf(t types.Type) (fields []*types.Var) {
	st := t.Underlying().(*types.Struct)
	for i := range st.NumFields() {
		fields = append(fields, st.Field(i))
	}
	return fields
}
