package points

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// spins finds the loops that only read shared state again until it has changed.
type spins struct {
	pure map[*ssa.Function]bool // functions that only read shared state
	bare map[types.Object]bool  // functions of the package that are declared without a body
	conditions
}

// bareFuncs returns the functions that are declared without a body. The SSA form does
// not tell them apart, because it omits the bodies of uninteresting functions too.
func bareFuncs(p *Package) map[types.Object]bool {
	bare := map[types.Object]bool{}
	for _, file := range p.Files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body == nil {
				bare[p.Info.Defs[fn.Name]] = true
			}
		}
	}
	return bare
}

// is reports whether n spins. No instruction in a spinning loop writes to memory that
// other goroutines see, and none waits. The condition of some exit depends on shared
// state that each iteration reads again at the same place.
func (s *spins) is(n *natural) bool {
	asks := false // a function that it was given
	for in := range n.instrs {
		c, call := in.(*ssa.Call)
		asks = asks || call && s.asks(&c.Call)
	}
	for in := range n.instrs {
		st, store := in.(*ssa.Store)
		if counts := asks && store && n.counts(st); !counts && !s.harmless(in) {
			return false
		}
	}
	for b := range n.blocks {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok || n.blocks[b.Succs[0]] && n.blocks[b.Succs[1]] {
			continue
		}
		if s.rereads(n, branch.Cond, map[ssa.Value]bool{}) {
			return true
		}
	}
	return false
}

// harmless reports whether an instruction may be part of a loop that spins.
func (s *spins) harmless(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Store:
		alloc, ok := in.Addr.(*ssa.Alloc)
		return ok && !alloc.Heap
	case *ssa.MapUpdate, *ssa.Send, *ssa.Go, *ssa.Defer, *ssa.MakeMap, *ssa.MakeChan, *ssa.MakeSlice, *ssa.MakeClosure:
		return false
	case *ssa.Select:
		return !in.Blocking
	case *ssa.UnOp:
		return in.Op != token.ARROW
	case *ssa.Call:
		return s.call(in) != working
	}
	return true
}

// effect is the effect of a call, as far as spinning is concerned.
type effect uint8

const (
	working effect = iota // anything
	waiting               // only lets time pass: runtime.Gosched and the like
	reading               // reads shared state
)

func (s *spins) call(c *ssa.Call) effect {
	if b, ok := c.Call.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "len", "cap", "min", "max":
			return waiting
		}
		return working
	}
	fn := c.Call.StaticCallee()
	switch {
	case s.asks(&c.Call):
		return reading
	case fn == nil:
		return working
	}
	if fn.Origin() != nil {
		fn = fn.Origin()
	}
	if len(fn.Blocks) == 0 {
		return s.foreign(fn)
	}
	pure, seen := s.pure[fn]
	if !seen {
		s.pure[fn] = false // recursion counts as work
		pure = s.onlyReads(fn)
		s.pure[fn] = pure
	}
	if pure {
		return reading
	}
	return working
}

// foreign judges a function of another package, or one without a body.
func (s *spins) foreign(fn *ssa.Function) effect {
	obj, ok := fn.Object().(*types.Func)
	if !ok || obj.Pkg() == nil {
		return working
	}
	name := obj.Name()
	switch obj.Pkg().Path() {
	case "sync/atomic", "internal/runtime/atomic":
		for _, prefix := range []string{"Load", "CompareAndSwap", "Swap"} {
			if strings.HasPrefix(name, prefix) {
				return reading
			}
		}
		return working
	case "runtime":
		if name == "Gosched" {
			return waiting
		}
	case "time":
		if name == "Now" || name == "Since" || name == "Sub" || name == "Before" || name == "After" {
			return waiting
		}
	}
	if s.bare[obj] && pauses(obj) {
		return waiting
	}
	return working
}

// pauses reports whether a function without a body, such as the runtime's procyield,
// only lets time pass. The name must say so, because nothing else tells it. A function
// that takes a pointer or returns a value may still do work.
func pauses(fn *types.Func) bool {
	sig := fn.Signature()
	for v := range sig.Params().Variables() {
		if b, ok := v.Type().Underlying().(*types.Basic); !ok || b.Info()&types.IsNumeric == 0 {
			return false
		}
	}
	return sig.Results().Len() == 0 && strings.Contains(strings.ToLower(fn.Name()), "yield")
}

// onlyReads reports whether fn is straight code that only reads shared state.
func (s *spins) onlyReads(fn *ssa.Function) bool {
	reads := false
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if !s.harmless(in) {
				return false
			}
			switch in := in.(type) {
			case *ssa.Call:
				reads = reads || s.call(in) == reading
			case *ssa.Panic, *ssa.RunDefers:
				return false
			}
		}
		for _, succ := range b.Succs {
			if succ.Dominates(b) {
				return false
			}
		}
	}
	return reads
}

// rereads reports whether v depends on shared state that each iteration reads
// at the same place.
func (s *spins) rereads(n *natural, v ssa.Value, seen map[ssa.Value]bool) bool {
	in, ok := v.(ssa.Instruction)
	if !ok || seen[v] || !n.blocks[in.Block()] {
		return false
	}
	seen[v] = true
	switch in := in.(type) {
	case *ssa.Call:
		if s.call(in) == reading {
			args := in.Call.Args
			return len(args) == 0 || n.invariant(args[0], 0)
		}
		if n.ofContext(in) {
			return true
		}
	case *ssa.Select:
		for _, st := range in.States {
			if !n.invariant(st.Chan, 0) && !n.ofContext(st.Chan) {
				return false
			}
		}
		return !in.Blocking
	}
	for _, op := range in.Operands(nil) {
		if *op != nil && s.rereads(n, *op, seen) {
			return true
		}
	}
	return false
}

// retries reports whether the loop is an update without a lock. Such a loop compares
// and swaps with the value that it has just read, and repeats only if another
// goroutine was faster.
func (n *natural) retries() bool {
	for in := range n.instrs {
		c, ok := in.(*ssa.Call)
		if !ok || c.Call.StaticCallee() == nil || !strings.HasPrefix(c.Call.StaticCallee().Name(), "CompareAndSwap") {
			continue
		}
		old, ok := c.Call.Args[len(c.Call.Args)-2].(ssa.Instruction)
		if ok && n.blocks[old.Block()] {
			return true
		}
	}
	return false
}

// invariant reports whether v names the same place in every iteration. It does if it
// is computed outside the loop, or from such values.
func (n *natural) invariant(v ssa.Value, depth int) bool {
	in, ok := v.(ssa.Instruction)
	if !ok || !n.blocks[in.Block()] {
		return true
	}
	if depth > 16 {
		return false
	}
	switch in := in.(type) {
	case *ssa.Phi, *ssa.Call, *ssa.Next, *ssa.Extract:
		return false
	case *ssa.UnOp, *ssa.FieldAddr, *ssa.Field, *ssa.IndexAddr, *ssa.Index, *ssa.ChangeType, *ssa.Convert:
		for _, op := range in.Operands(nil) {
			if *op != nil && !n.invariant(*op, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}
