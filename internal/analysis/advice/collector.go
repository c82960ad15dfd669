package advice

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
)

// collector finds a garbage collector that takes a large part of the processor time, and the
// procedures that make the garbage.
func collector(f *Facts) []Item {
	p := f.Profile
	used, of, what := p.CPU.Collector, p.CPU.User+p.CPU.System, "of the processor time"
	if used < 0 { // a part of a run, or an older file: other load may be in both
		used, of, what = p.GC.Workers+p.GC.Assists, p.Busy, "of the busy time"
	}
	taking := int64(0) // what goroutines take to get memory, about
	if p.Memory != nil {
		taking = int64(perByte * float64(p.Memory.Bytes))
	}
	if measure.Ratio(used, of) < collectorShare.value() && (measure.Ratio(used, of) < someCollector.value() ||
		measure.Ratio(used+taking, of) < 1.5*collectorShare.value()) || p.GC.Cycles < 2 {
		return nil
	}
	it := Item{ID: "garbage-collector", Claim: "the garbage collector has much of the processor time", Subject: run,
		Change: LessWork, WhatIf: "gc=off",
		Evidence: []Fact{share("of processor time", measure.Ratio(used, of)), ns("collecting", used),
			count("cycles", p.GC.Cycles)}}
	it.Text = fmt.Sprintf("allocate less%s: the garbage collector took %s %s, in %s cycles", allocating(p, &it),
		measure.Percent(used, of), what, measure.Count(p.GC.Cycles))
	if measure.Ratio(taking, of) >= someCollector.value() {
		it.WhatIf, it.AtMost = "", int64(measure.Ratio(min(used+taking, of), of)*float64(f.worked()))
		if float64(it.AtMost) < surelyGains*float64(p.Wall) {
			it.Gain = &Gain{High: it.AtMost} // what the run waits for is something else
		}
		it.Evidence = append(it.Evidence, ns("to get memory, about", taking))
		it.Text += fmt.Sprintf(", and to get memory took %s to %s", measure.Percent(taking/6, of),
			measure.Percent(min(2*taking, of), of))
	}
	if p.Timeline != nil && len(p.Timeline.Heap) > 0 {
		most := int64(0)
		for _, h := range p.Timeline.Heap {
			most = max(most, h.Live)
		}
		it.Evidence = append(it.Evidence, Fact{"heap at most", float64(most), "bytes"})
		if it.Subject == run {
			it.Text += fmt.Sprintf("; the heap had %s at most", measure.Bytes(most))
		}
	}
	if each, room, ok := limited(p); ok {
		it.Change = RaiseGC
		it.Evidence = append(it.Evidence, Fact{"allocated in a cycle", float64(each), "bytes"},
			Fact{"the heap could grow by", float64(room), "bytes"})
		it.Text += fmt.Sprintf(". It runs about every %s, although the heap could grow by %s: a memory limit (GOMEMLIMIT, SetMemoryLimit) is near. Raise it, or keep less data live",
			measure.Bytes(each), measure.Bytes(room))
		return []Item{it}
	}
	it.Text += ". With a larger GOGC or a GOMEMLIMIT it runs less often"
	return []Item{it}
}

// worked is the part of the run in which it waits for no timer, network or system call, in ns.
func (f *Facts) worked() int64 {
	if f.Path == nil || f.Served != "" || f.Path.T == 0 {
		return f.Wall
	}
	works := f.Path.T
	for _, c := range []steps.Cause{steps.Timer, steps.Network, steps.Call} {
		for i := range f.Path.Entries {
			if e := &f.Path.Entries[i]; e.Kind == critpath.KindWait && e.ID == "wait:"+c.String() {
				works -= e.Self
			}
		}
	}
	return int64(measure.Ratio(max(0, works), f.Path.T) * float64(f.Wall))
}

// limited reports whether the collector runs much more often than the heap's goal asks for, as near
// a memory limit: how much is allocated in a cycle, and by how much the heap could grow, in bytes.
func limited(p *profile.Profile) (each, room int64, ok bool) {
	forced := slices.ContainsFunc(p.Objects, func(o profile.Object) bool {
		return o.Kind == waitsForCycle && 2*o.Waits > p.GC.Cycles
	})
	if p.Memory == nil || p.Timeline == nil || p.GC.Cycles < manyCycles || forced {
		return 0, 0, false
	}
	var rooms []int64
	for _, h := range p.Timeline.Heap {
		rooms = append(rooms, h.Goal-h.Live)
	}
	if len(rooms) == 0 {
		return 0, 0, false
	}
	slices.Sort(rooms)
	each, room = p.Memory.Bytes/p.GC.Cycles, rooms[len(rooms)/2]
	return each, room, oftener*each < room
}

