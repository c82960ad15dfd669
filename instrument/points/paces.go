package points

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// markPaces flags functions that sleep until a time of the clock, instead of for a time: after
// longer work they sleep less.
func (f *finder) markPaces() {
	for _, fn := range f.set.Funcs {
		if form := f.ssa[fn.Node]; form != nil && paces(form) {
			f.mark(fn, spec.FlagPaced)
		}
	}
}

// paces reports whether a function sleeps, or sets a timer, for a time that depends on the clock.
func paces(form *ssa.Function) bool {
	for _, b := range form.Blocks {
		for _, in := range b.Instrs {
			var long ssa.Value
			switch calls(in) {
			case "time.Sleep", "time.After", "time.NewTimer":
				long = in.(*ssa.Call).Call.Args[0]
			case "(*time.Timer).Reset":
				long = in.(*ssa.Call).Call.Args[1]
			}
			if long != nil && (seen{}).byClock(long, mostSteps) {
				return true
			}
		}
	}
	return false
}

// mostSteps is how many steps away from a value the clock is looked for.
const mostSteps = 8

// seen has the values from which a search has found nothing, and in how many steps. Large functions
// have far too many ways to try each.
type seen map[ssa.Value]int

// before reports whether a search was at a value before with as many steps left, and notes that it
// is.
func (s seen) before(v ssa.Value, steps int) bool {
	if s[v] >= steps {
		return true
	}
	s[v] = steps
	return false
}

// byClock reports whether a value is computed from the time of day, within so many steps.
func (s seen) byClock(v ssa.Value, steps int) bool {
	in, ok := v.(ssa.Instruction)
	if !ok || s.before(v, steps) {
		return false
	}
	if readsClock(in) || calls(in) == "(time.Time).Sub" {
		return true
	}
	if c, ok := in.(*ssa.Call); ok && s.returnsByClock(c.Call.StaticCallee(), steps-1) {
		return true
	}
	if load, ok := v.(*ssa.UnOp); ok && slices.ContainsFunc(setTo(load.X), func(v ssa.Value) bool {
		return s.byClock(v, steps-1)
	}) {
		return true
	}
	for _, op := range in.Operands(nil) {
		if *op != nil && s.byClock(*op, steps-1) {
			return true
		}
	}
	return false
}

// returnsByClock reports whether a function, nil: an unknown one, returns such a value.
func (s seen) returnsByClock(form *ssa.Function, steps int) bool {
	if form == nil {
		return false
	}
	for _, b := range form.Blocks {
		if back, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && slices.ContainsFunc(back.Results,
			func(v ssa.Value) bool { return s.byClock(v, steps) }) {
			return true
		}
	}
	return false
}

// readsClock reports whether an instruction reads the clock.
func readsClock(in ssa.Instruction) bool {
	switch calls(in) {
	case "time.Now", "time.Since", "time.Until":
		return true
	}
	return false
}

// calls is the name of the function that an instruction calls; empty: none, or it is not known.
func calls(in ssa.Instruction) string {
	if c, ok := in.(*ssa.Call); ok && c.Call.StaticCallee() != nil {
		return c.Call.StaticCallee().RelString(nil)
	}
	return ""
}
