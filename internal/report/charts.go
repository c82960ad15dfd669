package report

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// charts draws the run over time: processors and goroutines with the runtime's own metrics.
func (h *htmlPage) charts() {
	l := h.P.Timeline
	if l == nil || len(l.Busy) == 0 {
		return
	}
	shade := marking(l)
	add := func(c htmlChart) {
		c.Shade = shade
		h.Charts = append(h.Charts, c)
	}
	procs := max(float64(h.P.Procs), slices.Max(l.Busy), 1) // more where the program has set it to fewer
	line := staircase(l.Busy, procs)
	add(htmlChart{Title: "processors busy", Most: number(procs),
		Area: fmt.Sprintf("0,%d %s %d,%d", chartHeight, line, chartWidth, chartHeight)})
	most := slices.Max(l.Runnable)
	add(htmlChart{Title: "goroutines running or ready", Most: number(most),
		Curves: []htmlCurve{{"ready", staircase(l.Runnable, most)}}})
	most = slices.Max(l.Alive)
	add(htmlChart{Title: "goroutines", Most: number(most), Curves: []htmlCurve{{"blocked", staircase(l.Alive, most)}}})
	if len(l.Heap) < 2 {
		return
	}
	top := int64(1)
	for _, m := range l.Heap {
		top = max(top, m.Live, m.Goal)
	}
	var live, goal []string
	for _, m := range l.Heap {
		x := float64(m.Time) / float64(h.P.Wall) * chartWidth
		live = append(live, point(x, float64(m.Live)/float64(top)))
		goal = append(goal, point(x, float64(m.Goal)/float64(top)))
	}
	add(htmlChart{Title: "heap, and the collector's goal (dashed)", Most: measure.Bytes(top),
		Curves: []htmlCurve{{"self", strings.Join(live, " ")}, {"goal", strings.Join(goal, " ")}}})
}

// marking returns the times in which the collector marked.
func marking(l *profile.Timeline) (list []htmlShade) {
	width := chartWidth / float64(len(l.Marking))
	for i, share := range l.Marking {
		if share > 0.01 {
			list = append(list, htmlShade{width * float64(i), width, 0.25 * min(share, 1)})
		}
	}
	return list
}