const (
	// manyCycles are enough for an average of the memory that is allocated in one.
	manyCycles = 10
	// oftener is how many times as often as its goal asks for the collector runs near a limit, at
	// least. A heap has half of its room on average.
	oftener = 3
)

// forced finds collections that the program asks for, and waits for.
func forced(f *Facts) (out []Item) {
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Kind != waitsForCycle || len(o.WaitedIn) == 0 || measure.Ratio(o.Wait, f.Wall) < forcedShare.value() {
			continue
		}
		s := Subject{Kind: profile.KindProc, Name: o.WaitedIn[0].Reason}
		if e := f.entry(f.waiter(o)); f.written(s.Name) == nil && e != nil {
			s = about(e) // which calls something that does
		} else if e := f.written(s.Name); e != nil {
			s = about(e)
		}
		out = append(out, Item{ID: "forced-collections", Claim: "the program waits for collections that it asks for", Subject: s,
			Change: Release, likely: min(o.Wait, f.Wall), Evidence: []Fact{count("waits", o.Waits), ns("waited", o.Wait),
				count("cycles", f.GC.Cycles)},
			Text: fmt.Sprintf("do not call runtime.GC in %s: on average %.2f goroutines waited there for the end of one of %s collections. Leave them to the runtime, and release resources by a call instead of a finalizer",
				at(&s), measure.Ratio(o.Wait, f.Wall), measure.Count(f.GC.Cycles))})
	}
	return out
}

// stops finds calls that stop the world again and again, where the collector does not.
func stops(f *Facts) (out []Item) {
	if measure.Ratio(f.GC.Stopped, f.Wall) < forcedShare.value() || f.GC.Stops < 10*max(1, f.GC.Cycles) {
		return nil
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		if !stopping[c.Callee] || 2*int64(c.Count) < f.GC.Stops {
			continue
		}
		s := Subject{Kind: profile.KindProc, Name: cmp.Or(c.Via, c.Caller), File: c.File, Line: c.Line}
		if e := f.written(c.Caller); e != nil {
			s.ID = e.ID
		}
		out = append(out, Item{ID: "stops-the-world", Claim: "the program stops the world again and again", Subject: s,
			Change: Batch, likely: f.GC.Stopped,
			Evidence: []Fact{count("stops", f.GC.Stops), ns("stopped", f.GC.Stopped), count("calls", c.Count)},
			Text: fmt.Sprintf("call %s less often in %s, or once for all: it stops all goroutines, which it did %s times; all stops together took %s (%s of the run)",
				c.Callee, at(&s), c.Number().Mark()+measure.Count(c.Count), measure.Time(f.GC.Stopped),
				measure.Percent(f.GC.Stopped, f.Wall))})
	}
	return out
}

// stopping are functions that stop the world.
var stopping = map[string]bool{"runtime.ReadMemStats": true, "runtime.Stack": true, "runtime.GOMAXPROCS": true,
	"runtime/debug.SetGCPercent": true, "runtime/debug.SetMemoryLimit": true, "runtime.GoroutineProfile": true}

// waitsForCycle is the kind of what goroutines wait for in runtime.GC.
const waitsForCycle = "wait for GC cycle"

// perByte is the processor time of getting a byte of memory and clearing it, in ns: a twentieth of
// a ns in large objects, 0.6 in the smallest.
const perByte = 0.3

// allocating names the procedure that takes most memory, and makes it the subject, if its share is
// worth a look.
func allocating(p *profile.Profile, it *Item) string {
	m := p.Memory
	if m == nil || m.Places[0].Share < takenShare.value() || m.Places[0].Name == "" {
		return ""
	}
	t := &m.Places[0]
	it.Subject = Subject{Kind: profile.KindProc, Name: t.Name, File: t.File, Line: t.Line}
	if i := slices.IndexFunc(p.Entries, func(e profile.Entry) bool {
		return e.Kind == profile.KindProc &&
			e.Name == t.Name
	}); i >= 0 {
		it.Subject.ID, it.Subject.Line = p.Entries[i].ID, cmp.Or(t.Line, p.Entries[i].Line)
	}
	it.Evidence = append(it.Evidence, share("allocated there", t.Share),
		share("allocated there, at least", t.Between[0]), share("allocated there, at most", t.Between[1]))
	return fmt.Sprintf(" in %s, which takes %.0f to %.0f%% of all %s", At(t.Name, t.File, it.Subject.Line), 100*t.Between[0],
		100*t.Between[1], measure.Bytes(m.Bytes))
}
