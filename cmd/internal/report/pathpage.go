package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"qinst.dev/cmd/internal/analysis/critpath"
	"qinst.dev/cmd/internal/analysis/graph"
	"qinst.dev/cmd/internal/measure"
	"qinst.dev/cmd/internal/report/doc"
	"qinst.dev/cmd/internal/trace"
)

//go:embed path.html
var pathHTML string

var pathFigures = template.Must(template.New("path").Parse(pathHTML))

// What is drawn: more would be too much for a browser, and for an eye.
const (
	mostDrawn = 4000
	mostRows  = 40
	rowHeight = 18
	bins      = 400
)

// colors are those of the procedures that have most of the path; the others have the last one.
var colors = []string{"#d9480f", "#1971c2", "#2b8a3e", "#9c36b5", "#e67700", "#0c8599", "#c2255c", "#5c940d", "#846358"}

const waitColor = "#adb5bd"

type pathFigure struct {
	Procs                int
	Most, Running, Ready string
	Line                 float64
	Left                 int
	Height               int
	Keys                 []pathKey
	Pieces               []pathPiece
	Arrows               []pathArrow
	Rows                 []string
}

type pathKey struct{ Color, Name string }

type pathPiece struct {
	X, Width float64
	Y        int
	Color    string
	Title    string
}

type pathArrow struct {
	X        float64
	From, To int
}

// CriticalPage is the page for a browser: what [Critical] says, the run over time, and the path through goroutines.
func CriticalPage(p *graph.Program, r *critpath.Result, asRun bool) (*doc.Doc, error) {
	d := Critical(r)
	f := &pathFigure{Procs: r.Procs}
	if asRun {
		f.running(p)
		if err := figure(d, f, "running", "Running and ready"); err != nil {
			return nil, err
		}
	}
	f.path(p, r)
	return d, figure(d, f, "path", "The path")
}

func figure(d *doc.Doc, f *pathFigure, id, title string) error {
	var b strings.Builder
	if err := pathFigures.ExecuteTemplate(&b, id, f); err != nil {
		return err
	}
	d.Add(id, title).Figure(template.HTML(b.String()))
	return nil
}

// running draws how many goroutines ran and were ready.
func (f *pathFigure) running(p *graph.Program) {
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
	f.Procs, f.Most, f.Line = p.Procs, fmt.Sprintf("%.1f", top), height-float64(p.Procs)/top*height
	f.Running, f.Ready = area(running), area(ready)
}

// path draws the path.
func (f *pathFigure) path(p *graph.Program, r *critpath.Result) {
	pieces := slices.Clone(r.Path)
	if len(pieces) > mostDrawn {
		slices.SortStableFunc(pieces, func(a, b critpath.Piece) int { return int(min(max(b.To-b.From-(a.To-a.From), -1), 1)) })
		f.Left = len(pieces) - mostDrawn
		pieces = pieces[:mostDrawn]
		slices.SortFunc(pieces, func(a, b critpath.Piece) int { return int(min(max(a.From-b.From, -1), 1)) })
	}
	color := map[string]string{}
	for _, e := range shown(r, len(r.Entries), critpath.KindProc) {
		if e.Self == 0 || len(color) == len(colors)-1 {
			continue
		}
		color[e.Name] = colors[len(color)]
		f.Keys = append(f.Keys, pathKey{color[e.Name], measure.Visible(e.Name)})
	}
	f.Keys = append(f.Keys, pathKey{colors[len(colors)-1], "other procedures"}, pathKey{waitColor, "waits"})
	rows := map[trace.GoID]int{}
	last := -1
	scale := 1000 / float64(max(r.T, 1))
	names := map[trace.GoID]string{0: ""}
	for i := range p.Gs {
		names[p.Gs[i].ID] = p.R.Groups.Group(p.R.Contexts.Node(p.Gs[i].Context).Group).Func
	}
	for i := range pieces {
		piece := &pieces[i]
		row, ok := rows[piece.G]
		if !ok {
			if row = min(len(rows), mostRows-1); row < mostRows-1 {
				f.Rows = append(f.Rows, fmt.Sprintf("row %d: %s", row+1, who(names, piece.G)))
			} else if len(rows) == mostRows-1 {
				f.Rows = append(f.Rows, fmt.Sprintf("row %d: all others", mostRows))
			}
			rows[piece.G] = row
		}
		x := float64(piece.From) * scale
		if last >= 0 && last != row {
			f.Arrows = append(f.Arrows, pathArrow{x, last*rowHeight + rowHeight/2, row*rowHeight + rowHeight/2})
		}
		last = row
		c := color[piece.Name]
		if piece.Kind == critpath.KindWait {
			c = waitColor
		} else if c == "" {
			c = colors[len(colors)-1]
		}
		f.Pieces = append(f.Pieces, pathPiece{x, max(float64(piece.To-piece.From)*scale, 0.3), row*rowHeight + 2, c,
			fmt.Sprintf("%s, %s: %s from %s on", measure.Visible(piece.Name), who(names, piece.G), measure.Time(piece.To-piece.From), measure.Time(piece.From))})
	}
	f.Height = max(1, min(len(rows), mostRows)) * rowHeight
}

// who is a goroutine for people.
func who(names map[trace.GoID]string, g trace.GoID) string {
	if g == 0 {
		return "no goroutine"
	}
	return fmt.Sprintf("goroutine %d, %s", g, measure.Visible(names[g]))
}
