package points

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Each of several goroutines may have an element of its own of a slice that all of them have, as a
// count. Where elements are shorter than a cache line, neighbors share one: each write takes it
// from the processor of the other.

// neighbors finds loops that write to such an element.
type neighbors struct {
	own     map[*ssa.Parameter]bool  // of goroutines, and of what they call: points to an element
	through map[*ssa.Function][]bool // by parameter: the function writes to what it points to
}

// elements are the parameters that are given the address of an element where a goroutine begins.
func (f *finder) elements() map[*ssa.Parameter]bool {
	own := map[*ssa.Parameter]bool{}
	for _, form := range f.forms() {
		for _, b := range form.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				_, starts := in.(*ssa.Go)
				if !ok || !starts && form.Parent() == nil {
					continue
				}
				callee := c.Common().StaticCallee()
				for i, a := range c.Common().Args {
					at, element := a.(*ssa.IndexAddr)
					if callee != nil && i < len(callee.Params) &&
						(ofOwn(a) || starts && element && isShort(at) && !isConst(at.Index)) {
						own[callee.Params[i]] = true
					}
				}
			}
		}
	}
	return own
}

// ofOwn reports whether v is the address of an element, or of a part of one, that is shorter than a
// cache line, and is chosen by a number that the function was given.
func ofOwn(v ssa.Value) bool { return (seen{}).ofOwn(v, mostSteps) }

func (s seen) ofOwn(v ssa.Value, steps int) bool {
	if s.before(v, steps) {
		return false
	}
	next := func(v ssa.Value) bool { return s.ofOwn(v, steps-1) }
	switch x := v.(type) {
	case *ssa.FieldAddr:
		return next(x.X)
	case *ssa.Phi:
		return slices.ContainsFunc(x.Edges, next)
	case *ssa.UnOp:
		return slices.ContainsFunc(setTo(x.X), next)
	case *ssa.IndexAddr:
		return isArray(x.X) && next(x.X) || isShort(x) && isGiven(x.Index) && isGiven(x.X)
	}
	return false
}

// isShort reports whether an element is shorter than a cache line.
func isShort(at *ssa.IndexAddr) bool {
	t := elementOf(at)
	return !isOpen(t) && sizes.Sizeof(t) < lineSize
}

// isOpen reports whether the size of a type's values depends on a type parameter.
func isOpen(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Named:
		return isOpen(t.Underlying())
	case *types.Array:
		return isOpen(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if isOpen(f.Type()) {
				return true
			}
		}
	}
	return false
}

func isConst(v ssa.Value) bool {
	_, ok := v.(*ssa.Const)
	return ok
}

// isArray reports whether v points to an array.
func isArray(v ssa.Value) bool {
	p, ok := v.Type().Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	_, ok = p.Elem().Underlying().(*types.Array)
	return ok
}

// isGiven reports whether v is what a function was given, or a part of that, or a variable around
// it or its package.
func isGiven(v ssa.Value) bool { return !(seen{}).other(v, mostSteps) }

// other reports whether v may be anything else, or is too many steps away.
func (s seen) other(v ssa.Value, steps int) bool {
	switch v.(type) {
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Global:
		return false
	}
	if steps == 0 || s.before(v, steps) {
		return steps == 0
	}
	next := func(v ssa.Value) bool { return s.other(v, steps-1) }
	switch x := v.(type) {
	case *ssa.FieldAddr:
		return next(x.X)
	case *ssa.UnOp:
		if set := setTo(x.X); len(set) > 0 {
			return slices.ContainsFunc(set, next)
		}
		return x.Op != token.MUL || next(x.X)
	case *ssa.Convert:
		return next(x.X)
	}
	return true
}

// setTo are the values that a variable is set to which a function within this one has, too.
func setTo(v ssa.Value) (list []ssa.Value) {
	variable, ok := v.(*ssa.Alloc)
	if !ok {
		return nil
	}
	for _, in := range *variable.Referrers() {
		if st, ok := in.(*ssa.Store); ok && st.Addr == v {
			list = append(list, st.Val)
		}
	}
	return list
}

// writtenIn reports whether each iteration of n may write to an element of the function's own.
func (s *neighbors) writtenIn(n *natural) bool {
	for in := range n.instrs {
		switch in := in.(type) {
		case *ssa.Store:
			if s.isOwn(in.Addr) {
				return true
			}
		case *ssa.Call:
			writes := s.writes(in.Call.StaticCallee())
			for i, a := range in.Call.Args {
				if i < len(writes) && writes[i] && s.isOwn(a) {
					return true
				}
			}
		}
	}
	return false
}

// isOwn reports whether v is the address of an element of the function's own, or of a part of it.
func (s *neighbors) isOwn(v ssa.Value) bool {
	if ofOwn(v) {
		return true
	}
	p, ok := pointedTo(v).(*ssa.Parameter)
	return ok && s.own[p]
}

// pointedTo is the pointer by which an address was found that is of a part of what it points to.
func pointedTo(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.IndexAddr:
			if !isArray(x.X) {
				return v
			}
			v = x.X
		default:
			return v
		}
	}
}

// writes tells of a function to which of its parameters' values it writes.
func (s *neighbors) writes(fn *ssa.Function) []bool {
	if fn == nil || len(fn.Params) == 0 {
		return nil
	}
	if found, ok := s.through[fn]; ok {
		return found
	}
	found := make([]bool, len(fn.Params))
	s.through[fn] = found
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if st, ok := in.(*ssa.Store); ok {
				for i, p := range fn.Params {
					found[i] = found[i] || pointedTo(st.Addr) == p
				}
			}
		}
	}
	return found
}
