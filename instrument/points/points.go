// Package points decides what of a Go package is measured: which procedures,
// which call sites, in which form, and for everything left out the reason.
//
// It looks at syntax and types and changes nothing; package rewrite turns its
// answer into edits. The order of the points is the order of the source, so two
// runs over one package agree.
package points

import (
	"go/ast"
	"go/token"
	"go/types"

	"qinst.dev/sddf/spec"
)

// Package is a type-checked package.
type Package struct {
	Path       string // what the linker calls it: "main" for a program
	ImportPath string // what its importers call it
	Fset       *token.FileSet
	Files      []*ast.File
	Types      *types.Package
	Info       *types.Info

	// Inlining is what the compiler decided in a build without probes.
	Inlining *Inlining

	// FileName maps a file's name to the one that the compiler writes into the
	// program.
	FileName func(string) string
}

// Point is one element of a package's table.
type Point struct {
	ID    uint64
	Kind  string // spec.PointProc, PointCall or PointGo
	Name  string // procedure, or callee ("" if known at run time only)
	Owner uint32 // offset of the procedure that contains it
	File  string
	Line  uint32
	Flags uint32
}

// Skip is something that could have been a point.
type Skip struct {
	ID         uint64
	Kind, Name string
	File       string
	Line       uint32
	Reason     SkipReason
}

// Func is one function body, declared or literal.
type Func struct {
	Name  string // the linker's symbol
	Node  ast.Node
	Type  *ast.FuncType
	Body  *ast.BlockStmt // nil if it has none
	Skip  SkipReason     // 0 if probed
	Point uint32         // if probed

	Exit    ExitForm
	Returns []*ast.ReturnStmt // its own, not those of literals inside
	Anchors []*Anchor         // where its calls are counted, outermost first

	doc []*ast.Comment // directives that apply to it
}

// Set is everything that was found in a package.
type Set struct {
	Funcs  []*Func
	Points []Point
	Skips  []Skip
}

// Find returns the points of a package.
func Find(p *Package) *Set {
	f := &finder{Package: p, literals: map[*ast.FuncLit]*Func{}, started: map[ast.Node]bool{}}
	f.nameFuncs()
	for _, fn := range f.set.Funcs {
		if fn.Skip = f.skipFunc(fn); fn.Skip != 0 {
			f.skip(fn, fn.Node.Pos(), spec.PointProc, fn.Name, fn.Skip)
			continue
		}
		fn.Point = uint32(len(f.set.Points))
		f.add(fn, fn.Node.Pos(), spec.PointProc, fn.Name)
		f.chooseExit(fn)
		f.placeCalls(fn)
	}
	return &f.set
}

type finder struct {
	*Package
	set      Set
	literals map[*ast.FuncLit]*Func
	started  map[ast.Node]bool // literals that a go statement calls
}

// add appends a point of fn and returns it; the first is fn itself.
func (f *finder) add(fn *Func, pos token.Pos, kind, name string) *Point {
	file, line := f.place(pos)
	ordinal := len(f.set.Points) - int(fn.Point)
	f.set.Points = append(f.set.Points, Point{
		ID: identity(f.ImportPath, fn.Name, kind, ordinal), Kind: kind, Name: name,
		Owner: fn.Point, File: file, Line: line,
	})
	return &f.set.Points[len(f.set.Points)-1]
}

// skip appends a skip; a procedure's is about fn itself.
func (f *finder) skip(fn *Func, pos token.Pos, kind, name string, why SkipReason) {
	file, line := f.place(pos)
	id := identity(f.ImportPath, fn.Name, kind, int(fn.Node.Pos()-pos))
	f.set.Skips = append(f.set.Skips, Skip{id, kind, name, file, line, why})
}

// SkipPackage is the skip of a whole package.
func SkipPackage(importPath string, why SkipReason) Skip {
	return Skip{ID: identity(importPath, "", "package", 0), Kind: "package", Name: importPath, Reason: why}
}

func (f *finder) place(pos token.Pos) (file string, line uint32) {
	p := f.Fset.Position(pos)
	return f.FileName(p.Filename), uint32(p.Line)
}

// FlagNames are the point's flags in words.
func (p *Point) FlagNames() []string {
	var names []string
	for _, f := range []struct {
		bit  uint32
		name string
	}{
		{spec.FlagDeferExit, "exit by defer"},
		{spec.FlagLateDefer, "deferred calls charged to the caller"},
		{spec.FlagDeferred, "call by defer"},
		{spec.FlagDynamic, "callee known at run time"},
	} {
		if p.Flags&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	return names
}
