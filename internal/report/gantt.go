package report

import (
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// gantt are the states of goroutines over time, with the path through them: VPPB's second graph.
// Times are in ticks, parts of the run, so that the page stays small. Events that are closer
// together than the resolution are drawn as one.
type gantt struct {
	NS      int64       `json:"ns"` // of the run
	Lanes   []*lane     `json:"lanes"`
	Left    int         `json:"left"`  // goroutines without a lane
	Names   []ganttName `json:"names"` // of procedures, waits and objects
	Path    [][4]int64  `json:"path"`  // from and to in ns, lane (-1: none), name
	Shorter int         `json:"shorter"`
	Ops     []string    `json:"ops"`

	index map[string]int
}

type ganttName struct {
	Name  string `json:"name"`
	Where string `json:"where,omitempty"`
	Wait  bool   `json:"wait,omitempty"`
}

// lane is a goroutine's.
type lane struct {
	Name string `json:"name"`
	Segs []int  `json:"segs"` // from, to, kind, and so on
	Ops  []int  `json:"ops"`  // time, kind, name of the object, and so on

	g    int
	work int64
}

// Kinds of segments.
const (
	segRun = iota
	segReady
	segDelay // timers, the network, system calls
)

const (
	ticks     = 1_000_000
	mostLanes = 100
	mostSegs  = 100_000
	mostOps   = 30_000
	mostPath  = 20_000
	finest    = 20 // ticks between what is drawn apart; coarser if there is too much
)

// newGantt draws the run as it was, or one that was computed.
func newGantt(p *steps.Program, r *critpath.Result) *gantt {
	f := &gantt{NS: max(r.T, 1), index: map[string]int{}}
	for op := range steps.NumOps {
		f.Ops = append(f.Ops, op.String())
	}
	lanes := f.lanes(p, r)
	for res := finest; ; res *= 4 {
		segs, ops := 0, 0
		for _, l := range f.Lanes {
			l.Segs, l.Ops = nil, nil
			f.fill(p, r, l, res)
			segs, ops = segs+len(l.Segs)/3, ops+len(l.Ops)/3
		}
		if segs <= mostSegs && ops <= mostOps || res > ticks {
			break
		}
	}
	pieces := r.Path
	if len(pieces) > mostPath {
		byLength := slices.Clone(pieces)
		slices.SortStableFunc(byLength, func(a, b critpath.Piece) int {
			return int(min(max(b.To-b.From-(a.To-a.From),
				-1), 1))
		})
		f.Shorter, pieces = len(pieces)-mostPath, byLength[:mostPath]
		slices.SortFunc(pieces, func(a, b critpath.Piece) int { return int(min(max(a.From-b.From, -1), 1)) })
	}
	where := places(r)
	for _, x := range pieces {
		at, ok := lanes[x.G]
		if !ok {
			at = -1
		}
		name := ganttName{measure.Visible(x.Name), where[x.Name], x.Kind == critpath.KindWait}
		f.Path = append(f.Path, [4]int64{x.From, x.To, int64(at), int64(f.name(name))})
	}
	return f
}

// places are where procedures stand.
func places(r *critpath.Result) map[string]string {
	where := map[string]string{}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == critpath.KindProc && e.File != "" {
			where[e.Name] = fmt.Sprintf("%s:%d", e.File, e.Line)
		}
	}
	return where
}

// lanes chooses goroutines: those that the path goes through in the order in which it does, then
// those with most work.
func (f *gantt) lanes(p *steps.Program, r *critpath.Result) map[trace.GoID]int {
	byID := map[trace.GoID]*lane{}
	var all []*lane
	for g := range p.Gs {
		x := &p.Gs[g]
		l := &lane{g: g, Name: fmt.Sprintf("%d %s", x.ID, measure.Visible(started(p, x)))}
		for id := x.First; id != 0; id = p.Step(id).Next {
			l.work += p.Step(id).Work
		}
		byID[x.ID] = l
		all = append(all, l)
	}
	at := map[trace.GoID]int{}
	add := func(l *lane) {
		id := p.Gs[l.g].ID
		if _, has := at[id]; !has && len(f.Lanes) < mostLanes {
			at[id] = len(f.Lanes)
			f.Lanes = append(f.Lanes, l)
		}
	}
	for _, x := range r.Path {
		if l := byID[x.G]; l != nil {
			add(l)
		}
	}
	slices.SortStableFunc(all, func(a, b *lane) int { return int(min(max(b.work-a.work, -1), 1)) })
	for _, l := range all {
		if l.work > 0 {
			add(l)
		}
	}
	f.Left = len(all) - len(f.Lanes)
	return at
}

// started is the function that a goroutine was started for.
func started(p *steps.Program, g *steps.Goroutine) string {
	group := p.R.Contexts.Node(g.Context).Group
	if group == replay.NoGroup {
		return ""
	}
	return p.R.Groups.Origin(group).Name
}

// fill draws what a goroutine did, in the recorded run or in the computed one.
func (f *gantt) fill(p *steps.Program, r *critpath.Result, l *lane, res int) {
	if r.Computed {
		r.Run.Pieces(steps.G(l.g), func(from, to float64, delay bool) {
			kind := segRun
			if delay {
				kind = segDelay
			}
			l.seg(f.tick(int64(from)), f.tick(int64(to)), kind, res)
		})
		return
	}
	last := -res
	at := p.Gs[l.g].Created
	for id := p.Gs[l.g].First; id != 0; id = p.Step(id).Next {
		s := p.Step(id)
		worked := at + trace.Time(s.Work)
		l.seg(f.tick(int64(at)), f.tick(int64(worked)), segRun, res)
		switch {
		case s.Kind == steps.Ready && s.Cause() == steps.WakeUp:
			l.seg(f.tick(int64(worked)), f.tick(int64(s.At)), segReady, res)
		case s.Kind == steps.Delay && s.Cause() != steps.Unknown:
			l.seg(f.tick(int64(worked)), f.tick(int64(s.At)), segDelay, res)
		}
		if t := f.tick(int64(s.At)); s.Op != steps.NoOp && s.Point() != trace.NoPoint && t-last >= res {
			last = t
			where := p.R.T.Points[s.Point()]
			l.Ops = append(l.Ops, t, int(s.Op), f.name(ganttName{Name: measure.Visible(where.Name),
				Where: fmt.Sprintf("%s:%d", where.File, where.Line)}))
		}
		at = s.At
	}
}

// seg adds a segment, or makes the last one of its kind longer if it is close.
func (l *lane) seg(from, to, kind, res int) {
	if to <= from {
		return
	}
	n := len(l.Segs)
	if n > 0 && l.Segs[n-1] == kind && from-l.Segs[n-2] < res {
		l.Segs[n-2] = to
		return
	}
	if to-from < res/4 && n > 0 && from-l.Segs[n-2] < res {
		return // too short to be seen next to another one
	}
	l.Segs = append(l.Segs, from, to, kind)
}

func (f *gantt) tick(ns int64) int {
	return int(float64(min(max(ns, 0), f.NS)) / float64(f.NS) * ticks)
}

func (f *gantt) name(n ganttName) int {
	key := n.Name + "\x00" + n.Where
	i, ok := f.index[key]
	if !ok {
		i = len(f.Names)
		f.index[key] = i
		f.Names = append(f.Names, n)
	}
	return i
}
