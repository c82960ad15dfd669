// Package instrument turns one package of a compile command into the same
// package with probes in it.
package instrument

import (
	"bytes"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"qinst.dev/instrument/points"
	"qinst.dev/instrument/rewrite"
)

// Package is a package on its way through the pass.
type Package struct {
	src *Source
	*loaded
	asked   *points.Package // for its points
	written []points.Text   // with probes
}

// Load parses and type-checks a package. An error means that the compiler will
// find one too and is to report it.
func Load(src *Source) (*Package, error) {
	l, err := load(src)
	if err != nil {
		return nil, err
	}
	return &Package{src: src, loaded: l}, nil
}

// Points finds the package's points. told delivers the compiler's inlining decisions for the
// original files; the SSA form is built in the meantime. Without decisions there are no points.
func (p *Package) Points(told <-chan *points.Inlining, limits points.Limits) *points.Set {
	form, err := p.ssa(limits.Size+limits.Small > 0)
	inlining := <-told
	if inlining == nil {
		return nil
	}
	names := p.Names()
	p.asked = &points.Package{
		Path: p.src.Path, ImportPath: p.src.ImportPath,
		Fset: p.fset, Files: p.files, Types: p.types, Info: p.info,
		Inlining: inlining, Limits: limits, SSA: form, SSAError: err, FileName: p.src.FileName,
		Assembly: p.src.Assembly, Twins: []string{names.Twin, names.Prefix + "t"},
	}
	return points.Find(p.asked)
}

// Fewer finds the points again when it is known which functions are too large for all of them.
func (p *Package) Fewer(large points.Large) *points.Set {
	p.asked.Large = large
	return points.Find(p.asked)
}

// Single finds them again when it is known that some functions cannot have twins.
func (p *Package) Single(set *points.Set, list []string) *points.Set {
	if p.asked.Single == nil {
		p.asked.Single = map[string]bool{}
	}
	for _, name := range set.Roots(list) {
		p.asked.Single[name] = true
	}
	again := points.Find(p.asked)
	again.CountInLine(set.InLine)
	return again
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
	added, err := rewrite.Sites(p.types, p.src.ImportPath, list, p.Names())
	if err != nil {
		return nil, err
	}
	return []File{{AddedName, added, Added}}, nil
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
const (
	Added     = -1
	AddedName = "qinst_points.go"
)

// Names are the names in it, and in the rewritten files.
func (p *Package) Names() rewrite.Names { return rewrite.NewNames(p.texts) }

// Rewrite returns the files that put set's points into the package; none if it
// has no point.
func (p *Package) Rewrite(set *points.Set) ([]File, error) {
	if len(set.Points) == 0 {
		return nil, nil
	}
	names := p.Names()
	added, err := rewrite.Added(p.types, p.src.ImportPath, set, names)
	if err != nil {
		return nil, err
	}
	files := []File{{AddedName, added, Added}}
	p.written = nil
	for i, f := range p.files {
		text, pairs := rewrite.File(p.src.Files[i], p.texts[i], p.fset.File(f.FileStart), set, names)
		if text != nil {
			name := "qinst_" + strconv.Itoa(i) + "_" + filepath.Base(p.src.Files[i])
			files = append(files, File{name, text, i})
			p.written = append(p.written, points.Text{Name: name, Bytes: text, Pairs: pairs})
		}
	}
	return files, nil
}

// Leaky returns the functions whose twins may let more escape than they do, or hold variables in
// another order, by their symbols. report is what the compiler says of the files that Rewrite
// returned last, see points.Leaky.
func (p *Package) Leaky(report []byte) []string {
	return points.Leaky(report, p.written, p.Names().Result)
}

// Ends returns the lines at which nothing stands but the ends of loops, by the names of their files
// in the program. The compiler makes no code for these, but has that of the loops' exits there.
func (p *Package) Ends(set *points.Set) map[string][]int {
	ends := map[string][]int{}
	for _, fn := range set.Funcs {
		for _, lp := range fn.Probes.Loops {
			if lp.Func || !lp.End.IsValid() { // the body of a range over a function ends like one
				continue
			}
			at := p.fset.PositionFor(lp.End-1, false)
			if p.fset.Position(lp.End-1) != at {
				continue
			}
			file := p.fset.File(lp.End)
			i := slices.IndexFunc(p.files, func(f *ast.File) bool { return p.fset.File(f.FileStart) == file })
			line := p.texts[i][file.Offset(file.LineStart(at.Line)):]
			if n := bytes.IndexByte(line, '\n'); n >= 0 {
				line = line[:n]
			}
			rest, alone := bytes.CutPrefix(bytes.TrimSpace(line), []byte("}"))
			if rest = bytes.TrimSpace(rest); alone && (len(rest) == 0 || bytes.HasPrefix(rest, []byte("//"))) {
				name := p.src.FileName(at.Filename)
				ends[name] = append(ends[name], at.Line)
			}
		}
	}
	return ends
}
