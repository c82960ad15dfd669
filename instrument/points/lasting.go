package points

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// Most procedures return soon, so that a change of their level soon reaches every activation. Those
// that last do not: main, goroutines, benchmarks, what is called Run or Serve, and what these call
// once. Loops of such procedures look at a level at each iteration, see chooseLoops. In all
// others that would be text for nothing.

// findLasting finds the functions whose activations may last: those by which the program, a
// goroutine, a benchmark or a part of the program begins, and those that are called by such
// functions alone, and not in loops.
func (f *finder) findLasting() {
	f.lasting = map[*Func]bool{}
	u := f.uses()
	var mark func(fn *Func)
	mark = func(fn *Func) {
		if f.lasting[fn] {
			return
		}
		f.lasting[fn] = true
		for _, callee := range u.once[fn] {
			if u.rest[callee]--; u.rest[callee] == 0 {
				mark(callee)
			}
		}
	}
	for _, fn := range f.set.Funcs {
		if fn.Name == "main.main" || u.started[fn] || tested(f.Info, fn.Type) || begins(fn) && u.rest[fn] == 0 {
			mark(fn)
		}
	}
}

// uses is where functions of the package are named.
type uses struct {
	of      map[types.Object]*Func
	literal map[*ast.FuncLit]*Func
	started map[*Func]bool    // by go statements, and by methods called Go
	once    map[*Func][]*Func // what a function calls, not in a loop; once for each call
	rest    map[*Func]int     // such calls by functions that do not last, and all other uses
}

func (f *finder) uses() *uses {
	u := &uses{map[types.Object]*Func{}, f.literals, map[*Func]bool{}, map[*Func][]*Func{}, map[*Func]int{}}
	for _, fn := range f.set.Funcs {
		if d, ok := fn.Node.(*ast.FuncDecl); ok {
			u.of[f.Info.Defs[d.Name]] = fn
			if d.Name.IsExported() && f.Types.Name() != "main" && !begins(fn) {
				u.rest[fn]++ // others may call it
			}
		}
	}
	for _, obj := range f.Info.Uses {
		if fn, ok := obj.(*types.Func); ok && u.of[fn.Origin()] != nil {
			u.rest[u.of[fn.Origin()]]++
		}
	}
	for _, fn := range f.set.Funcs {
		if fn.Body != nil {
			u.calls(f.Info, fn, fn.Body, false)
		}
	}
	return u
}

// calls notes the calls under a node of fn.
func (u *uses) calls(info *types.Info, fn *Func, n ast.Node, looped bool) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			if m != n {
				u.calls(info, fn, m, true)
				return false
			}
		case *ast.GoStmt:
			if callee := u.callee(info, m.Call); callee != nil {
				u.started[callee] = true
			}
		case *ast.CallExpr:
			if lit, ok := passedToGo(m).(*ast.FuncLit); ok && u.literal[lit] != nil {
				u.started[u.literal[lit]] = true
			}
			if callee := u.callee(info, m); callee != nil && !looped {
				u.once[fn] = append(u.once[fn], callee)
			}
		}
		return true
	})
}

// callee is the function of the package that is called, nil if it is not known or not one.
func (u *uses) callee(info *types.Info, c *ast.CallExpr) *Func {
	if lit, ok := ast.Unparen(c.Fun).(*ast.FuncLit); ok {
		return u.literal[lit]
	}
	if fn := typeutil.StaticCallee(info, c); fn != nil {
		return u.of[fn.Origin()]
	}
	return nil
}

// tested reports whether a function has a parameter by which tests and benchmarks are known.
func tested(info *types.Info, t *ast.FuncType) bool {
	for _, field := range t.Params.List {
		if p, ok := info.TypeOf(field.Type).(*types.Pointer); ok {
			if named, ok := types.Unalias(p.Elem()).(*types.Named); ok && named.Obj().Pkg() != nil &&
				named.Obj().Pkg().Path() == "testing" {
				return true
			}
		}
	}
	return false
}

// begins reports whether a function is exported and has a name that those have by which a part of a
// program begins: others call it, and it returns at the end.
func begins(fn *Func) bool {
	d, ok := fn.Node.(*ast.FuncDecl)
	return ok && slices.ContainsFunc([]string{"Run", "Serve", "Start", "Loop", "Main", "Work"},
		func(s string) bool { return strings.HasPrefix(d.Name.Name, s) })
}
