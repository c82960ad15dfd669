package points

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// A loop may need in each iteration what a call has returned in the one before, as where a key is
// stretched: then its iterations cannot be divided, either.

// markLoopChains flags calls that are given what they have returned in an iteration before.
func (f *finder) markLoopChains() {
	for _, fn := range f.set.Funcs {
		form := f.ssa[fn.Node]
		if form == nil {
			continue
		}
		for _, n := range f.naturals(form) {
			for _, c := range newFlow(n).circular() {
				f.markCall(fn, c, spec.FlagChained)
			}
		}
	}
}

// flow is what variables and results of calls are computed from in each iteration of a loop.
type flow struct {
	n     *natural
	calls []*ssa.Call
	from  map[ssa.Value]map[ssa.Value]bool
}

func newFlow(n *natural) *flow {
	f := &flow{n: n, from: map[ssa.Value]map[ssa.Value]bool{}}
	for in := range n.instrs {
		if c, ok := in.(*ssa.Call); ok {
			if _, builtin := c.Call.Value.(*ssa.Builtin); !builtin {
				f.calls = append(f.calls, c)
			}
		}
	}
	for in := range n.instrs {
		switch in := in.(type) {
		case *ssa.Store:
			f.sets(rootOf(in.Addr), in.Val)
		case *ssa.Phi:
			if in.Block() == n.header {
				f.sets(in, in.Edges...)
			}
		case *ssa.Call:
			if b, ok := in.Call.Value.(*ssa.Builtin); !ok {
				f.sets(in, in.Call.Args...)
			} else if b.Name() == "copy" {
				f.sets(rootOf(in.Call.Args[0]), in.Call.Args[1])
			}
		}
	}
	return f
}

// sets notes that a variable, or a call, gets some values.
func (f *flow) sets(v ssa.Value, values ...ssa.Value) {
	if f.from[v] == nil {
		f.from[v] = map[ssa.Value]bool{}
	}
	seen := map[ssa.Value]bool{}
	for _, x := range values {
		f.add(f.from[v], x, seen)
	}
}

// add adds the variables and calls that a value is computed from in the same iteration.
func (f *flow) add(to map[ssa.Value]bool, v ssa.Value, seen map[ssa.Value]bool) {
	in, ok := v.(ssa.Instruction)
	if !ok || seen[v] || len(seen) == mostValues {
		return
	}
	seen[v] = true
	call, _ := v.(*ssa.Call)
	phi, _ := v.(*ssa.Phi)
	variable, _ := v.(*ssa.Alloc)
	switch {
	case variable != nil:
		to[v] = true
	case !f.n.blocks[in.Block()]:
	case slices.Contains(f.calls, call), phi != nil && phi.Block() == f.n.header:
		to[v] = true
	default:
		for _, op := range in.Operands(nil) {
			if *op != nil {
				f.add(to, *op, seen)
			}
		}
	}
}

// circular are the calls that get what they have returned.
func (f *flow) circular() (list []*ssa.Call) {
	for _, c := range f.calls {
		seen := map[ssa.Value]bool{}
		for todo := []ssa.Value{c}; len(todo) > 0 && !seen[c]; todo = todo[1:] {
			for v := range f.from[todo[0]] {
				if !seen[v] {
					seen[v] = true
					todo = append(todo, v)
				}
			}
		}
		if seen[c] && !mergesTwo(c) {
			list = append(list, c)
		}
	}
	return list
}

// mergesTwo reports whether a call merges two slices, maps or pointers of one type. A loop that
// merges many one after another can be divided: pairs can be merged at the same time. Arrays and
// slices of bytes are more likely a hash and its input.
func mergesTwo(c *ssa.Call) bool {
	of := c.Type()
	switch t := of.Underlying().(type) {
	case *types.Slice:
		if b, ok := t.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Byte {
			return false
		}
	case *types.Map, *types.Pointer:
	default:
		return false
	}
	n := 0
	for _, arg := range c.Call.Args {
		if types.Identical(arg.Type(), of) {
			n++
		}
	}
	return n >= 2
}

// rootOf is the variable that an address or a slice is of, or of a part of.
func rootOf(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.IndexAddr:
			v = x.X
		case *ssa.Slice:
			v = x.X
		default:
			return v
		}
	}
}
