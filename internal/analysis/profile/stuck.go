package profile

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Abandoned is a lock whose holder ended without unlocking it, while others wait for it up to the
// end.
type Abandoned struct {
	Ended   int64  `json:"ended_ns"`       // the holder did, from the beginning of the run
	Taken   string `json:"taken_in"`       // the procedure that took it
	File    string `json:"file,omitempty"` // where it did
	Line    int    `json:"line,omitempty"`
	Holder  string `json:"holder"`     // what goroutine that was
	Waiting int64  `json:"waiting"`    // goroutines that wait for it at the end
	Longest int64  `json:"longest_ns"` // of these, the longest wait
}

// Left are goroutines of one kind that wait at the end in one place, and have for much of the run.
type Left struct {
	Entry string `json:"entry"` // the id of their entry
	Name  string `json:"name"`
	Count int64  `json:"count"`
	First int64  `json:"first_since_ns"` // when the first one of them began to wait, and the last one
	Last  int64  `json:"last_since_ns"`
	For   string `json:"for"`            // the runtime's reason of the wait
	On    string `json:"on,omitempty"`   // the object
	In    string `json:"in,omitempty"`   // the procedure that waits
	File  string `json:"file,omitempty"` // where it does
	Line  int    `json:"line,omitempty"`
}

// leftFor is for what part of the run a goroutine must have waited at its end.
const leftFor = 5

// again is what a goroutine last waited for, if that was a condition.
type again struct {
	addr trace.Address
	ran  int64 // what it had used of processors when the wait ended
}

// inVain is how much of a processor a goroutine uses at most, in ns, that finds out that it has to
// wait again.
const inVain = 20_000

// Endless are goroutines of one kind of which none ended before the run did: they wait at the end,
// or run.
type Endless struct {
	Entry string `json:"entry"` // the id of their entry
	Name  string `json:"name"`
	Count int64  `json:"count"`
	First int64  `json:"first_created_ns"`
	Last  int64  `json:"last_created_ns"`
}

// lives are when goroutines of a kind were created, and how many of them ended.
type lives struct {
	created, ended int64
	first, last    trace.Time
	end            trace.Time // of the one that ended first
}

// endless reports whether none ended in a run, but for its own end, at which a program may stop
// all.
func (x lives) endless(run trace.Time) bool {
	return x.ended == 0 || x.end > x.last && x.end > run-run/atEnd
}

// atEnd is the part of a run that is its end.
const atEnd = 20

// ends notes that one ended.
func (x lives) ends(now trace.Time) lives {
	if x.ended++; x.ended == 1 {
		x.end = now
	}
	return x
}

// begins notes that one was created.
func (x lives) begins(now trace.Time) lives {
	if x.created == 0 {
		x.first = now
	}
	x.created, x.last = x.created+1, now
	return x
}

// endless lists those of which none ended, the most first.
func endless(r *replay.Replay, run trace.Time, by map[replay.GroupID]lives) (list []Endless) {
	for group, x := range by {
		if x.endless(run) && x.created > 1 && group != replay.NoGroup {
			list = append(list, Endless{goroutineID(r, group), r.Groups.Origin(group).Name, x.created, int64(x.first),
				int64(x.last)})
		}
	}
	slices.SortFunc(list, func(a, b Endless) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.First, b.First))
	})
	return list
}

// leftKey is of whom Left are.
type leftKey struct {
	group  replay.GroupID
	stack  trace.StackID
	reason trace.ReasonID
}

// left are the goroutines that wait at the end, by kind.
type left struct {
	r  *replay.Replay
	by map[leftKey]*Left
}

// note notes a goroutine that waits at the end.
func (x *left) note(g *replay.G, end trace.Time) {
	w := g.Wait
	reason := x.r.T.Reason(w.Reason)
	k := leftKey{x.r.Contexts.Node(g.Context).Group, w.Stack, w.Reason}
	if g.System || k.group == replay.NoGroup || reason == "IO wait" || reason == "sleep" ||
		x.r.Names.OfRuntime(w.Stack, w.Reason) || leftFor*(end-w.Since) < end {
		return
	}
	l := x.by[k]
	if l == nil {
		own := x.r.Names.Own(w.Stack)
		l = &Left{Entry: goroutineID(x.r, k.group), Name: x.r.Groups.Origin(k.group).Name, For: reason,
			On: x.r.NameAt(w.Stack, w.Reason, w.Object), In: own.Function, File: own.File, Line: own.Line,
			First: int64(w.Since)}
		x.by[k] = l
	}
	l.Count++
	l.First, l.Last = min(l.First, int64(w.Since)), max(l.Last, int64(w.Since))
}

// list lists them, the most first.
func (x *left) list() (list []Left) {
	for _, l := range x.by {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(x, y Left) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Entry, y.Entry), cmp.Compare(x.File, y.File),
			cmp.Compare(x.Line, y.Line), cmp.Compare(x.On, y.On), cmp.Compare(x.First, y.First))
	})
	return list
}

// goroutineID is the id of the entry of a group of goroutines.
func goroutineID(r *replay.Replay, id replay.GroupID) string {
	g, creator := r.Groups.Group(id), ""
	if g.Named {
		return "name:" + g.Func
	}
	if g.Creator != trace.NoPoint {
		creator = r.T.Points[g.Creator].Name
	}
	return "go:" + g.Func + "<" + creator
}

// abandonedBy is a lock that a goroutine holds at its end.
func abandonedBy(r *replay.Replay, g *replay.G, h replay.Held, now trace.Time) *Abandoned {
	at := takenAt(r, h)
	d := &Abandoned{Ended: int64(now), Taken: at.In, File: at.File, Line: at.Line}
	if group := r.Contexts.Node(g.Context).Group; group != replay.NoGroup {
		d.Holder = r.Groups.Origin(group).Name
	}
	return d
}

// waits notes that a goroutine waits for the lock at the end.
func (d *Abandoned) waits(ns int64) {
	if d != nil {
		d.Waiting++
		d.Longest = max(d.Longest, ns)
	}
}

// condition is the runtime's reason of waits for one.
const condition = "sync.Cond.Wait"
