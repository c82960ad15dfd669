package report

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// htmlChart is a picture of numbers over time, 1000 wide and chartHeight high.
type htmlChart struct {
	Title  string
	Most   string // value of its full height
	Shade  []htmlShade
	Area   string // points of a polygon; "" for none
	Curves []htmlCurve
}

type htmlCurve struct{ Class, Points string }

type htmlShade struct{ X, Width, Opacity float64 }

const (
	chartWidth  = 1000
	chartHeight = 60
)

// charts draws the run over time: what ran beside the runtime's own metrics.
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
	add(htmlChart{Title: "processors busy", Most: number(procs), Area: fmt.Sprintf("0,%d %s %d,%d", chartHeight, line, chartWidth, chartHeight)})
	most := slices.Max(l.Runnable)
	add(htmlChart{Title: "goroutines running or ready", Most: number(most), Curves: []htmlCurve{{"ready", staircase(l.Runnable, most)}}})
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
	add(htmlChart{Title: "heap, and the collector's goal (dashed)", Most: measure.Bytes(top), Curves: []htmlCurve{{"self", strings.Join(live, " ")}, {"goal", strings.Join(goal, " ")}}})
}

func number(x float64) string { return fmt.Sprintf("%.3g", x) }

func point(x, share float64) string {
	return fmt.Sprintf("%.1f,%.1f", x, chartHeight*(1-min(max(share, 0), 1)))
}

// staircase is a curve with a horizontal piece for each slice.
func staircase(values []float64, most float64) string {
	if most <= 0 {
		most = 1
	}
	var points []string
	for i, v := range values {
		points = append(points, point(chartWidth*float64(i)/float64(len(values)), v/most), point(chartWidth*float64(i+1)/float64(len(values)), v/most))
	}
	return strings.Join(points, " ")
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

// figure1 is how much of the time with 1, 2, 3 ... processors busy is a line's own, and how
// much is on its behalf, both in percent of the run: Quartz's Figure 1. The rest is others'.
func figure1(p *profile.Profile, e *profile.Entry) string {
	var parts []string
	for i := 1; i < len(p.Parallelism); i++ {
		self, all := int64(0), int64(0)
		if i < len(e.SelfBusyAt) {
			self = e.SelfBusyAt[i] / int64(i)
		}
		if i < len(e.BusyAt) {
			all = e.BusyAt[i] / int64(i)
		}
		parts = append(parts, fmt.Sprintf("%.4g %.4g", width(self, p.Wall), width(max(0, all-self), p.Wall)))
	}
	return strings.Join(parts, " ")
}
