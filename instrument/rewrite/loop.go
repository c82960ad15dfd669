package rewrite

import (
	"fmt"

	"qinst.dev/instrument/points"
	"qinst.dev/sddf/spec"
)

// loops inserts the probes of fn's loops, except those at the statements that leave them. A loop
// has two variables, the token of its entry and the number of its iterations; one that stands twice
// has a third, see turns. They are an array, because the compiler keeps an array in memory: in
// registers they would be saved and loaded around every call in the loop.
func (w *writer) loops(fn *points.Func) {
	for _, lp := range fn.Probes.Loops {
		if lp.Func {
			w.overFunc(lp)
			continue
		}
		n, vars := lp.Point, "[2]@u64"
		if w.twice(lp) {
			vars = "[3]@u64"
		}
		w.declare(lp.Gotos, lp.Home, lp.Start, fmt.Sprintf("@l%d", n), vars, vars+"{}")
		point := n
		if w.set.Points[fn.Point].Flags&spec.FlagLateDefer != 0 {
			point += lateExit
		}
		switch {
		case lp.Deep:
			w.insert(lp.Start, "if @off[%[1]d] == 0 { @l%[1]d[0] = @enter(@base + %[2]d) }; ", n, point)
			w.insert(lp.Body, " if @l%[1]d[0] != 0 { @trip(@l%[1]d[0]) };", n)
		case lp.Spin:
			w.insert(lp.Body, " if @l%[1]d[1]++; @l%[1]d[1] == 2 && @off[%[1]d] == 0 { @l%[1]d[0] = @enter(@base + %[2]d) };", n, point)
		default:
			w.insert(lp.Start, "%[3]s{ @l%[1]d[0] = @enter(@base + %[2]d) }; ", n, point, w.reached(fn, n))
			w.insert(lp.Body, " @l%d[1]++;", n)
		}
		if lp.Waits && !lp.Deep { // a delay of all iterations at the exit would come too late for others
			w.insert(lp.Body, " if @l%[1]d[0]&(1<<30) != 0 { @trip(@l%[1]d[0]) };", n)
		}
		if lp.End.IsValid() {
			w.insert(lp.End, "; %s", w.leave(lp))
		}
	}
}

// overFunc probes a range over a function. Its body is a closure to the compiler, so a variable
// that it assigned to could move to the heap. Therefore its variable is assigned once, and
// iterations are counted in the profile stack.
func (w *writer) overFunc(lp *points.Loop) {
	n := lp.Point
	w.insert(lp.Start, "@l%[1]d := @loop(%[1]d); ", n)
	w.insert(lp.Body, " if @l%[1]d != 0 { @trip(@l%[1]d) };", n)
	w.insert(lp.End, "; %s", w.leave(lp))
}

// leave returns the statement at a loop's exit. Loops within a loop that is left from the body of
// a range over a function may be left together with it.
func (w *writer) leave(lp *points.Loop) string {
	switch {
	case lp.Deep && !lp.Func:
		return w.expand("if @l%[1]d[0] != 0 { @leave(@l%[1]d[0], 0) }", lp.Point)
	case lp.Func:
		return w.expand("if @l%[1]d != 0 { @leave(@l%[1]d, 0) }", lp.Point)
	}
	token := fmt.Sprintf("@l%d[0]", lp.Point)
	if w.twice(lp) {
		end := w.expand("if %s&1 != 0 { *@behind(%d) += @uptr(@l%d[2] + %d) }; ",
			w.turn(lp), w.words[lp.Point], lp.Point, uint64(spec.LoopEnd))
		return end + w.leaves(token, fmt.Sprintf("@leave(@l%[1]d[0], @l%[1]d[1]+@l%[1]d[2])", lp.Point))
	}
	return w.leaves(token, fmt.Sprintf("@leave(@l%[1]d[0], @l%[1]d[1])", lp.Point))
}
