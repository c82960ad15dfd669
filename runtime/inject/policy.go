package inject

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"qinst.dev/ratecontrol"
	"qinst.dev/runtime/settings"
)

// shared are the packages whose source is also a part of package runtime: the prefix of their
// declarations there, and of their files' names.
var shared = []struct {
	prefix, file string
	sources      embed.FS
}{
	{"qinstRate", "qinst_rate_", ratecontrol.Sources},
	{"qinstSetting", "qinst_setting_", settings.Sources},
}

// asRuntime returns the source of a shared package as a part of package runtime, by file. Its
// declarations get a prefix, like all of ours there. A declared name must not be that of a field,
// because fields keep their names.
func asRuntime(sources embed.FS, prefix string) (map[string][]byte, error) {
	entries, err := sources.ReadDir(".")
	if err != nil {
		return nil, err
	}
	files, ours := map[string][]byte{}, map[string]bool{}
	for _, e := range entries {
		if files[e.Name()], err = sources.ReadFile(e.Name()); err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), files[e.Name()], parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		declared(f, ours)
	}
	for name, text := range files {
		files[name] = prefixed(text, ours, prefix)
	}
	return files, nil
}

// declared adds the names that a file declares, its package's among them.
func declared(f *ast.File, names map[string]bool) {
	names[f.Name.Name] = true
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
}

// prefixed is a file with the prefix in front of its own names.
func prefixed(text []byte, ours map[string]bool, prefix string) (out []byte) {
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", -1, len(text)), text, nil, scanner.ScanComments)
	base, done, before := fset.Base()-len(text)-1, 0, token.ILLEGAL
	for {
		pos, tok, name := s.Scan()
		if tok == token.EOF {
			return append(out, text[done:]...)
		}
		if tok == token.IDENT && ours[name] && before != token.PERIOD {
			at := int(pos) - base
			out = append(out, text[done:at]...)
			done = at + len(name)
			if before == token.PACKAGE {
				out = append(out, "runtime"...)
			} else {
				out = append(out, prefix+strings.ToUpper(name[:1])+name[1:]...)
			}
		}
		before = tok
	}
}
