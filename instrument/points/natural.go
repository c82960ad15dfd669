package points

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// natural is a natural loop: the blocks from which its header can be reached
// without leaving the blocks that the header dominates. All back edges to one
// header make one loop.
type natural struct {
	header *ssa.BasicBlock
	blocks map[*ssa.BasicBlock]bool
	edges  []*ssa.BasicBlock // origins of the back edges
	all    []*natural        // those of the function
}

// parts returns the loop of each single back edge. They differ if a loop begins with
// another loop, because the two then share a header.
func (n *natural) parts() []*natural {
	if len(n.edges) < 2 {
		return nil
	}
	var list []*natural
	for _, b := range n.edges {
		part := newNatural(n.header)
		part.add(b)
		list = append(list, part)
	}
	return list
}

func newNatural(header *ssa.BasicBlock) *natural {
	return &natural{header: header, blocks: map[*ssa.BasicBlock]bool{header: true}}
}

func (n *natural) add(edge *ssa.BasicBlock) {
	n.edges = append(n.edges, edge)
	n.grow(edge)
}

// naturals are the natural loops of a function.
func (f *finder) naturals(fn *ssa.Function) []*natural {
	list, ok := f.loops[fn]
	if !ok {
		list = naturals(fn)
		f.loops[fn] = list
	}
	return list
}

// naturals finds the natural loops of a function. It includes those in the bodies of
// ranges over functions, which are separate functions in the SSA form only.
func naturals(fn *ssa.Function) []*natural {
	var list []*natural
	if fn == nil {
		return nil
	}
	byHeader := map[*ssa.BasicBlock]*natural{}
	for _, b := range fn.Blocks {
		for _, s := range b.Succs {
			if !s.Dominates(b) {
				continue
			}
			n := byHeader[s]
			if n == nil {
				n = newNatural(s)
				byHeader[s] = n
				list = append(list, n)
			}
			n.add(b)
		}
	}
	for _, n := range list {
		n.all = list
	}
	for _, anon := range fn.AnonFuncs {
		if _, ok := anon.Syntax().(*ast.RangeStmt); ok {
			list = append(list, naturals(anon)...)
		}
	}
	return list
}

// grow adds the blocks that reach b without passing the header.
func (n *natural) grow(b *ssa.BasicBlock) {
	if n.blocks[b] {
		return
	}
	n.blocks[b] = true
	for _, p := range b.Preds {
		n.grow(p)
	}
}

// instrs yields the loop's instructions.
func (n *natural) instrs(yield func(ssa.Instruction) bool) {
	for _, b := range n.header.Parent().Blocks { // not the map's order
		if !n.blocks[b] {
			continue
		}
		for _, in := range b.Instrs {
			if !yield(in) {
				return
			}
		}
	}
}

// span returns the part of the source that the loop's instructions come from; NoPos
// if none has a position. It ignores phis, whose position is that of a variable.
func (n *natural) span() (from, to token.Pos) {
	for in := range n.instrs {
		if _, phi := in.(*ssa.Phi); phi {
			continue
		}
		if pos := in.Pos(); pos.IsValid() {
			if !from.IsValid() || pos < from {
				from = pos
			}
			to = max(to, pos)
		}
	}
	return from, to
}

// ssaFuncs maps the syntax of every function of a package to its SSA form.
func ssaFuncs(pkg *ssa.Package) map[ast.Node]*ssa.Function {
	bySyntax := map[ast.Node]*ssa.Function{}
	var add func(fn *ssa.Function)
	add = func(fn *ssa.Function) {
		if fn == nil {
			return
		}
		if n := fn.Syntax(); n != nil && bySyntax[n] == nil {
			bySyntax[n] = fn
		}
		for _, anon := range fn.AnonFuncs {
			add(anon)
		}
	}
	for _, m := range pkg.Members {
		switch m := m.(type) {
		case *ssa.Function:
			add(m)
		case *ssa.Type:
			named, ok := types.Unalias(m.Type()).(*types.Named)
			if !ok {
				continue
			}
			for i := range named.NumMethods() {
				add(pkg.Prog.FuncValue(named.Method(i)))
			}
		}
	}
	return bySyntax
}
