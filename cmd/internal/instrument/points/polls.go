package points

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// markPolls flags functions with a loop that somebody else ends: one that asks in each iteration whether to go on, by a channel without waiting for
// it, a context, or a variable that others write. How long such a loop works says nothing of what it does. One in a function that is inlined is a loop
// of its callers.
func (f *finder) markPolls() {
	inlined := map[*ssa.Function]bool{} // whether they poll
	for _, fn := range f.set.Funcs {
		if form := f.ssa[fn.Node]; form != nil && fn.Skip == Inlinable {
			inlined[form] = f.loopPolls(form)
		}
	}
	for more := true; more; {
		more = false
		for form, polls := range inlined {
			if !polls && callsOne(form, inlined) {
				inlined[form], more = true, true
			}
		}
	}
	for _, fn := range f.set.Funcs {
		form := f.ssa[fn.Node]
		if form == nil || !f.loopPolls(form) && !callsOne(form, inlined) {
			continue
		}
		own := f.set.Points[min(int(fn.Point), len(f.set.Points)):]
		at := slices.IndexFunc(own, func(p Point) bool { return p.Kind == spec.PointProc || p.Kind == spec.PointFunc })
		if at >= 0 && own[at].Owner == fn.Point {
			own[at].Flags |= spec.FlagPolls
		}
	}
}

// callsOne reports whether a function calls one of those that are true.
func callsOne(form *ssa.Function, of map[*ssa.Function]bool) bool {
	for _, b := range form.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.Call); ok && c.Call.StaticCallee() != nil && of[c.Call.StaticCallee()] {
				return true
			}
		}
	}
	return false
}

// loopPolls reports whether a function has such a loop itself.
func (f *finder) loopPolls(form *ssa.Function) bool {
	return slices.ContainsFunc(naturals(form), func(n *natural) bool { return !n.retries() && f.spins.polls(n) })
}

// polls reports whether all exits of n depend on what others do meanwhile. A loop that may also end by itself is like any other.
func (s *spins) polls(n *natural) bool {
	asks := false
	for b := range n.blocks {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok || n.blocks[b.Succs[0]] && n.blocks[b.Succs[1]] {
			continue
		}
		if !s.rereads(n, branch.Cond, map[ssa.Value]bool{}) && !n.rereadsBool(branch.Cond, 0) {
			return false
		}
		asks = true
	}
	return asks
}

// rereadsBool reports whether v is, or is the opposite of, a variable in shared memory that the loop reads and does not write itself.
func (n *natural) rereadsBool(v ssa.Value, depth int) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok || depth > 1 || !n.blocks[load.Block()] {
		return false
	}
	if load.Op == token.NOT {
		return n.rereadsBool(load.X, depth+1)
	}
	if b, ok := load.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.Bool || load.Op != token.MUL {
		return false
	}
	if alloc, ok := load.X.(*ssa.Alloc); ok && !alloc.Heap || !n.invariant(load.X, 0) {
		return false
	}
	for in := range n.instrs {
		if store, ok := in.(*ssa.Store); ok && types.Identical(store.Val.Type(), load.Type()) {
			return false
		}
	}
	return true
}

// ofContext reports whether a value is what a method of a context.Context returns that tells of its end, of the same one in every iteration.
func (n *natural) ofContext(v ssa.Value) bool {
	c, ok := v.(*ssa.Call)
	if !ok || !c.Call.IsInvoke() || !n.invariant(c.Call.Value, 0) {
		return false
	}
	m := c.Call.Method
	return m.Pkg() != nil && m.Pkg().Path() == "context" && (m.Name() == "Err" || m.Name() == "Done")
}
