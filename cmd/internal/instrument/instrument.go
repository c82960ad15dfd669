// Package instrument turns one package of a compile command into the same
// package with probes in it.
package instrument

import (
	"go/token"
	"os"
	"path/filepath"
	"strconv"

	"qinst.dev/cmd/internal/instrument/points"
	"qinst.dev/cmd/internal/instrument/rewrite"
)

// Package is a package on its way through the pass.
type Package struct {
	src *Source
	*loaded
}

// Load parses and type-checks a package. An error means that the compiler will
// find one too and is to report it.
func Load(src *Source) (*Package, error) {
	l, err := load(src)
	if err != nil {
		return nil, err
	}
	return &Package{src, l}, nil
}

// Points finds the package's points. told delivers the compiler's inlining decisions for the
// original files; the SSA form is built in the meantime. Without decisions there are no points.
func (p *Package) Points(told <-chan *points.Inlining, limits points.Limits) *points.Set {
	form, err := p.ssa(limits.Size+limits.Small > 0)
	inlining := <-told
	if inlining == nil {
		return nil
	}
	return points.Find(&points.Package{
		Path: p.src.Path, ImportPath: p.src.ImportPath,
		Fset: p.fset, Files: p.files, Types: p.types, Info: p.info,
		Inlining: inlining, Limits: limits, SSA: form, SSAError: err, FileName: p.src.FileName, Assembly: p.src.Assembly,
	})
}

// Position returns the place of a node of the package's.
func (p *Package) Position(pos token.Pos) token.Position { return p.fset.Position(pos) }

// Sites returns the file with the table of the places where the package's goroutines may wait, if
// there are any.
func (p *Package) Sites() ([]File, error) {
	list := points.Sites(&points.Package{
		Path: p.src.Path, ImportPath: p.src.ImportPath,
		Fset: p.fset, Files: p.files, Types: p.types, Info: p.info,
		FileName: p.src.FileName,
	})
	if len(list) == 0 {
		return nil, nil
	}
	added, err := rewrite.Sites(p.types, p.src.ImportPath, list, rewrite.NewNames(p.texts))
	if err != nil {
		return nil, err
	}
	return []File{{"qinst_points.go", added, Added}}, nil
}

// MayWait reports whether a package may have sites.
func (src *Source) MayWait() bool {
	for _, name := range src.Files {
		if text, err := os.ReadFile(name); err == nil && points.MayWait(text) {
			return true
		}
	}
	return false
}

// File is a file to write before the package is compiled.
type File struct {
	Name string // base name
	Text []byte
	For  int // index of the source file that it stands for; Added for the one that comes first
}

// Added marks the file that declares the names used by the probes.
const Added = -1

// Rewrite returns the files that put set's points into the package; none if it
// has no point.
func (p *Package) Rewrite(set *points.Set) ([]File, error) {
	if len(set.Points) == 0 {
		return nil, nil
	}
	names := rewrite.NewNames(p.texts)
	added, err := rewrite.Added(p.types, p.src.ImportPath, set, names)
	if err != nil {
		return nil, err
	}
	files := []File{{"qinst_points.go", added, Added}}
	for i, f := range p.files {
		text := rewrite.File(p.src.Files[i], p.texts[i], p.fset.File(f.FileStart), set, names)
		if text != nil {
			name := "qinst_" + strconv.Itoa(i) + "_" + filepath.Base(p.src.Files[i])
			files = append(files, File{name, text, i})
		}
	}
	return files, nil
}
