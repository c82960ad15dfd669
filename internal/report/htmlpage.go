package report

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// From which share of the run time on a line, or a box, is on the HTML page.
const (
	htmlLeast  = 0.001
	flameLeast = 0.001
	flameRow   = 1.5 // em
)

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
		l := htmlLine{Entry: e, Figure1: figure1(h.P, e), Place: place(e.File, e.Line),
			SelfWidth: width(e.SelfNPT, h.P.Wall), BelowWidth: width(e.NPT-e.SelfNPT, h.P.Wall)}
		times := []struct {
			class string
			ns    int64
		}{{"busy", e.Busy}, {"spin", e.Spin}, {"ready", e.Ready}, {"blocked", e.Blocked}, {"syscall", e.Syscall},
			{"off", e.Off}}
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
			Title: fmt.Sprintf("%s: npt %s (%s), self %s, busy %s, blocked %s", n.name, measure.Time(n.npt),
				measure.Percent(n.npt, h.P.Wall), measure.Time(n.self), measure.Time(n.busy), measure.Time(n.blocked)),
			Left: width(left, h.P.Wall), Width: width(n.npt, h.P.Wall), Top: flameRow * float64(depth)})
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
