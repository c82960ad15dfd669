package report

import (
	"fmt"
	"math"
	"strings"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/report/doc"
)

// DelaysPage is the page for a browser: what [Delays] says, effects with their intervals, their
// half-normal plots, residuals, and effects by number of processors.
func DelaysPage(x *delays.Experiment, r *delays.Result) (*doc.Doc, error) {
	d := Delays(x, r)
	for i := range r.Plans {
		p := &r.Plans[i]
		title := planTitle(p)
		for _, f := range []struct {
			data     any
			id, name string
		}{{effectRows(x, p), "effects", title + ": effects"}, {halfNormal(x, p), "points", title + ": noise or not"},
			{residualDots(x, p), "points", title + ": what is left"}} {
			if err := figure(d, f.data, f.id, f.name); err != nil {
				return nil, err
			}
		}
	}
	if lines := byProcs(x, r); lines != nil {
		return d, figure(d, lines, "points", "Effects by number of processors")
	}
	return d, nil
}

type (
	effectFigure struct {
		What         string
		Height, Zero float64
		Rows         []effectRow
	}
	effectRow struct {
		Name, Text    string
		Found         bool
		Y, Lo, Hi, At float64
	}
	dotFigure struct {
		Note, Top, Axis string
		Base            float64
		Dots            []dot
		Lines           []dotLine
	}
	dot struct {
		X, Y, TextX float64
		Name        string
		Found       bool // it is significant
		Label       bool
	}
	dotLine struct {
		Points, Name string
		X, Y         float64
	}
)

// effectRows draws effects with their intervals.
func effectRows(x *delays.Experiment, p *delays.PlanResult) *effectFigure {
	lo, hi := 0., 0.
	for _, e := range p.Effects {
		lo, hi = min(lo, e.Low), max(hi, e.High)
	}
	const left, right, row = 310, 880, 24
	at := func(v float64) float64 { return left + (v-lo)/max(hi-lo, 1e-12)*(right-left) }
	f := &effectFigure{What: Response(x), Height: float64(row * len(p.Effects)), Zero: at(0)}
	for i, e := range p.Effects {
		f.Rows = append(f.Rows, effectRow{short(x.Factors[e.Factor].Label()), signedAmount(x, e.Effect), e.Significant,
			float64(i * row), at(e.Low), at(e.High), at(e.Effect)})
	}
	return f
}

// Where dots are: from left to right, and from the bottom to the top.
const (
	dotLeft   = 70.
	dotRight  = 980.
	dotTop    = 15.
	dotBottom = 290.
)

// halfNormal draws the sizes of effects and interactions over half-normal quantiles.
func halfNormal(x *delays.Experiment, p *delays.PlanResult) *dotFigure {
	f := &dotFigure{Note: "All effects and interactions by size. Those of noise lie on a line through the lower left corner; what lies far above it is none.", Axis: "half-normal quantile", Base: dotBottom}
	most, far := 0., 0.
	for _, q := range p.Points {
		most, far = max(most, q.Size), max(far, q.Quantile)
	}
	f.Top = amount(x, most)
	for _, q := range p.Points {
		at := dotLeft + q.Quantile/max(far, 1e-12)*(dotRight-dotLeft)
		f.Dots = append(f.Dots, dot{at, dotBottom - q.Size/max(most, 1e-300)*(dotBottom-dotTop), at - 8, short(q.Name),
			q.Significant, q.Significant})
	}
	f.apart()
	return f
}

// apart takes labels away that would lie on those of dots further to the right. Pointing at a dot
// shows its name all the same.
func (f *dotFigure) apart() {
	const letter, line = 6.5, 14 // pixels
	for i := len(f.Dots) - 1; i >= 0; i-- {
		d := &f.Dots[i]
		for _, o := range f.Dots[i+1:] {
			if o.Label && math.Abs(o.Y-d.Y) < line && d.TextX > o.TextX-letter*float64(len(o.Name)) {
				d.Label = false
			}
		}
	}
}

// residualDots draws what significant effects leave, in the order of the runs.
func residualDots(x *delays.Experiment, p *delays.PlanResult) *dotFigure {
	const middle = (dotTop + dotBottom) / 2
	f := &dotFigure{Note: "How far each run is from what the significant effects tell, and from others of its block, in the order of the runs. What is left is to be without a shape: a rise or a step says that something else changed meanwhile.", Axis: "run", Base: middle}
	most := 0.
	for _, v := range p.Residuals {
		most = max(most, math.Abs(v))
	}
	f.Top = signedAmount(x, most)
	for i, v := range p.Residuals {
		f.Dots = append(f.Dots, dot{X: dotLeft + (float64(i)+0.5)/float64(len(p.Residuals))*(dotRight-dotLeft),
			Y:    middle - v/max(most, 1e-300)*(dotBottom-dotTop)/2,
			Name: fmt.Sprintf("run %d: %s", i+1, signedAmount(x, v))})
	}
	return f
}

// byProcs draws effects over the number of processors, both as logarithms; nil if there is one
// number.
func byProcs(x *delays.Experiment, r *delays.Result) *dotFigure {
	type point struct{ procs, effect float64 }
	lines := map[string][]point{}
	lo, hi, least, most := math.Inf(1), 0., math.Inf(1), 0.
	for _, p := range r.Plans {
		for _, e := range p.Effects {
			if p.Procs > 0 && p.Stage == delays.Screening && e.Significant && e.Effect > 0 {
				lines[e.Name] = append(lines[e.Name], point{float64(p.Procs), e.Effect})
				lo, hi, least, most = min(lo, float64(p.Procs)), max(hi, float64(p.Procs)), min(least, e.Effect),
					max(most, e.Effect)
			}
		}
	}
	if hi <= lo {
		return nil
	}
	f := &dotFigure{Note: "Both axes are logarithms: an effect that is divided among the processors falls, as they double, by half.", Axis: fmt.Sprintf("%.0f to %.0f processors", lo, hi), Top: amount(x, most), Base: dotBottom}
	at := func(p point) (float64, float64) {
		return dotLeft + math.Log(p.procs/lo)/math.Log(hi/lo)*(dotRight-dotLeft),
			dotBottom - math.Log(p.effect/least)/max(math.Log(most/least), 1e-9)*(dotBottom-dotTop)
	}
	for _, c := range r.Classes { // in their order
		var points []string
		var right, y float64
		for _, p := range lines[c.Name] {
			right, y = at(p)
			points = append(points, fmt.Sprintf("%.1f,%.1f", right, y))
			f.Dots = append(f.Dots, dot{X: right, Y: y, Name: c.Name, Found: true})
		}
		if len(points) > 0 {
			f.Lines = append(f.Lines, dotLine{strings.Join(points, " "), short(c.Name) + ": " + c.Class, right - 6,
				y - 6})
		}
	}
	return f
}
