package points

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// inlineCalls lists the calls in a function that the compiler inlines. The function
// gets no counter, because a counter would end its inlining. A call that is made exactly
// once whenever the function is called needs none: readers take the counts of the calls
// to the function, and attribute the call to the probed procedures that made those.
func (f *finder) inlineCalls(fn *Func) {
	form := f.ssa[fn.Node]
	if !f.Limits.has(Calls) {
		return
	}
	once := map[token.Pos]bool{}
	if form != nil {
		once = onceCalls(form)
	}
	var calls []*ast.CallExpr
	left := false // of any of them
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == fn.Node
		case *ast.CallExpr:
			if tv := f.Info.Types[n.Fun]; !tv.IsType() && !tv.IsBuiltin() {
				calls = append(calls, n)
				left = left || !f.intrinsic(n)
			}
		}
		return true
	})
	if left && !fn.Bare { // else it is there already, for the function's operations
		f.addInlined(fn)
	}
	p := &placer{finder: f, fn: fn}
	for _, c := range calls {
		name, dynamic := p.callee(c)
		if why := f.derives(c, once); why != 0 {
			f.skip(fn, c.Pos(), spec.PointCall, name, why)
			continue
		}
		pt := f.add(fn, c.Lparen, spec.PointCall, name)
		if pt.Flags = spec.FlagDerived; dynamic {
			pt.Flags |= spec.FlagDynamic
		}
	}
}

// derives returns the reason why a call's count does not follow from that of its function, 0 if it
// does.
func (f *finder) derives(c *ast.CallExpr, once map[token.Pos]bool) SkipReason {
	switch {
	case f.intrinsic(c):
		return Intrinsic
	case !once[c.Lparen]:
		return Inline
	}
	return 0
}

// addInlined appends the point of a function without a probe of its own.
func (f *finder) addInlined(fn *Func) {
	f.add(fn, fn.Node.Pos(), spec.PointFunc, f.called(fn.Name)).Flags = spec.FlagDerived
}

// onceCalls returns the positions of the calls that every path through a function
// makes once.
func onceCalls(fn *ssa.Function) map[token.Pos]bool {
	once := map[token.Pos]bool{}
	loops := naturals(fn)
	for _, b := range fn.Blocks {
		if leavesWithout(fn, b) || inLoop(loops, b) {
			continue
		}
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.Call); ok {
				once[c.Pos()] = true
			}
		}
	}
	return once
}

// leavesWithout reports whether fn can end, or panic by itself, without passing b.
func leavesWithout(fn *ssa.Function, b *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{b: true}
	var leaves func(at *ssa.BasicBlock) bool
	leaves = func(at *ssa.BasicBlock) bool {
		if seen[at] {
			return false
		}
		seen[at] = true
		for _, next := range at.Succs {
			if leaves(next) {
				return true
			}
		}
		return len(at.Succs) == 0
	}
	return leaves(fn.Blocks[0])
}

func inLoop(loops []*natural, b *ssa.BasicBlock) bool {
	for _, n := range loops {
		if n.blocks[b] {
			return true
		}
	}
	return false
}
