package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"qinst.dev/analysis/profile"
)

//go:embed page.html
var pageHTML string

// From which share of the run time on a line, or a box, is on the HTML page.
const (
	htmlLeast  = 0.001
	flameLeast = 0.001
	flameRow   = 1.5 // em
)

// HTML writes the profile as a page that needs nothing else: what to change first, the
// ranking with its states, synchronization, and who ran on whose behalf. A view narrows all
// but what to change.
func HTML(w io.Writer, p *profile.Profile, v View) error {
	page, err := template.New("page").Funcs(template.FuncMap{"dur": dur[int64], "percent": percent, "estimated": estimated, "between": between, "local": local, "count": func(n any) string { return countAny(n) }}).Parse(pageHTML)
	if err != nil {
		return err
	}
	h := &htmlPage{P: v.Of(p), view: v, Program: p.Program, Parallelism: ratio(p.Busy, p.NPTSum), Hints: hints(p), Least: percent(1, int64(1/htmlLeast))}
	if h.Program == "" {
		h.Program = "program"
	}
	if v.narrow() {
		h.Missing = append(h.Missing, v.String()+" is shown below; sums, and what to change, are of the whole run")
	}
	h.Missing = append(h.Missing, p.Notes...)
	for _, l := range p.Losses.List() {
		h.Missing = append(h.Missing, fmt.Sprintf("%s %s", count(l.Count), l.What))
	}
	for i, ns := range p.Parallelism {
		h.Busy = append(h.Busy, htmlBusy{i, dur(ns), percent(ns, p.Wall), width(ns, p.Wall)})
	}
	h.Plain = plainOnly(p)
	h.charts()
	h.lines()
	h.objects()
	h.flame()
	return page.Execute(w, h)
}

// localFrame is the local name of a frame, which may be a go statement.
func localFrame(name string) string {
	if fn, ok := strings.CutPrefix(name, "go "); ok {
		return "go " + local(fn)
	}
	return local(name)
}

// between is an interval in words.
func between(i *profile.Interval) string {
	if i == nil {
		return ""
	}
	return dur(i.Low) + " to " + dur(i.High) + " with 95 % confidence"
}

func countAny(n any) string {
	switch n := n.(type) {
	case uint64:
		return count(n)
	case int64:
		return count(n)
	}
	return fmt.Sprint(n)
}

type htmlPage struct {
	view        View
	P           *profile.Profile
	Program     string
	Parallelism float64
	Missing     []string
	Hints       []string
	Plain       string // what helps where nothing stands out
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
func width(part, whole int64) float64 { return math.Round(1e4*100*ratio(part, whole)) / 1e4 }

func place(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(file), line)
}

func (h *htmlPage) lines() {
	for i := range h.P.Entries {
		e := &h.P.Entries[i]
		if ratio(e.NPT, h.P.Wall) < htmlLeast && ratio(e.Blame, h.P.Wall) < htmlLeast {
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
		}{{"busy", e.Busy}, {"spin", e.Spin}, {"ready", e.Ready}, {"blocked", e.Blocked}, {"syscall", e.Syscall}}
		all := e.Busy + e.Spin + e.Ready + e.Blocked + e.Syscall
		var states []string
		for _, t := range times {
			if t.ns > 0 {
				l.Parts = append(l.Parts, htmlPart{t.class, width(t.ns, all)})
				states = append(states, t.class+" "+dur(t.ns))
			}
		}
		for _, w := range e.BlockedOn[:min(3, len(e.BlockedOn))] {
			states = append(states, fmt.Sprintf("itself for %s (%s) %s", w.Object, w.Reason, dur(w.Time)))
		}
		l.States = strings.Join(states, ", ")
		h.Lines = append(h.Lines, l)
	}
}

func (h *htmlPage) objects() {
	for i := range h.P.Objects {
		o := &h.P.Objects[i]
		if o.Wait == 0 && o.Hold == 0 || len(h.Objects) == 3*top {
			continue
		}
		x := htmlObject{Object: o, Place: place(o.File, o.Line), Mean: fmt.Sprintf("%.2f", meanQueue(h.P, o))}
		var queue []string
		for _, ns := range o.Waiting[min(1, len(o.Waiting)):] {
			queue = append(queue, dur(ns))
		}
		if len(queue) > 6 {
			queue = append(queue[:6], "...")
		}
		x.Queue = strings.Join(queue, ", ")
		if len(o.Blamed) > 0 {
			x.Blamed = fmt.Sprintf("%s %s", local(o.Blamed[0].Reason), percent(o.Blamed[0].Time, o.Wait))
		}
		h.Objects = append(h.Objects, x)
	}
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
			Title: fmt.Sprintf("%s: npt %s (%s), self %s, busy %s, blocked %s", n.name, dur(n.npt), percent(n.npt, h.P.Wall), dur(n.self), dur(n.busy), dur(n.blocked)),
			Left:  width(left, h.P.Wall), Width: width(n.npt, h.P.Wall), Top: flameRow * float64(depth)})
		for _, c := range n.sorted() {
			if ratio(c.npt, h.P.Wall) >= flameLeast {
				add(c, left, depth+1)
				left += c.npt
			}
		}
	}
	add(root, 0, 0)
	h.FlameHeight = flameRow * float64(deepest+1)
}
