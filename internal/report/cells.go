package report

import (
	"fmt"
	"math"
	"path"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// nameWidth bounds names in tables.
const (
	nameWidth = 40
	loopWidth = 52
)

// change is how much more a number is than it was, in percent.
func change(now, was int64) string {
	if was == 0 {
		return ""
	}
	if now/10 >= was {
		return ">+999%"
	}
	return measure.Change(100*(float64(now)/float64(was)-1)) + "%"
}

// changeWithin is the change of estimates, with the interval in which it is.
func changeWithin(now, was int64, nows, wases *profile.Interval) string {
	text := change(now, was)
	if text == "" || nows == nil && wases == nil {
		return text
	}
	if nows == nil {
		nows = &profile.Interval{Low: now, High: now}
	}
	if wases == nil {
		wases = &profile.Interval{Low: was, High: was}
	}
	return fmt.Sprintf("~%s (%s to %s)", text, measure.Time(nows.Low-wases.High), measure.Time(nows.High-wases.Low))
}

// kindMark precedes the names of entries that are not procedures.
func kindMark(kind string) string {
	switch kind {
	case profile.KindLoop:
		return "  "
	case profile.KindGoroutine:
		return "go "
	case profile.KindSync:
		return "sync "
	}
	return ""
}

// interval is two cells.
func interval(i *profile.Interval) []any {
	if i == nil {
		return []any{"", ""}
	}
	return []any{doc.Time(i.Low), doc.Time(i.High)}
}

func estimatedCell(ns int64, i *profile.Interval) doc.Cell {
	c := doc.Time(ns)
	c.Text = estimated(ns, i)
	return c
}

// hits marks a number that is an estimate, or a lower bound.
func hits(n trace.Estimate) string { return n.Mark() + measure.Count(n.Shown()) }

func hitsCell(n trace.Estimate) doc.Cell {
	c := doc.Count(n.Value)
	c.Text = hits(n)
	return c
}

// estimated marks a time that is an estimate.
func estimated(ns int64, i *profile.Interval) string {
	switch {
	case i == nil:
		return measure.Time(ns)
	case ns == 0 && i.High > 0: // no sample found any
		return "≤" + measure.Time(i.High)
	}
	return "~" + measure.Time(ns)
}

// localFrame is the local name of a frame, which may be a go statement.
func localFrame(name string) string {
	if fn, ok := strings.CutPrefix(name, "go "); ok {
		return "go " + measure.Local(fn)
	}
	return measure.Local(name)
}

// between is an interval in words.
func between(i *profile.Interval) string {
	if i == nil {
		return ""
	}
	return measure.Time(i.Low) + " to " + measure.Time(i.High) + " with 95 % confidence"
}

// hitsBetween is the interval of an estimate in words; "" for an exact number.
func hitsBetween(n trace.Estimate) string {
	switch {
	case n.Exact():
		return ""
	case n.Bound():
		return measure.Count(n.Lo) + " or more"
	}
	return measure.Count(n.Lo) + " to " + measure.Count(n.Hi) + " with 95 % confidence"
}

func countAny(n any) string {
	switch n := n.(type) {
	case uint64:
		return measure.Count(n)
	case int64:
		return measure.Count(n)
	}
	return fmt.Sprint(n)
}

// width is a share in percent, with few digits.
func width(part, whole int64) float64 { return math.Round(1e4*100*measure.Ratio(part, whole)) / 1e4 }

func place(file string, line int) string {
	if file == "" {
		return ""
	}
	if line == 0 {
		return path.Base(file)
	}
	return fmt.Sprintf("%s:%d", path.Base(file), line)
}

// staircase is a curve with a horizontal piece for each slice.
func staircase(values []float64, most float64) string {
	if most <= 0 {
		most = 1
	}
	var points []string
	for i, v := range values {
		points = append(points, point(chartWidth*float64(i)/float64(len(values)), v/most),
			point(chartWidth*float64(i+1)/float64(len(values)), v/most))
	}
	return strings.Join(points, " ")
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

// ofProcess is a share of the processor time that the process used, where that is known.
func ofProcess(part, cpu int64) string {
	if cpu <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%s of the process)", measure.Percent(part, cpu))
}

func number(x float64) string { return fmt.Sprintf("%.3g", x) }

func point(x, share float64) string {
	return fmt.Sprintf("%.1f,%.1f", x, chartHeight*(1-min(max(share, 0), 1)))
}

const (
	chartWidth  = 1000
	chartHeight = 60
)
