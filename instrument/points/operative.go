package points

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// An operation on a channel or lock takes longer than the call of a function, and without its probe
// nobody could tell who waits for whom. So a small function around one, such as a queue's method
// Put, is no longer inlined, and has the probes of its operations, but none of its own: its time is
// its callers', as in a build without probes.

// operative reports whether a function that would be inlined has the probes of its operations. It
// must hold no literals, the names of which depend on where it is inlined, nor be a literal in a
// function that is inlined, for the same reason. And it must make nothing that may be on its
// caller's stack where it is inlined.
func (f *finder) operative(fn *Func) bool {
	form := f.ssa[fn.Node]
	if form == nil || !f.Limits.has(Syncs) || len(form.AnonFuncs) > 0 || makes(form) || f.withinInlined(fn) {
		return false
	}
	if d, declared := fn.Node.(*ast.FuncDecl); declared {
		obj, _ := f.Info.Defs[d.Name].(*types.Func)
		if obj == nil || f.wrappers[obj] != nil {
			return false
		}
	}
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.RangeStmt:
			t := f.Info.TypeOf(n.X)
			found = found || t != nil && isChan(t)
		case *ast.CallExpr:
			y, op := f.syncCall(n)
			found = found || y != nil && op.op != spec.OpOnce // which is one load nearly always
		}
		return !found
	})
	return found
}

// makes reports whether a function makes something that it does not send at once.
func makes(form *ssa.Function) bool {
	for _, b := range form.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Alloc:
				if in.Heap && !sent(in) {
					return true
				}
			case *ssa.MakeChan, *ssa.MakeClosure, *ssa.MakeMap, *ssa.MakeSlice:
				return true
			case *ssa.MakeInterface:
				if !sent(in) {
					return true
				}
			}
		}
	}
	return false
}

// sent reports whether a value goes to a channel, and so to the heap wherever it is made.
func sent(v ssa.Value) bool {
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.Send:
			return in.X == v
		case *ssa.MakeInterface:
			return sent(in)
		}
	}
	return false
}

// probeOperations gives a function the probes of its operations.
func (f *finder) probeOperations(fn *Func) {
	fn.Bare, fn.Bodies.Once = true, OnceSmall
	f.addInlined(fn)
	f.inlineCalls(fn)
	was := f.Limits
	f.Limits = was.onlySyncs()
	f.placeCalls(fn)
	f.Limits = was
}
