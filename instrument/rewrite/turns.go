package rewrite

import (
	"qinst.dev/instrument/points"
	"qinst.dev/sddf/spec"
)

// turns makes the bodies of loops stand twice, in the text with probes, as bodies does those of
// functions:
//
//	for ... {
//		if !(level <= 1) {
//			if level == 3 { count the iteration; if l[2] != 0 { count those without probes } }
//			text with probes; continue
//		}
//		if level != 0 { l[2]++ }; /*line :L:C*/ text as it was
//	}
//
// The level is the loop's own: an activation that never returns keeps its text, but each iteration
// chooses. Iterations are counted in the ledger, with probes in a word and without them behind it,
// because the ratio of hits to the former tells what the latter did. At level 2 all iterations have
// probes for the whole run, and nothing needs the ratio. What leaves the loop, or the function,
// still has its probes.
//
// Those without probes are counted in a variable first, for that takes one instruction. When a
// burst begins, and at the loop's exit, they are added to the ledger's word, at the exit with a one
// in its upper bits (spec.LoopEnd): entries without an exit show that the word lacks some. At level
// 0 there may be no ledger: a twin only runs where there is one.
func (w *writer) turns(fn *points.Func) {
	for _, lp := range fn.Probes.Loops {
		if !w.twice(lp) {
			continue
		}
		without := []int{probesOf(fn)}
		for _, in := range fn.Probes.Loops {
			if lp.Encloses(in) {
				without = append(without, leavesOf(in))
			}
		}
		level := w.turn(lp)
		begin := w.expand(" if !(*(*@second)(@ptr(&%[1]s)) <= %[2]d) { if *(*@first)(@ptr(&%[1]s)) == %[3]d {",
			level, spec.ProcEntered, spec.ProcProbed)
		begin += w.expand(" *@word(%[1]d)++; if @l%[2]d[2] != 0 { *@behind(%[1]d) += @uptr(@l%[2]d[2]);"+
			" @l%[2]d[1] += @l%[2]d[2]; @l%[2]d[2] = 0 } };", w.words[lp.Point], lp.Point)
		count := w.expand("@l%d[2]++;", lp.Point)
		if !fn.Bodies.Twin {
			count = w.expand("if %s != 0 { %s };", level, count)
		}
		end := "; continue }; " + count
		w.Double(w.file.Offset(lp.Body), w.file.Offset(lp.BodyEnd()), begin, end+w.lineAt(lp.Body), without...)
	}
}

// turn is the level of a loop that stands twice.
func (w *writer) turn(lp *points.Loop) string {
	return w.expand("@off[%d]", len(w.set.Points)+int(lp.Point))
}

// twice reports whether a loop's body stands twice.
func (w *writer) twice(lp *points.Loop) bool { return lp.Twice && w.set.InLine }
