package points

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// A loop within another one that goes from row to row, while the outer one goes along the rows,
// touches another cache line in each iteration. With the two exchanged it would go through memory
// in order.

// lineSize is how many bytes a processor reads and writes at a time.
const lineSize = 64

// sizes are those of values in memory.
var sizes = types.SizesFor("gc", "amd64")

// markMemory flags functions by how loops of them use memory.
func (f *finder) markMemory() {
	f.markLoops(spec.FlagStrides, strides)
	n := neighbors{own: f.elements(), through: map[*ssa.Function][]bool{}}
	f.markLoops(spec.FlagNeighbors, n.writtenIn)
}

// strides reports whether n steps over what the loop around it goes along.
func strides(n *natural) bool {
	w := walk{n: n}
	for _, m := range n.all {
		if m != n && m.header != n.header && m.blocks[n.header] && (w.m == nil || w.m.blocks[m.header]) {
			w.m = m
		}
	}
	if w.m == nil {
		return false
	}
	for in := range n.instrs {
		switch in := in.(type) {
		case *ssa.IndexAddr:
			if !n.inner(in.Block()) {
				w.access(in, nil)
			}
		case *ssa.Call:
			if !n.inner(in.Block()) {
				w.accessor(&in.Call)
			}
		}
	}
	return w.strides && !w.along
}

// inner reports whether a block is in a loop within n.
func (n *natural) inner(b *ssa.BasicBlock) bool {
	for _, x := range n.all {
		if x.header != n.header && x.blocks[b] && n.blocks[x.header] {
			return true
		}
	}
	return false
}

// walk is how two loops go through memory, n within m.
type walk struct {
	n, m    *natural
	strides bool // something is gone through row by row
	along   bool // something is gone through in order, and would not be with the loops exchanged
}

// accessor looks at what a small function accesses.
func (w *walk) accessor(c *ssa.CallCommon) {
	fn := c.StaticCallee()
	if fn == nil || len(fn.Blocks) == 0 || len(fn.Blocks) > 3 || len(fn.Params) != len(c.Args) {
		return
	}
	args := map[ssa.Value]ssa.Value{}
	for i, p := range fn.Params {
		args[p] = c.Args[i]
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if at, ok := in.(*ssa.IndexAddr); ok {
				w.access(at, args)
			}
		}
	}
}

// access looks at an access of an element, in a function that is given some arguments.
func (w *walk) access(at *ssa.IndexAddr, args map[ssa.Value]ssa.Value) {
	by := func(l *natural, v ssa.Value) bool { return l.decides(v, w.n, args) }
	if !isShort(at) {
		return
	}
	if !by(w.n, at.Index) {
		w.strides = w.strides || by(w.m, at.Index) && by(w.n, at.X)
		return
	}
	row, column := flat(at.Index)
	switch {
	case row != nil && by(w.n, row) && !by(w.n, column) && by(w.m, column):
		w.strides = true
	case row != nil && by(w.m, row) && by(w.n, column), by(w.m, at.X) && !by(w.n, at.X):
		w.along = true
	case w.steps(at.Index, sizes.Sizeof(elementOf(at))):
		w.strides = true
	}
}

// elementOf is the type of the elements at an address.
func elementOf(at *ssa.IndexAddr) types.Type { return at.Type().Underlying().(*types.Pointer).Elem() }

// flat divides an index of a table in one slice into what it has of rows and of columns; nil: it is
// of no table.
func flat(v ssa.Value) (row, column ssa.Value) {
	sum, ok := v.(*ssa.BinOp)
	if !ok || sum.Op != token.ADD {
		return nil, nil
	}
	for _, two := range [][2]ssa.Value{{sum.X, sum.Y}, {sum.Y, sum.X}} {
		if p, ok := two[0].(*ssa.BinOp); ok && (p.Op == token.MUL || p.Op == token.SHL) {
			return p, two[1]
		}
	}
	return nil, nil
}

// steps reports whether an index is one that n raises by a row, from one that m goes along.
func (w *walk) steps(v ssa.Value, size int64) bool {
	phi, ok := v.(*ssa.Phi)
	if !ok || phi.Block() != w.n.header {
		return false
	}
	far, begins := false, false
	for i, e := range phi.Edges {
		next, ok := e.(*ssa.BinOp)
		switch {
		case !w.n.blocks[phi.Block().Preds[i]]:
			begins = w.m.decides(e, w.n, nil)
		case ok && next.Op == token.ADD && next.X == phi:
			far = !w.m.decides(next.Y, w.n, nil) && !lessThan(next.Y, lineSize/size)
		}
	}
	return far && begins
}

// lessThan reports whether a value is a constant below n.
func lessThan(v ssa.Value, n int64) bool {
	c, ok := v.(*ssa.Const)
	return ok && (c.Value == nil || c.Value.Kind() != constant.Int || c.Int64() < n)
}

// decides reports whether v depends on the variables that each iteration of n changes, but for what
// those of the innermost loop depend on.
func (n *natural) decides(v ssa.Value, innermost *natural, args map[ssa.Value]ssa.Value) bool {
	return (seen{}).decided(v, n.header, innermost.header, args, mostSteps)
}

// decided reports whether a value depends on a variable of the loop with a header, within so many
// steps.
func (s seen) decided(v ssa.Value, header, innermost *ssa.BasicBlock, args map[ssa.Value]ssa.Value, steps int) bool {
	if a := args[v]; a != nil {
		v, args = a, nil
	}
	in, ok := v.(ssa.Instruction)
	if !ok || s.before(v, steps) {
		return false
	}
	if phi, ok := v.(*ssa.Phi); ok && (phi.Block() == header || phi.Block() == innermost) {
		return phi.Block() == header
	}
	for _, op := range in.Operands(nil) {
		if *op != nil && s.decided(*op, header, innermost, args, steps-1) {
			return true
		}
	}
	return false
}
