package points

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// A function that remembers looks something up, and returns what it finds. If it finds nothing, it
// makes or fetches that, keeps it where it has looked, and returns it. The calls that do the work
// are flagged: how often they are made tells how often the function finds nothing, and how many
// goroutines are in them at once whether one might do it for all.

// markFills flags such calls.
func (f *finder) markFills() {
	for _, fn := range f.set.Funcs {
		form := f.ssa[fn.Node]
		if form == nil {
			continue
		}
		for _, c := range fills(form) {
			f.markCall(fn, c, spec.FlagFills)
		}
	}
}

// markCall flags a call in a function, if it is a point.
func (f *finder) markCall(fn *Func, c *ssa.Call, flag uint32) {
	_, line := f.place(c.Pos())
	for i := int(fn.Point); i < len(f.set.Points) && f.set.Points[i].Owner == fn.Point; i++ {
		if p := &f.set.Points[i]; p.Kind == spec.PointCall && p.Line == line && isCallOf(p, c) {
			p.Flags |= flag
		}
	}
}

// isCallOf reports whether a point in a line is a call: by the callee's name, if that is known.
func isCallOf(p *Point, c *ssa.Call) bool {
	callee := c.Call.StaticCallee()
	return callee == nil || strings.HasSuffix(p.Name, "."+callee.Name())
}

// fills are the calls whose results a function keeps where it has looked before.
func fills(form *ssa.Function) (found []*ssa.Call) {
	kept := map[string]bool{} // what the function changes, by paths
	var calls []*ssa.Call
	for _, b := range form.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Call:
				calls = append(calls, in)
				if of, ok := methodOf(&in.Call); ok {
					kept[of] = true
				}
			case *ssa.MapUpdate:
				kept[pathOf(in.Map, mostSteps)] = true
			case *ssa.Store:
				if variableOf(in.Addr) == nil {
					kept[pathOf(in.Addr, mostSteps)] = true
				}
			}
		}
	}
	for _, c := range calls {
		if at := keeps(c); len(at) > 0 && asksBefore(c, kept) && returns(form, at, c) {
			found = append(found, c)
		}
	}
	return found
}

// asksBefore reports whether a call is only made if something that its function changes is not as
// it should be.
func asksBefore(c *ssa.Call, kept map[string]bool) bool {
	for b := c.Block().Idom(); b != nil; b = b.Idom() {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok || b.Succs[0].Dominates(c.Block()) == b.Succs[1].Dominates(c.Block()) {
			continue
		}
		if r := (reads{of: kept}); r.anyOf(branch.Cond) {
			return true
		}
	}
	return false
}

// returns reports whether a function returns what is kept at one of some paths, other than what a
// call has just returned.
func returns(form *ssa.Function, at map[string]bool, but *ssa.Call) bool {
	r := reads{of: at, but: but, itself: true}
	for _, b := range form.Blocks {
		if back, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && slices.ContainsFunc(back.Results, r.anyOf) {
			return true
		}
	}
	return false
}

// keeps are the paths at which the result of a call is kept.
func keeps(c *ssa.Call) map[string]bool {
	found, seen := map[string]bool{}, map[ssa.Value]bool{c: true}
	for todo := []ssa.Value{c}; len(todo) > 0; todo = todo[1:] {
		if todo[0].Referrers() == nil {
			continue
		}
		for _, in := range *todo[0].Referrers() {
			var next ssa.Value
			switch in := in.(type) {
			case *ssa.MapUpdate:
				if in.Value == todo[0] {
					found[pathOf(in.Map, mostSteps)] = true
				}
			case *ssa.Store:
				if in.Val != todo[0] {
					break
				}
				if next = variableOf(in.Addr); next == nil {
					found[pathOf(in.Addr, mostSteps)] = true
				}
			case *ssa.Call:
				of, ok := methodOf(&in.Call) // that only keeps what it is given
				if ok && in != c && of != pathOf(todo[0], mostSteps) && len(*in.Referrers()) == 0 {
					found[of] = true
				}
			case *ssa.Extract, *ssa.Phi, *ssa.Convert, *ssa.ChangeType, *ssa.MakeInterface, *ssa.ChangeInterface,
				*ssa.TypeAssert, *ssa.UnOp, *ssa.Slice, *ssa.FieldAddr, *ssa.Field:
				next = in.(ssa.Value)
			}
			if next != nil && !seen[next] && len(seen) < mostValues {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return found
}

// mostValues is how many values are followed that have a call's result.
const mostValues = 64

// variableOf is the local variable that an address is of, or of a part of; nil: it is of none.
func variableOf(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.Alloc:
			return x
		case *ssa.FieldAddr:
			v = x.X
		default:
			return nil
		}
	}
}

// methodOf is the path of the value whose method is called.
func methodOf(c *ssa.CallCommon) (path string, ok bool) {
	switch {
	case c.IsInvoke():
		return pathOf(c.Value, mostSteps), true
	case c.Signature().Recv() != nil && len(c.Args) > 0:
		return pathOf(c.Args[0], mostSteps), true
	}
	return "", false
}

// reads looks for values that are computed from what is read at some paths.
type reads struct {
	of  map[string]bool
	but *ssa.Call // not by it; nil: by all calls
	// what is read is the value itself, or a part of it; else it is computed from that
	itself bool
	seen   map[ssa.Value]bool
}

// anyOf reports whether a value is one, as far as mostValues values tell. Those that were asked for
// before are none.
func (r *reads) anyOf(v ssa.Value) bool {
	in, ok := v.(ssa.Instruction)
	if !ok || r.but != nil && v == ssa.Value(r.but) || r.seen[v] || len(r.seen) == mostValues {
		return false
	}
	if r.seen == nil {
		r.seen = map[ssa.Value]bool{}
	}
	r.seen[v] = true
	at := ""
	switch x := v.(type) {
	case *ssa.Lookup:
		at = pathOf(x.X, mostSteps)
	case *ssa.UnOp:
		at = pathOf(x.X, mostSteps)
		if slices.ContainsFunc(setTo(x.X), r.anyOf) {
			return true
		}
	case *ssa.Call:
		at, _ = methodOf(&x.Call)
	}
	if r.of[at] {
		return true
	}
	if r.itself {
		switch v.(type) {
		case *ssa.Call, *ssa.BinOp, *ssa.Lookup, *ssa.IndexAddr:
			return false
		}
	}
	return slices.ContainsFunc(in.Operands(nil), func(op *ssa.Value) bool { return *op != nil && r.anyOf(*op) })
}

// pathOf is a name of a variable, or of a part of it, that is the same wherever a function uses it.
func pathOf(v ssa.Value, depth int) string {
	if depth == 0 {
		return v.Name()
	}
	switch x := v.(type) {
	case *ssa.UnOp:
		return pathOf(x.X, depth-1)
	case *ssa.FieldAddr:
		return fmt.Sprintf("%s.%d", pathOf(x.X, depth-1), x.Field)
	case *ssa.Field:
		return fmt.Sprintf("%s.%d", pathOf(x.X, depth-1), x.Field)
	case *ssa.IndexAddr:
		return pathOf(x.X, depth-1) + "[]"
	case *ssa.Index:
		return pathOf(x.X, depth-1) + "[]"
	}
	return v.Name()
}
