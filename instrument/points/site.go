package points

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"qinst.dev/sddf/spec"
)

// Sites returns the places of a package at which a goroutine may wait, with the
// names of the objects that it waits for there. It serves packages without
// probes: the runtime records every wait with its stack, and these tables name
// the objects for the lines of the stack.
func Sites(p *Package) []Point {
	f := newFinder(p)
	f.nameFuncs()
	for _, fn := range f.set.Funcs {
		fn.Point = uint32(len(f.set.Points))
		f.ordinals = map[string]int{}
		f.sites(fn)
	}
	return f.set.Points
}

// MayWait reports whether it is worth looking for sites in a file.
func MayWait(text []byte) bool {
	s := string(text)
	for _, sign := range []string{"<-", "Lock()", ".Wait()", ".Do(", "select {"} {
		if strings.Contains(s, sign) {
			return true
		}
	}
	return false
}

// sites lists the places of a function without probes.
func (f *finder) sites(fn *Func) {
	if fn.Body == nil || fn.Skip == Dead {
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == fn.Node
		case *ast.CallExpr:
			if y, op := f.syncCall(n); y != nil && y.Within == "" {
				f.operation(fn, n.Lparen, op, y)
			}
		case *ast.SendStmt:
			f.site(fn, n.Arrow, spec.OpSend, f.objectName(n.Chan), f.weak(f.isParameter(n.Chan)))
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				f.site(fn, n.Pos(), spec.OpReceive, f.objectName(n.X), f.weak(f.isParameter(n.X)))
			}
		case *ast.RangeStmt:
			if t := f.Info.TypeOf(n.X); t != nil && isChan(t) {
				f.site(fn, n.Pos(), spec.OpReceive, f.objectName(n.X), f.weak(f.isParameter(n.X)))
			}
		case *ast.SelectStmt:
			f.selectSite(fn, n)
		}
		return true
	})
}

func isChan(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// selectSite names a select by the channels that it waits for.
func (f *finder) selectSite(fn *Func, s *ast.SelectStmt) {
	var names []string
	for _, c := range s.Body.List {
		switch s := c.(*ast.CommClause).Comm.(type) {
		case nil:
			return // the select does not wait
		case *ast.SendStmt:
			names = append(names, f.objectName(s.Chan))
		default:
			if u := receiver(s); u != nil {
				names = append(names, f.objectName(u.X))
			}
		}
	}
	const most = 3
	if len(names) > most {
		names = append(names[:most], "...")
	}
	f.site(fn, s.Pos(), spec.OpSelect, "select("+strings.Join(names, ", ")+")", 0)
}

// operation lists an operation in a function without probes, if it may wait, or if nobody sees it
// in a package with probes.
func (f *finder) operation(fn *Func, pos token.Pos, op syncOp, y *Sync) {
	switch {
	case f.wrappers != nil && f.Limits.has(Syncs) && !f.seen(fn):
		f.unseen(fn, pos, op, y)
	case op.after:
		f.site(fn, pos, op.op, f.syncName(y), f.weak(f.weakName(y)))
	}
}

// unseen lists an operation without a probe.
func (f *finder) unseen(fn *Func, pos token.Pos, op syncOp, y *Sync) {
	f.site(fn, pos, op.op, f.syncName(y), spec.FlagUnseen|f.weak(f.weakName(y)))
}

// seen reports whether fn is a wrapper, all calls of which have a probe.
func (f *finder) seen(fn *Func) bool {
	d, ok := fn.Node.(*ast.FuncDecl)
	if !ok {
		return false
	}
	obj, ok := f.Info.Defs[d.Name].(*types.Func)
	return ok && f.wrappers[obj] != nil
}

func (f *finder) site(fn *Func, pos token.Pos, op, name string, flags uint32) {
	p := f.add(fn, pos, spec.PointSite, name)
	p.Op, p.Flags = op, flags
}

// weak returns the flag of a name that may have a better one.
func (f *finder) weak(is bool) uint32 {
	if is {
		return spec.FlagWeakName
	}
	return 0
}
