// Package counts compares the counts of probes with those of the cover tool, over the tests of
// packages from elsewhere: how often each procedure is entered, and how often each call is
// reached that a statement always makes. Counts on which four runs of the tests under the cover
// tool do not agree are left out.
package counts

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/cover"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trials/bench"
	"qinst.dev/sddf/spec"
)

// usual are the packages that are taken if none is named.
var usual = []string{"github.com/BurntSushi/toml", "github.com/yuin/goldmark", "sort", "strconv", "text/template",
	"encoding/json",
	"regexp/syntax", "go/parser", "html/template", "container/list", "encoding/csv", "text/tabwriter"}

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("[PACKAGE ...]")
	dir := fs.String("dir", "testdata/modules", "the `folder` of a module that requires the packages")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	packages := fs.Args()
	if len(packages) == 0 {
		packages = usual
	}
	ok := true
	for _, pkg := range packages {
		same, err := compare(e, *dir, pkg)
		if err != nil {
			return fmt.Errorf("%s: %w", pkg, err)
		}
		ok = ok && same
	}
	if !ok {
		return errors.New("found counts that differ, or none to compare")
	}
	return nil
}

// pos is a line and a column.
type pos struct{ line, col int }

func (p pos) before(q pos) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// block is a line of a coverage profile.
type block struct {
	from, to pos
	count    uint64
}

func compare(e *bench.Env, dir, pkg string) (bool, error) {
	tmp, err := os.MkdirTemp(e.Scratch, "counts-")
	if err != nil {
		return false, err
	}
	var runs [4]map[string][]block
	for i := range runs {
		file := filepath.Join(tmp, fmt.Sprint("cover", i))
		if err := goTest(e.Ctx, dir, nil, "-covermode=atomic", "-coverpkg="+pkg, "-coverprofile="+file,
			pkg); err != nil {
			return false, err
		}
		if runs[i], err = readProfile(file); err != nil {
			return false, err
		}
	}
	env := []string{"QINST=mode=count,out=" + filepath.Join(tmp, "%p.sddf")}
	if err := goTest(e.Ctx, dir, env, "-toolexec", e.Qinst+" -include="+pkg, pkg); err != nil {
		return false, err
	}
	files, err := filepath.Glob(filepath.Join(tmp, "*.sddf"))
	if err != nil {
		return false, err
	}
	if len(files) != 1 {
		return false, fmt.Errorf("found %d traces, expected one: the package must have tests that start no process",
			len(files))
	}
	t, err := trace.Open(files[0])
	if err != nil {
		return false, err
	}
	defer t.Close()
	return report(pkg, t, runs)
}

func goTest(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%.2000s", err, out)
	}
	return nil
}

// readProfile returns the blocks by the base name of their file.
func readProfile(name string) (map[string][]block, error) {
	profiles, err := cover.ParseProfiles(name)
	if err != nil {
		return nil, err
	}
	blocks := map[string][]block{}
	for _, p := range profiles {
		base := filepath.Base(p.FileName)
		for _, b := range p.Blocks {
			blocks[base] = append(blocks[base], block{pos{b.StartLine, b.StartCol}, pos{b.EndLine, b.EndCol},
				uint64(b.Count)})
		}
	}
	return blocks, nil
}

// expected has the counts of a file's blocks for its procedures and calls, by line.
type expected struct {
	procs, calls map[int][]pos // start of a procedure's first block; position of a call
}

// place is a line with procedures or calls.
type place struct {
	file, kind string
	line       int
}

// report compares the places of a package that are alone on their line.
func report(pkg string, t *trace.Trace, runs [4]map[string][]block) (bool, error) {
	counted, files, err := places(pkg, t)
	if err != nil {
		return false, err
	}
	same, unsteady, compared := true, 0, map[string]int{}
	for k, hits := range counted {
		at := files[k.file].procs[k.line]
		if k.kind == spec.PointCall {
			at = files[k.file].calls[k.line]
		}
		if len(hits) != 1 || len(at) != 1 {
			continue // several on one line
		}
		base := filepath.Base(k.file)
		count, steady, ok := covered(runs, base, at[0])
		switch {
		case !ok:
			continue
		case !steady:
			unsteady++
			continue
		}
		compared[k.kind]++
		// A call before it in the block may panic: then the block was entered, and
		// the call not reached.
		if hits[0] > count || hits[0] < count && k.kind == spec.PointProc {
			same = false
			fmt.Printf("%s:%d: %s counted %d times, the cover tool says %d\n", base, k.line, k.kind, hits[0], count)
		}
	}
	procs := compared[spec.PointProc]
	fmt.Printf("%s: %d procedures and %d calls compared, %d unsteady\n", pkg, procs, compared[spec.PointCall], unsteady)
	return same && procs > 0, nil
}

