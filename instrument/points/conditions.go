package points

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A function may be given the condition that it waits for, as a function. A loop that calls it over
// and over spins if all that the package gives it only read shared state.

// conditions are the functions that a package gives to those that wait for them.
type conditions map[*ssa.Parameter][]ssa.Value

// findConditions finds what is given to parameters of the type func() bool, by calls of functions
// and of interfaces' methods.
func findConditions(forms []*ssa.Function) conditions {
	list := conditions{}
	waiting := map[string][]*ssa.Parameter{} // by the name of the function or method
	for _, fn := range forms {
		for _, p := range fn.Params {
			if isCondition(p.Type()) {
				waiting[fn.Name()] = append(waiting[fn.Name()], p)
			}
		}
	}
	for _, fn := range forms {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if c, ok := in.(ssa.CallInstruction); ok && len(waiting) > 0 {
					list.add(c.Common(), waiting)
				}
			}
		}
	}
	return list
}

func (l conditions) add(c *ssa.CallCommon, waiting map[string][]*ssa.Parameter) {
	name, from := "", 0 // where the arguments begin among the parameters
	if c.IsInvoke() {
		name, from = c.Method.Name(), 1
	} else if fn := c.StaticCallee(); fn != nil {
		name = fn.Name()
	}
	for _, p := range waiting[name] {
		for i, a := range c.Args {
			to := p.Parent()
			if i+from < len(to.Params) && to.Params[i+from] == p && (c.IsInvoke() || c.StaticCallee() == to) {
				l[p] = append(l[p], a)
			}
		}
	}
}

// isCondition reports whether a type is func() bool.
func isCondition(t types.Type) bool {
	s, ok := t.Underlying().(*types.Signature)
	return ok && s.Params().Len() == 0 && s.Results().Len() == 1 &&
		types.Identical(s.Results().At(0).Type(), types.Typ[types.Bool])
}

// asks reports whether a call is of a condition that a function was given.
func (s *spins) asks(c *ssa.CallCommon) bool {
	p, ok := c.Value.(*ssa.Parameter)
	if !ok || len(s.conditions[p]) == 0 {
		return false
	}
	for _, v := range s.conditions[p] {
		if made, ok := v.(*ssa.MakeClosure); ok {
			v = made.Fn
		}
		if fn, ok := v.(*ssa.Function); !ok || !s.onlyReads(fn) {
			return false
		}
	}
	return true
}

// counts reports whether an instruction only counts the iterations of n.
func (n *natural) counts(st *ssa.Store) bool {
	sum, ok := st.Val.(*ssa.BinOp)
	if !ok || !n.invariant(st.Addr, 0) {
		return false
	}
	_, one := sum.Y.(*ssa.Const)
	load, reads := sum.X.(*ssa.UnOp)
	return one && reads && pathOf(load.X, mostSteps) == pathOf(st.Addr, mostSteps)
}
