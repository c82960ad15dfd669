package inject

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"qinst.dev/ratecontrol"
)

// policy is package ratecontrol as a part of package runtime: what it declares gets
// a prefix, as all that is ours there has.
func policy() ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "control.go", ratecontrol.Source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ours := map[string]bool{f.Name.Name: true}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				ours[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					ours[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						ours[n.Name] = true
					}
				}
			}
		}
	}
	var out []byte
	var s scanner.Scanner
	s.Init(fset.AddFile("", -1, len(ratecontrol.Source)), ratecontrol.Source, nil, scanner.ScanComments)
	base, done, before := fset.Base()-len(ratecontrol.Source)-1, 0, token.ILLEGAL
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return append(out, ratecontrol.Source[done:]...), nil
		}
		if tok == token.IDENT && ours[text] && before != token.PERIOD {
			at := int(pos) - base
			out = append(out, ratecontrol.Source[done:at]...)
			done = at + len(text)
			if before == token.PACKAGE {
				out = append(out, "runtime"...)
			} else {
				out = append(out, "qinstRate"+strings.ToUpper(text[:1])+text[1:]...)
			}
		}
		before = tok
	}
}
