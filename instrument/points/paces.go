package points

import (
	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// markPaces flags functions that sleep until a time of the clock, and not for a time: who paces
// itself sleeps less if it has worked longer.
func (f *finder) markPaces() {
	for _, fn := range f.set.Funcs {
		if form := f.ssa[fn.Node]; form != nil && paces(form) {
			f.mark(fn, spec.FlagPaced)
		}
	}
}

// paces reports whether a function calls what sleeps, for a time that depends on the clock.
func paces(form *ssa.Function) bool {
	for _, b := range form.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok || c.Call.StaticCallee() == nil {
				continue
			}
			switch c.Call.StaticCallee().RelString(nil) {
			case "time.Sleep", "time.After", "time.NewTimer":
				if byClock(c.Call.Args[0], mostSteps) {
					return true
				}
			case "(*time.Timer).Reset":
				if byClock(c.Call.Args[1], mostSteps) {
					return true
				}
			}
		}
	}
	return false
}

// mostSteps is how many steps away from a value the clock is looked for.
const mostSteps = 8

// byClock reports whether a value is computed from the time of day, within so many steps.
func byClock(v ssa.Value, depth int) bool {
	in, ok := v.(ssa.Instruction)
	if !ok || depth == 0 {
		return false
	}
	if asks(in) || isSub(in) {
		return true
	}
	for _, op := range in.Operands(nil) {
		if *op != nil && byClock(*op, depth-1) {
			return true
		}
	}
	return false
}

// asks reports whether an instruction asks the clock.
func asks(in ssa.Instruction) bool {
	c, ok := in.(*ssa.Call)
	if !ok || c.Call.StaticCallee() == nil {
		return false
	}
	switch c.Call.StaticCallee().RelString(nil) {
	case "time.Now", "time.Since", "time.Until":
		return true
	}
	return false
}

// isSub reports whether an instruction computes the time between two.
func isSub(in ssa.Instruction) bool {
	c, ok := in.(*ssa.Call)
	return ok && c.Call.StaticCallee() != nil && c.Call.StaticCallee().RelString(nil) == "(time.Time).Sub"
}
