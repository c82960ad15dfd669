package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"path"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

//go:embed figures.html
var figuresHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// Look is that of [HTML]'s figures.
func Look() doc.Look { return doc.Look{Style: template.CSS(pageCSS), Script: template.JS(pageJS)} }

var figures = template.Must(template.New("figures").Funcs(template.FuncMap{"dur": measure.Time[int64], "percent": measure.Percent,
	"estimated": estimated, "between": between, "hits": hits, "hitsBetween": hitsBetween, "local": measure.Local, "count": countAny}).Parse(figuresHTML))

// From which share of the run time on a line, or a box, is on the HTML page.
const (
	htmlLeast  = 0.001
	flameLeast = 0.001
	flameRow   = 1.5 // em
)

// HTML builds the report for the browser: possible changes first, the ranking with its states,
// synchronization, the work on behalf of each procedure, and the other sections of the page for a
// terminal. A view narrows the figures, not the advice, which is about the whole run. t is nil
// for a profile of several traces.
func HTML(t *trace.Trace, p *profile.Profile, v View) (*doc.Doc, error) {
	whole := t != nil
	if !whole {
		t = &trace.Trace{}
	}
	pg := newPage(t, p)
	pg.first()
	if v.narrow() {
		pg.Section("summary").Note("%s is shown below; sums, and what to change, are of the whole run", v.String())
	}
	if err := pg.figures(v); err != nil {
		return nil, err
	}
	if whole {
		pg.rankings()
		pg.lost()
		pg.data()
		pg.cost()
	} else {
		pg.losses()
	}
	return pg.Doc, nil
}

// figures adds the sections that are pictures.
func (pg *page) figures(v View) error {
	h := &htmlPage{P: v.Of(pg.p), view: v, Least: measure.Percent(1, int64(1/htmlLeast))}
	for i, ns := range pg.p.Parallelism {
		h.Busy = append(h.Busy, htmlBusy{i, measure.Time(ns), measure.Percent(ns, pg.p.Wall), width(ns, pg.p.Wall)})
	}
	h.charts()
	h.lines()
	h.objects()
	h.flame()
	for _, f := range []struct {
		id, title string
		any       bool
	}{
		{"processors", "Processors busy", true},
		{"timeline", "Over time", len(h.Charts) > 0},
		{"entries", "Where the run time is", true},
		{"synchronization", "Synchronization", len(h.Objects) > 0},
		{"behalf", "On whose behalf", true},
	} {
		if !f.any {
			continue
		}
		var out strings.Builder
		if err := figures.ExecuteTemplate(&out, f.id, h); err != nil {
			return err
		}
		pg.Add(f.id, f.title).Figure(template.HTML(out.String()))
	}
	return nil
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

// htmlPage is the data of the figures.
type htmlPage struct {
	view        View
	P           *profile.Profile
	Busy        []htmlBusy
	Charts      []htmlChart
	Kinds       []string
	Lines       []htmlLine
	More        int
	Least       string
	Objects     []htmlObject
	Flame       []htmlBox
	FlameHeight float64
}

type htmlBusy struct {
	N           int
	Time, Share string
	Width       float64
}

type htmlLine struct {
	*profile.Entry
	Place                 string
	SelfWidth, BelowWidth float64
	Parts                 []htmlPart
	Figure1               string
	States                string
}

type htmlPart struct {
	Class string
	Width float64
}

type htmlObject struct {
	*profile.Object
	Place, Mean, Queue, Blamed string
}

type htmlBox struct {
	Name, Title      string
	Left, Width, Top float64
	Depth            int
	Go               bool
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

func (h *htmlPage) lines() {
	for i := range h.P.Entries {
		e := &h.P.Entries[i]
		if measure.Ratio(e.NPT, h.P.Wall) < htmlLeast && measure.Ratio(e.Blame, h.P.Wall) < htmlLeast {
			h.More++
			continue
		}
		if !slices.Contains(h.Kinds, e.Kind) {
			h.Kinds = append(h.Kinds, e.Kind)
		}
		l := htmlLine{Entry: e, Figure1: figure1(h.P, e), Place: place(e.File, e.Line), SelfWidth: width(e.SelfNPT, h.P.Wall), BelowWidth: width(e.NPT-e.SelfNPT, h.P.Wall)}
		times := []struct {
			class string
			ns    int64
		}{{"busy", e.Busy}, {"spin", e.Spin}, {"ready", e.Ready}, {"blocked", e.Blocked}, {"syscall", e.Syscall}, {"off", e.Off}}
		all := e.Busy + e.Spin + e.Ready + e.Blocked + e.Syscall + e.Off
		var states []string
		for _, t := range times {
			if t.ns > 0 {
				l.Parts = append(l.Parts, htmlPart{t.class, width(t.ns, all)})
				states = append(states, t.class+" "+measure.Time(t.ns))
			}
		}
		for _, w := range e.BlockedOn[:min(3, len(e.BlockedOn))] {
			states = append(states, fmt.Sprintf("itself for %s (%s) %s", w.Object, w.Reason, measure.Time(w.Time)))
		}
		l.States = strings.Join(states, ", ")
		h.Lines = append(h.Lines, l)
	}
}

// objects lists what was waited for; waits that are idle by design come last.
func (h *htmlPage) objects() {
	for _, idle := range []bool{false, true} {
		for i := range h.P.Objects {
			if o := &h.P.Objects[i]; o.Idle == idle && o.Wait+o.Hold > 0 && len(h.Objects) < 3*top {
				h.Objects = append(h.Objects, h.object(o))
			}
		}
	}
}

func (h *htmlPage) object(o *profile.Object) htmlObject {
	x := htmlObject{Object: o, Place: place(o.File, o.Line), Mean: fmt.Sprintf("%.2f", meanQueue(h.P, o))}
	var queue []string
	for _, ns := range o.Waiting[min(1, len(o.Waiting)):] {
		queue = append(queue, measure.Time(ns))
	}
	if len(queue) > 6 {
		queue = append(queue[:6], "...")
	}
	x.Queue = strings.Join(queue, ", ")
	if o.Apart {
		x.Queue = "not known"
	}
	switch {
	case o.Idle:
		x.Blamed = "nobody: idle by design"
	case len(o.Blamed) > 0:
		x.Blamed = fmt.Sprintf("%s %s", measure.Local(o.Blamed[0].Reason), measure.Percent(o.Blamed[0].Time, o.Wait))
	}
	return x
}

func (h *htmlPage) flame() {
	root := newTree(h.P, h.view)
	root.name = "all"
	deepest := 0
	var add func(n *treeNode, left int64, depth int)
	add = func(n *treeNode, left int64, depth int) {
		deepest = max(deepest, depth)
		_, started := strings.CutPrefix(n.name, "go ")
		h.Flame = append(h.Flame, htmlBox{Name: localFrame(n.name), Depth: depth, Go: started,
			Title: fmt.Sprintf("%s: npt %s (%s), self %s, busy %s, blocked %s", n.name, measure.Time(n.npt), measure.Percent(n.npt, h.P.Wall), measure.Time(n.self), measure.Time(n.busy), measure.Time(n.blocked)),
			Left:  width(left, h.P.Wall), Width: width(n.npt, h.P.Wall), Top: flameRow * float64(depth)})
		for _, c := range n.sorted() {
			if measure.Ratio(c.npt, h.P.Wall) >= flameLeast {
				add(c, left, depth+1)
				left += c.npt
			}
		}
	}
	add(root, 0, 0)
	h.FlameHeight = flameRow * float64(deepest+1)
}
