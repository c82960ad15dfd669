package prometheus

import (
	"strconv"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
)

// others is the name of all objects, or procedures, that have no series of their own.
const others = "[others]"

func number(n int64) value  { return value{n: n} }
func seconds(n int64) value { return value{n: n, time: true} }

// families are all metrics of a profile.
func families(p *profile.Profile) []*family {
	return append(append(run(p), objects(p.Objects)...), procedures(p.Entries)...)
}

func run(p *profile.Profile) []*family {
	one := func(name, kind, help string, v value) *family {
		f := &family{name: name, kind: kind, help: help}
		f.add(v)
		return f
	}
	info := &family{name: "qinst_info", kind: "gauge", help: "The program.", labels: []string{"program"}}
	info.add(number(1), p.Program)
	busy := &family{name: "qinst_processors_busy_seconds_total", kind: "counter", labels: []string{"processors"},
		help: "Time of the run in which a number of processors was busy; 256 are 256 or more."}
	for n, ns := range p.Parallelism {
		busy.add(seconds(ns), strconv.Itoa(min(n, mostProcessors)))
	}
	lost := &family{name: "qinst_losses_total", kind: "counter", labels: []string{"what"},
		help: "What the trace lacks, or had to be repaired."}
	for _, l := range p.Losses.List() {
		lost.add(number(l.Count), l.What)
	}
	return []*family{info,
		one("qinst_run_seconds", "gauge", "Length of the traced time.", seconds(p.Wall)),
		one("qinst_idle_seconds_total", "counter", "Time of the run in which no processor was busy.", seconds(p.Idle)),
		one("qinst_gomaxprocs", "gauge", "GOMAXPROCS, as it was for most of the run.", number(int64(p.Procs))),
		one("qinst_goroutines_total", "counter", "Goroutines that were created.", number(p.Goroutines)), busy, lost}
}

// column is a metric of objects, or of procedures.
type column[T any] struct {
	name, kind, help string
	of               func(x *T) value
	alone            bool // those of several do not add up
}

var ofObjects = []column[profile.Object]{
	{"waits_total", "counter", "Waits of goroutines for the object.",
		func(o *profile.Object) value { return number(o.Waits) }, false},
	{"wait_seconds_total", "counter", "Time that goroutines waited for the object, all together.",
		func(o *profile.Object) value { return seconds(o.Wait) }, false},
	{"queued_seconds_total", "counter", "Time in which one goroutine or more waited for the object.",
		func(o *profile.Object) value { return seconds(queued(o)) }, false},
	{"queue_max", "gauge", "Most goroutines that waited for the object at a time, or were in it.",
		func(o *profile.Object) value { return number(int64(o.Queue)) }, true},
	{"holds_total", "counter", "Holds of the lock.",
		func(o *profile.Object) value { return ofLock(o, number(o.Holds)) }, false},
	{"hold_seconds_total", "counter", "Time that goroutines held the lock; its share of the run is the lock's occupancy.",
		func(o *profile.Object) value { return ofLock(o, seconds(o.Hold)) }, false},
}

// queued is the time with a queue.
func queued(o *profile.Object) (ns int64) {
	for n, at := range o.Waiting {
		if n > 0 {
			ns += at
		}
	}
	return ns
}

// ofLock is a value that only locks have.
func ofLock(o *profile.Object, v value) value {
	v.none = o.Kind != replay.KindLock
	return v
}

func objects(list []profile.Object) []*family {
	return ofEach("qinst_object_", "The first 50 objects by waits.", []string{"object", "kind"}, list, ofObjects,
		func(o *profile.Object) []string { return []string{o.Name, o.Kind} })
}

var ofProcedures = []column[profile.Entry]{
	{"calls_total", "counter", "Calls of the procedure.",
		func(e *profile.Entry) value { return number(int64(e.Calls)) }, false},
	{"self_npt_seconds_total", "counter", "Normalized processor time of its own: a share of the run.",
		func(e *profile.Entry) value { return seconds(e.SelfNPT) }, false},
	{"npt_seconds_total", "counter", "Normalized processor time on its behalf, with all that it called and started.",
		func(e *profile.Entry) value { return seconds(e.NPT) }, true},
	{"self_busy_seconds_total", "counter", "Processor time of its own.",
		func(e *profile.Entry) value { return seconds(e.SelfBusy) }, false},
	{"self_blocked_seconds_total", "counter", "Time that goroutines waited in it.",
		func(e *profile.Entry) value { return seconds(e.SelfBlocked) }, false},
	{"self_ready_seconds_total", "counter", "Time that goroutines in it were ready to run and had no processor.",
		func(e *profile.Entry) value { return seconds(e.SelfReady) }, false},
}

func procedures(entries []profile.Entry) []*family {
	var list []profile.Entry
	for i := range entries {
		if entries[i].Kind == profile.KindProc {
			list = append(list, entries[i])
		}
	}
	return ofEach("qinst_procedure_", "The first 50 procedures by npt.", []string{"procedure", "place"}, list,
		ofProcedures, func(e *profile.Entry) []string {
			if e.File == "" {
				return []string{e.Name, ""}
			}
			return []string{e.Name, e.File + ":" + strconv.Itoa(e.Line)}
		})
}

// ofEach are the metrics of a list: of each of the first, and of all others together.
func ofEach[T any](prefix, help string, labels []string, list []T, columns []column[T],
	names func(*T) []string) (all []*family) {
	rest := append([]string{others}, make([]string, len(labels)-1)...)
	for _, c := range columns {
		f := &family{name: prefix + c.name, kind: c.kind, help: c.help + " " + help, labels: labels}
		for i := range list {
			switch x := &list[i]; {
			case i < first:
				f.add(c.of(x), names(x)...)
			case !c.alone:
				f.add(c.of(x), rest...)
			}
		}
		all = append(all, f)
	}
	return all
}
