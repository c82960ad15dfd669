package rewrite

import "qinst.dev/instrument/points"

// turns makes the bodies of loops stand twice, in the text with probes, as bodies does those of
// functions:
//
//	for ... {
//		if !(level == 0) {
//			if !(level <= 1) { count the iteration; text with probes; continue }
//			count the iteration
//		} /*line :L:C*/ text as it was
//	}
//
// The level is the loop's own: an activation that never returns keeps its text, but each iteration
// chooses. Iterations are counted in the ledger, with probes in a word and without them behind it,
// because the ratio of hits to the former tells what the latter did. At level 0 there may be no
// ledger. What leaves the loop, or the function, still has its probes.
func (w *writer) turns(fn *points.Func) {
	if !w.set.InLine {
		return
	}
	for _, lp := range fn.Probes.Loops {
		if !lp.Twice {
			continue
		}
		without := []int{probesOf(fn)}
		for _, in := range fn.Probes.Loops {
			if lp.Encloses(in) {
				without = append(without, leavesOf(in))
			}
		}
		k := w.words[lp.Point]
		begin, count := w.levels(len(w.set.Points)+int(lp.Point)),
			w.expand("; *@behind(%d)++ }; @l%d[1]++;", k, lp.Point)
		w.Double(w.file.Offset(lp.Body), w.file.Offset(lp.BodyEnd()),
			begin+w.expand(" *@word(%d)++;", k), "; continue }"+count+w.lineAt(lp.Body), without...)
	}
}
