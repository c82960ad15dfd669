package report

import (
	"embed"
	"fmt"
	"html/template"
	"strings"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/report/doc"
)

// bins is the number of parts of the run in the first graph.
const bins = 400

type pathFigure struct {
	Procs                int
	Most, Running, Ready string
	Line                 float64
}

// figure adds a section with one.
func figure(d *doc.Doc, data any, id, title string) error {
	var b strings.Builder
	if err := pathFigures.ExecuteTemplate(&b, id, data); err != nil {
		return err
	}
	d.Add(id, title).Figure(template.HTML(b.String()))
	return nil
}

// running draws how many goroutines ran and were ready.
func running(p *steps.Program) *pathFigure {
	running, ready := p.Timeline(bins)
	top := float64(p.Procs)
	for i := range running {
		ready[i] += running[i] // on top of them
		top = max(top, ready[i])
	}
	const height = 120
	area := func(list []float64) string {
		var b strings.Builder
		fmt.Fprintf(&b, "0,%d", height)
		for i, v := range list {
			y := height - v/top*height
			fmt.Fprintf(&b, " %.2f,%.2f %.2f,%.2f", float64(i)*1000/bins, y, float64(i+1)*1000/bins, y)
		}
		fmt.Fprintf(&b, " 1000,%d", height)
		return b.String()
	}
	return &pathFigure{p.Procs, fmt.Sprintf("%.1f", top), area(running), area(ready),
		height - float64(p.Procs)/top*height}
}

//go:embed path.html gantt.html spt.html
var pathHTML embed.FS

var pathFigures = template.Must(template.ParseFS(pathHTML, "*.html"))
