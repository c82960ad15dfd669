package points

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// markEnds flags functions with a loop whose end is not its own: somebody else ends it, or the
// clock. How long such a loop works says nothing of what it does.
func (f *finder) markEnds() {
	f.markLoops(spec.FlagPolls, f.spins.polls)
	f.markLoops(spec.FlagTimed, timed)
}

// markLoops flags functions with a loop of a kind. One in a function that is inlined is a loop of
// its callers.
func (f *finder) markLoops(flag uint32, is func(*natural) bool) {
	inlined := map[*ssa.Function]bool{} // whether they have one
	for _, fn := range f.set.Funcs {
		if form := f.ssa[fn.Node]; form != nil && fn.Skip == Inlinable {
			inlined[form] = f.hasLoop(form, is)
		}
	}
	for more := true; more; {
		more = false
		for form, has := range inlined {
			if !has && callsOne(form, inlined) {
				inlined[form], more = true, true
			}
		}
	}
	for _, fn := range f.set.Funcs {
		form := f.ssa[fn.Node]
		if form == nil || !f.hasLoop(form, is) && !callsOne(form, inlined) {
			continue
		}
		f.mark(fn, flag)
	}
}

// mark flags a function, if it is a point.
func (f *finder) mark(fn *Func, flag uint32) {
	own := f.set.Points[min(int(fn.Point), len(f.set.Points)):]
	at := slices.IndexFunc(own, func(p Point) bool { return p.Kind == spec.PointProc || p.Kind == spec.PointFunc })
	if at >= 0 && own[at].Owner == fn.Point {
		own[at].Flags |= flag
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

// hasLoop reports whether a function has such a loop itself.
func (f *finder) hasLoop(form *ssa.Function, is func(*natural) bool) bool {
	return slices.ContainsFunc(f.naturals(form), func(n *natural) bool { return !n.retries() && is(n) })
}

// endsBy reports whether each condition under which n ends, and does not fail, is of a kind. A loop
// that may also end by itself is like any other.
func (n *natural) endsBy(is func(cond ssa.Value) bool) bool {
	ends := false
	for b := range n.blocks {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		for _, to := range b.Succs {
			if n.blocks[to] || fails(to) {
				continue
			}
			if !is(branch.Cond) {
				return false
			}
			ends = true
		}
	}
	return ends
}

// fails reports whether a block panics, or returns an error that is not always nil.
func fails(b *ssa.BasicBlock) bool {
	for range 4 { // jumps that are followed
		switch last := b.Instrs[len(b.Instrs)-1].(type) {
		case *ssa.Panic:
			return true
		case *ssa.Jump:
			b = b.Succs[0]
			continue
		case *ssa.Return:
			if len(last.Results) == 0 {
				return false
			}
			v := last.Results[len(last.Results)-1]
			c, constant := v.(*ssa.Const)
			return types.Identical(v.Type(), types.Universe.Lookup("error").Type()) && (!constant || !c.IsNil())
		}
		return false
	}
	return false
}

// polls reports whether n ends when others say so. A number that is compared with a bound counts
// what is left to do.
func (s *spins) polls(n *natural) bool {
	return n.endsBy(func(cond ssa.Value) bool {
		if c, ok := cond.(*ssa.BinOp); ok && (c.Op == token.LSS || c.Op == token.LEQ || c.Op == token.GTR ||
			c.Op == token.GEQ) {
			return false
		}
		return s.rereads(n, cond, map[ssa.Value]bool{}) || n.rereadsBool(cond, 0)
	})
}

// timed reports whether n ends when it is late enough.
func timed(n *natural) bool {
	return n.endsBy(func(cond ssa.Value) bool { return n.asksClock(cond, seen{}, mostSteps) })
}

// asksClock reports whether a value depends on the time of day in this iteration, within so many
// steps.
func (n *natural) asksClock(v ssa.Value, s seen, steps int) bool {
	in, ok := v.(ssa.Instruction)
	if !ok || !n.blocks[in.Block()] || s.before(v, steps) {
		return false
	}
	if readsClock(in) {
		return true
	}
	if _, ok := in.(*ssa.Phi); ok { // a value of an earlier iteration
		return false
	}
	for _, op := range in.Operands(nil) {
		if *op != nil && n.asksClock(*op, s, steps-1) {
			return true
		}
	}
	return false
}

// rereadsBool reports whether v is, or is the opposite of, a variable in shared memory that the
// loop reads and does not write itself.
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

// ofContext reports whether a value is what a method of a context.Context returns that tells of its
// end, of the same one in every iteration.
func (n *natural) ofContext(v ssa.Value) bool {
	c, ok := v.(*ssa.Call)
	if !ok || !c.Call.IsInvoke() || !n.invariant(c.Call.Value, 0) {
		return false
	}
	m := c.Call.Method
	return m.Pkg() != nil && m.Pkg().Path() == "context" && (m.Name() == "Err" || m.Name() == "Done")
}
