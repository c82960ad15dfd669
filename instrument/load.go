package instrument

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
)

// Source is what a compile command says about a package.
type Source struct {
	Path       string // -p
	ImportPath string // what importers say; differs from Path for programs
	Files      []string
	ImportCfg  string // file
	Lang       string // -lang, "" if not given
	GOARCH     string
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
	}
	conf := types.Config{
		Importer:  imp,
		GoVersion: src.Lang,
		Sizes:     types.SizesFor("gc", src.GOARCH),
	}
	l.types, err = conf.Check(src.Path, l.fset, l.files, l.info)
	return l, err
}

// importer reads the export data that the compile command names.
type importer struct {
	fset     *token.FileSet
	packages map[string]*types.Package
	files    map[string]string // by path
	renamed  map[string]string // import path as written -> path
}

func newImporter(cfg string) (*importer, error) {
	imp := &importer{token.NewFileSet(), map[string]*types.Package{}, map[string]string{}, map[string]string{}}
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
			imp.files[key] = value
		case "importmap":
			imp.renamed[key] = value
		}
	}
	return imp, sc.Err()
}

// Import implements [types.Importer].
func (imp *importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if to, ok := imp.renamed[path]; ok {
		path = to
	}
	if pkg := imp.packages[path]; pkg != nil && pkg.Complete() {
		return pkg, nil
	}
	name, ok := imp.files[path]
	if !ok {
		return nil, fmt.Errorf("package %s is not in the import configuration", path)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gcexportdata.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return gcexportdata.Read(r, imp.fset, imp.packages, path)
}
