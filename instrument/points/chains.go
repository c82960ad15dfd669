package points

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// A function that keeps a value for its next call, and computes the next one from that by other
// calls or a loop, cannot be called for two items at once: each call needs the result of the one
// before, as of a chain of hashes. A sum is none: its parts can be added up in any order.

// markChains flags such functions.
func (f *finder) markChains() {
	for _, fn := range f.set.Funcs {
		if form := f.ssa[fn.Node]; form != nil && chains(form) {
			f.mark(fn, spec.FlagChained)
		}
	}
}

// chains reports whether a function keeps what it computes from what it has kept.
func chains(form *ssa.Function) bool {
	for _, b := range form.Blocks {
		for _, in := range b.Instrs {
			if s, ok := in.(*ssa.Store); ok && outlives(s.Addr) {
				t := chain{of: map[string]bool{pathOf(s.Addr, mostSteps): true}, seen: map[ssa.Value]bool{}}
				if t.follow(s.Val); t.called || t.loops && t.mixes && t.reads {
					return true
				}
			}
		}
	}
	return false
}

// outlives reports whether an address is of a part of something that is there after the function
// has returned.
func outlives(v ssa.Value) bool {
	part := false
	for {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			v, part = x.X, true
		case *ssa.IndexAddr:
			v, part = x.X, true
		case *ssa.UnOp:
			v = x.X
		case *ssa.Global:
			return true
		case *ssa.Parameter, *ssa.FreeVar:
			return part
		default:
			return false
		}
	}
}

// chain is what a value is computed from.
type chain struct {
	of     map[string]bool // a path
	seen   map[ssa.Value]bool
	reads  bool // what is at the path
	called bool // by a call that is given it
	loops  bool // in a loop
	mixes  bool // by operations whose order matters
}

// follow looks at a value, and at those that it is computed from.
func (t *chain) follow(v ssa.Value) {
	in, ok := v.(ssa.Instruction)
	if !ok || t.seen[v] || len(t.seen) == mostValues {
		return
	}
	t.seen[v] = true
	switch x := v.(type) {
	case *ssa.Call:
		if _, builtin := x.Call.Value.(*ssa.Builtin); !builtin {
			for _, op := range in.Operands(nil) {
				if r := (reads{of: t.of}); *op != nil && (r.anyOf(*op) || t.partOf(*op)) {
					t.called = true
				}
			}
		}
	case *ssa.Phi:
		t.loops = t.loops || slices.ContainsFunc(x.Block().Preds, x.Block().Dominates)
	case *ssa.BinOp:
		switch x.Op {
		case token.MUL, token.QUO, token.REM, token.SHL, token.SHR:
			t.mixes = true
		}
	case *ssa.UnOp:
		t.reads = t.reads || t.of[pathOf(x.X, mostSteps)]
	}
	for _, op := range in.Operands(nil) {
		if *op != nil {
			t.follow(*op)
		}
	}
}

// partOf reports whether a value is a slice of the array at the path.
func (t *chain) partOf(v ssa.Value) bool {
	s, ok := v.(*ssa.Slice)
	return ok && t.of[pathOf(s.X, mostSteps)]
}
