package instrument

import (
	"bufio"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Source describes a package as its compile command does.
type Source struct {
	Path       string // -p
	ImportPath string // the path in import declarations; differs from Path for programs
	Files      []string
	ImportCfg  string // file
	Lang       string // -lang, "" if not given
	GOARCH     string
	Assembly   bool                // see points.Package
	FileName   func(string) string // see points.Package
}

// loaded is a parsed and type-checked package.
type loaded struct {
	fset  *token.FileSet
	files []*ast.File
	texts [][]byte
	types *types.Package
	info  *types.Info
}

func load(src *Source) (*loaded, error) {
	l := &loaded{fset: token.NewFileSet()}
	for _, name := range src.Files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(l.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		l.texts = append(l.texts, text)
		l.files = append(l.files, file)
	}
	imp, err := newImporter(src.ImportCfg)
	if err != nil {
		return nil, err
	}
	l.info = &types.Info{
		Types:  map[ast.Expr]types.TypeAndValue{},
		Defs:   map[*ast.Ident]types.Object{},
		Uses:   map[*ast.Ident]types.Object{},
		Scopes: map[ast.Node]*types.Scope{},

		Selections: map[*ast.SelectorExpr]*types.Selection{},

		Implicits:    map[ast.Node]types.Object{},
		Instances:    map[*ast.Ident]types.Instance{},
		FileVersions: map[*ast.File]string{},
	}
	conf := types.Config{
		Importer:  imp,
		GoVersion: src.Lang,
		Sizes:     types.SizesFor("gc", src.GOARCH),
	}
	l.types, err = conf.Check(src.Path, l.fset, l.files, l.info)
	return l, err
}

// ssa builds the package's SSA form, or with all == false that of the functions that need it: those
// with loops, small ones, and those that may keep a pace or remember something. The builder panics
// on input that it does not know. Then there is no SSA form, and the error has the value of the
// panic.
func (l *loaded) ssa(all bool) (pkg *ssa.Package, err error) {
	defer func() {
		if v := recover(); v != nil {
			line, _, _ := strings.Cut(fmt.Sprint(v), "\n")
			pkg, err = nil, errors.New(line)
		}
	}()
	prog := ssa.NewProgram(l.fset, 0)
	seen := map[*types.Package]bool{}
	var declare func(list []*types.Package)
	declare = func(list []*types.Package) {
		for _, p := range list {
			if !seen[p] {
				seen[p] = true
				prog.CreatePackage(p, nil, nil, true)
				declare(p.Imports())
			}
		}
	}
	declare(l.types.Imports())
	files := l.files
	if !all {
		files = nil
		for _, f := range l.files {
			files = append(files, withoutBodies(f))
		}
	}
	pkg = prog.CreatePackage(l.types, files, l.info, false)
	pkg.Build()
	return pkg, nil
}

// smallBody is the largest number of statements of a function that may be inlined, or that a spin
// loop may call.
const smallBody = 8

// withoutBodies is a copy of a file in which functions that are of no interest have
// no bodies.
func withoutBodies(f *ast.File) *ast.File {
	out := *f
	out.Decls = slices.Clone(f.Decls)
	for i, d := range out.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !needsSSA(fn.Body) {
			stripped := *fn
			stripped.Body = nil
			out.Decls[i] = &stripped
		}
	}
	return &out
}

func needsSSA(body *ast.BlockStmt) bool {
	found, statements := false, 0
	asks, keeps, returns := false, false, false // what a function that remembers does
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = true
		case *ast.FuncLit:
			found = found || len(n.Body.List) <= smallBody // it may be inlined
		case *ast.BranchStmt:
			found = found || n.Tok == token.GOTO
		case *ast.SelectorExpr:
			found = found || setsTimer[n.Sel.Name]
		case *ast.BlockStmt:
		case ast.Stmt:
			statements++
			switch n := n.(type) {
			case *ast.IfStmt:
				asks = true
			case *ast.ReturnStmt:
				returns = returns || len(n.Results) > 0
			case *ast.AssignStmt:
				keeps = keeps || n.Tok == token.ASSIGN && slices.ContainsFunc(n.Lhs, isPart)
			}
		}
		return !found
	})
	return found || statements <= smallBody || asks && keeps && returns
}

// setsTimer are the names of functions that sleep or set a timer.
var setsTimer = map[string]bool{"Sleep": true, "After": true, "NewTimer": true, "Reset": true}

// isPart reports whether an expression is a part of something.
func isPart(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.IndexExpr, *ast.SelectorExpr:
		return true
	}
	return false
}

// cfgImporter imports the packages in the compile command's import configuration.
type cfgImporter struct {
	types.Importer
	renamed map[string]string // import path as written -> path
}

func newImporter(cfg string) (types.Importer, error) {
	files := map[string]string{} // by path
	imp := cfgImporter{renamed: map[string]string{}}
	imp.Importer = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		name, ok := files[path]
		if !ok {
			return nil, fmt.Errorf("package %s is not in the import configuration", path)
		}
		return os.Open(name)
	})
	if cfg == "" {
		return imp, nil
	}
	f, err := os.Open(cfg)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		verb, rest, _ := strings.Cut(strings.TrimSpace(sc.Text()), " ")
		key, value, _ := strings.Cut(strings.TrimSpace(rest), "=")
		switch verb {
		case "packagefile":
			files[key] = value
		case "importmap":
			imp.renamed[key] = value
		}
	}
	return imp, sc.Err()
}

// Import implements [types.Importer].
func (imp cfgImporter) Import(path string) (*types.Package, error) {
	if to, ok := imp.renamed[path]; ok {
		path = to
	}
	return imp.Importer.Import(path)
}
