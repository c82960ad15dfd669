package profile

import (
	"cmp"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// IdleFor is time in which nothing ran, by the reason for which the goroutine that ended it had
// waited. No goroutine can have been later than that one: others that waited meanwhile, however
// long, are not why nothing ran.
type IdleFor struct {
	Reason   string `json:"reason"`           // the runtime's, or "system call", or StartedByTimer
	Object   string `json:"object,omitempty"` // that was waited for
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"` // of the wait, in a package with probes if it has such a caller
	EndedBy  string `json:"ended_by,omitempty"`
	Time     int64  `json:"time_ns"`
}

// StartedByTimer is the reason where the goroutine that ended an idle time had waited for nothing:
// a timer called a function in it.
const StartedByTimer = "timer"

// idleKey is the object and reason for which the goroutine that ends an idle time has waited.
type idleKey struct {
	wait waitKey
	by   ender

	call  bool // it was in a system call
	place callPlace

	timer   bool           // started it
	started replay.GroupID // then
}

// callPlace is where a sample found a goroutine that was in a system call: events of these have no
// stack, and only some procedures' entries have events. The zero value: none did.
type callPlace struct {
	proc trace.PointID
	line int
}

// idled sums idle times.
type idled map[idleKey]int64

// placed returns the sums with those of calls that no sample found divided as the others from the
// same procedure are.
func (d idled) placed() map[idleKey]float64 {
	known, all := map[idleKey]int64{}, map[idleKey]float64{}
	anywhere := func(k idleKey) idleKey {
		k.place = callPlace{}
		return k
	}
	for k, ns := range d {
		if k.place.line > 0 {
			known[anywhere(k)] += ns
		}
	}
	for k, ns := range d {
		switch sum := known[anywhere(k)]; {
		case k.place.line > 0:
			all[k] += float64(ns) + float64(d[anywhere(k)])*measure.Ratio(ns, sum)
		case sum == 0:
			all[k] = float64(ns)
		}
	}
	return all
}

// list returns the sums, longest first.
func (d idled) list(o *objects) (list []IdleFor) {
	sums := map[IdleFor]int64{}
	for k, ns := range d.placed() {
		x := IdleFor{Reason: "system call"}
		switch {
		case k.timer:
			of := o.r.Groups.Origin(k.started)
			x = IdleFor{Reason: StartedByTimer, Function: of.Name, File: of.File, Line: of.Line, EndedBy: EndedByTimer}
		case k.call:
			if k.place.line > 0 {
				p := &o.t.Points[k.place.proc]
				x.Function, x.File, x.Line = p.Name, p.File, k.place.line
			} else if k.wait.in >= 0 {
				p := &o.t.Points[k.wait.in]
				x.Function, x.File, x.Line = p.Name, p.File, p.Line
			}
		default:
			f := o.r.Names.Own(k.wait.stack)
			x = IdleFor{Reason: o.t.Reason(k.wait.reason), Object: o.nameOf(k.wait), Function: f.Function, File: f.File,
				Line: f.Line, EndedBy: o.whoEnded(k.by)}
		}
		sums[x] += int64(ns)
	}
	for x, ns := range sums {
		x.Time = ns
		list = append(list, x)
	}
	slices.SortFunc(list, func(x, y IdleFor) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Line, y.Line),
			cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Object, y.Object), cmp.Compare(x.EndedBy, y.EndedBy),
			cmp.Compare(x.File, y.File))
	})
	return list
}

// idleMost is the share of an object's waits that must be idle by design for the object to be so.
const idleMost = 0.9

// markIdle marks the objects that are.
func markIdle(list []Object, wall int64) {
	for i := range list {
		list[i].Idle = list[i].idles(wall)
	}
}

// idles reports whether goroutines wait for an object by design: for the time, for a connection or
// a signal, or until the run or a large part of it is over. Nobody is slower because of such waits.
func (o *Object) idles(wall int64) bool {
	if o.Lock() || o.Wait == 0 {
		return false
	}
	if 5*o.Wait >= 4*wall*o.Waits {
		return true // each wait is most of the run
	}
	var idle int64
	for _, w := range o.EndedBy {
		if w.Reason == EndedByTimer || w.Reason == endedByNothing {
			idle += w.Time
		}
	}
	for _, w := range o.WaitedIn {
		if accepts(w.Reason) || strings.HasPrefix(w.Reason, "os/signal.") {
			idle += w.Time
		}
	}
	return float64(idle) >= idleMost*float64(o.Wait)
}

// Serves reports whether goroutines wait for connections: then what waits for the network may wait
// for requests.
func (o *Object) Serves() bool {
	return slices.ContainsFunc(o.WaitedIn, func(w Wait) bool { return accepts(w.Reason) })
}

func accepts(function string) bool {
	return strings.HasSuffix(function, ".accept") || strings.HasSuffix(function, ".Accept")
}