// places has what probes counted, and the source files of it.
func places(pkg string, t *trace.Trace) (counted map[place][]uint64, files map[string]*expected, err error) {
	counted, files = map[place][]uint64{}, map[string]*expected{}
	for i := range t.Points {
		p := &t.Points[i]
		if p.Package != pkg || strings.HasSuffix(p.File, "_test.go") || p.Flags&spec.FlagDerived != 0 ||
			p.Kind != spec.PointProc && p.Kind != spec.PointCall {
			continue
		}
		k := place{p.File, p.Kind, p.Line}
		counted[k] = append(counted[k], p.Hits)
		if files[p.File] == nil {
			if files[p.File], err = expect(p.File); err != nil {
				return nil, nil, err
			}
		}
	}
	return counted, files, nil
}

// covered is what the cover tool counted at a place, and whether all its runs agree; ok if the
// first one has it.
func covered(runs [4]map[string][]block, file string, p pos) (count uint64, steady, ok bool) {
	count, ok = at(runs[0][file], p)
	steady = true
	for _, run := range runs[1:] {
		other, _ := at(run[file], p)
		steady = steady && count == other
	}
	return count, steady, ok
}

// at is the count of the block around a position.
func at(blocks []block, p pos) (uint64, bool) {
	for _, b := range blocks {
		if !p.before(b.from) && p.before(b.to) {
			return b.count, true
		}
	}
	return 0, false
}

// expect finds the procedures of a file, and those calls that are always made when their
// statement is reached.
func expect(name string) (*expected, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, nil, 0)
	if err != nil {
		return nil, err
	}
	e := &expected{map[int][]pos{}, map[int][]pos{}}
	position := func(p token.Pos) pos {
		q := fset.Position(p)
		return pos{q.Line, q.Column}
	}
	add := func(m map[int][]pos, line token.Pos, at token.Pos) {
		l := fset.Position(line).Line
		m[l] = append(m[l], position(at))
	}
	var walk func(n ast.Node, certain bool)
	walk = func(n ast.Node, certain bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			if m == n {
				return true
			}
			switch m := m.(type) {
			case *ast.FuncDecl:
				if m.Body != nil {
					add(e.procs, m.Pos(), m.Body.Lbrace)
				}
			case *ast.FuncLit:
				add(e.procs, m.Pos(), m.Body.Lbrace)
				walk(m.Body, false)
				return false
			case *ast.BinaryExpr:
				if m.Op == token.LAND || m.Op == token.LOR {
					walk(m, false)
					return false
				}
			case *ast.ExprStmt, *ast.AssignStmt, *ast.ReturnStmt:
				walk(m, true)
				return false
			case *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.RangeStmt, *ast.SelectStmt,
				*ast.BlockStmt,
				*ast.CaseClause, *ast.CommClause:
				walk(heads(m, walk), false)
				return false
			case *ast.CallExpr:
				if certain {
					add(e.calls, m.Lparen, m.Lparen)
				} else {
					// Something else on the line: it is not compared.
					l := fset.Position(m.Lparen).Line
					e.calls[l] = append(e.calls[l], pos{}, pos{})
				}
			}
			return true
		})
	}
	walk(f, false)
	return e, nil
}

// heads walks the bodies of a statement. The rest, its conditions and the like, is skipped,
// because their calls are not certain.
func heads(n ast.Node, walk func(ast.Node, bool)) ast.Node {
	rest := &ast.BlockStmt{}
	expr := func(list ...ast.Expr) {
		for _, e := range list {
			if e != nil {
				rest.List = append(rest.List, &ast.IncDecStmt{X: e})
			}
		}
	}
	bodies := func(list ...ast.Stmt) {
		for _, s := range list {
			walk(&ast.BlockStmt{List: []ast.Stmt{s}}, false)
		}
	}
	switch n := n.(type) {
	case *ast.BlockStmt:
		bodies(n.List...)
	case *ast.IfStmt:
		expr(n.Cond)
		bodies(n.Body.List...)
		if n.Else != nil {
			bodies(n.Else)
		}
	case *ast.ForStmt:
		expr(n.Cond)
		bodies(n.Body.List...)
	case *ast.RangeStmt:
		expr(n.X)
		bodies(n.Body.List...)
	case *ast.SwitchStmt:
		expr(n.Tag)
		bodies(n.Body.List...)
	case *ast.TypeSwitchStmt:
		bodies(n.Body.List...)
	case *ast.SelectStmt:
		bodies(n.Body.List...)
	case *ast.CaseClause:
		expr(n.List...)
		bodies(n.Body...)
	case *ast.CommClause:
		bodies(n.Body...)
	}
	return rest
}
