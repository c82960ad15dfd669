package profile

import (
	"math"
	"slices"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// What the runtime and the tool do in the program's time has lines of its own: they are
// procedures that nobody wrote.
const (
	GCWorker = "[gc worker]"
	GCAssist = "[gc assist]" // on behalf of who allocates
	StopTheW = "[stop the world]"
	Probes   = "[probes]" // what was recorded, as counted, times what it costs where that was measured
)

// pseudo are the procedures that are behind those of the program.
type pseudo struct{ worker, assist, stop, probes int32 }

// withPseudo is a trace with them.
func withPseudo(t *trace.Trace) (*trace.Trace, pseudo) {
	own := *t
	n := int32(len(t.Points))
	own.Points = slices.Clip(t.Points)
	for i, name := range []string{GCWorker, GCAssist, StopTheW, Probes} {
		own.Points = append(own.Points, trace.Point{Kind: spec.PointProc, Name: name, Owner: n + int32(i), Leader: n + int32(i)})
	}
	return &own, pseudo{n, n + 1, n + 2, n + 3}
}

// GC is what the garbage collector did, in ns.
type GC struct {
	Cycles  int64 `json:"cycles"`
	Marking int64 `json:"marking_ns"` // of the run, while it marked
	Workers int64 `json:"workers_ns"` // processor time
	Assists int64 `json:"assists_ns"` // likewise, of the program's goroutines
	Stops   int64 `json:"stops"`
	Stopped int64 `json:"stopped_ns"` // of the run, while the world stopped or stood still
}

// collector follows it.
type collector struct {
	GC
	markSince, stopSince int64 // -1: it does not
}

// mark takes in a note of the runtime.
func (b *builder) mark(e *trace.Event) {
	c := &b.gc
	switch e.Arg {
	case spec.EvGCBegin:
		c.Cycles++
		c.markSince = e.Time
		b.line.marking.set(e.Time, 1)
	case spec.EvGCEnd:
		if c.markSince >= 0 {
			c.Marking += e.Time - c.markSince
		}
		c.markSince = -1
		b.line.marking.set(e.Time, 0)
	case spec.EvAssistBegin:
		b.enterPseudo(e.Slot, e.Time, b.pseudo.assist)
	case spec.EvAssistEnd:
		b.leavePseudo(e.Slot, e.Time, b.pseudo.assist)
	case spec.EvSTWBegin:
		c.Stops++
		c.stopSince = e.Time
		b.enterPseudo(e.Slot, e.Time, b.pseudo.stop)
	case spec.EvSTWEnd:
		if c.stopSince >= 0 {
			c.Stopped += e.Time - c.stopSince
		}
		c.stopSince = -1
		b.leavePseudo(e.Slot, e.Time, b.pseudo.stop)
	}
}

func (b *builder) enterPseudo(slot int32, now int64, proc int32) {
	if slot == trace.NoSlot {
		return
	}
	g := &b.gs[slot]
	b.settle(g, now)
	b.calls[proc]++
	g.frames = append(g.frames, frame{g.place, g.spins})
	g.place = b.into(g.place, proc)
}

// leavePseudo leaves it if it is the innermost one; its end may be lost.
func (b *builder) leavePseudo(slot int32, now int64, proc int32) {
	if slot != trace.NoSlot && b.at(&b.gs[slot]).top == proc && len(b.gs[slot].frames) > 0 {
		b.leave(slot, now)
	}
}

// isPseudo reports whether a procedure is one that nobody wrote.
func (b *builder) isPseudo(proc int32) bool { return proc >= b.pseudo.worker }

// costs are what a probe costs, in ns, where the program measured it.
type costs struct{ event, count, call float64 }

// probeShare is what an event costs beside the reading of the clock: in a loop that does
// nothing else. What it costs more in programs, whose caches it uses, nobody has counted:
// a plain run tells.
const probeShare = 1.1

func costsOf(t *trace.Trace) costs {
	c := costs{event: probeShare * float64(t.Int("clock_cost_ps")) / 1000, count: float64(t.Int("count_cost_ps")) / 1000}
	if c.call = c.count; t.Int("sample_ns") > 0 {
		c.call /= pushed
	}
	return c
}

// pushed is how much more a hit costs that is put on the profile stack; a call's counter is not.
const pushed = 1.3

// takeProbes takes the cost of events out of the places in which they were written: half
// of it is in front of an event's time, half behind.
func (b *builder) takeProbes() {
	if b.costs.event == 0 {
		return
	}
	for i := range int32(len(b.places.list)) {
		if halves := b.places.list[i].halves; halves > 0 {
			b.calls[b.pseudo.probes] += uint64(halves+1) / 2
			b.take(i, int64(math.Round(float64(halves)*b.costs.event/2)))
		}
	}
}

// inCaller is the part of a counted hit's cost that is in the caller: all of the entry's
// probe, before the procedure stands on the profile stack, and the call's counter.
const inCaller = 0.75

// takeCounts takes the cost of hits that were not traced out of the procedure and those
// that called it. Without samples nobody knows where they are.
func (b *builder) takeCounts() {
	busy, all := map[int32][]int32{}, map[int32]int64{}
	for i := range int32(len(b.places.list)) {
		p := &b.places.list[i]
		proc := p.top
		if p.loop != noProc {
			proc = p.loop
		}
		if ns := p.usage.Busy(); proc != noProc && ns > 0 && b.t.Points[proc].Degraded() > 0 {
			busy[proc] = append(busy[proc], i)
			all[proc] += ns
		}
	}
	for proc := range int32(len(b.t.Points)) {
		pt := &b.t.Points[proc]
		if len(busy[proc]) > 0 {
			b.calls[b.pseudo.probes] += pt.Degraded()
		}
		cost := b.costs.count*float64(pt.Degraded()-min(pt.Timed(), pt.Degraded())) + 2*b.costs.event*float64(pt.Timed())
		for _, i := range busy[proc] {
			share := cost * float64(b.places.list[i].usage.Busy()) / float64(all[proc])
			from := b.places.list[i].from
			b.takeHalf(i, share*(1-inCaller))
			if from != noProc {
				b.takeHalf(from, share*inCaller)
			}
		}
	}
}

// takeCalls takes the cost of call counters out of the procedures in which they are.
func (b *builder) takeCalls() {
	if b.within != nil {
		return // nobody knows how many were there
	}
	hits, busy := map[int32]uint64{}, map[int32]int64{}
	for i := range b.t.Points {
		if p := &b.t.Points[i]; p.Kind == spec.PointCall {
			hits[p.Owner] += p.Counts(int32(i))
		}
	}
	for i := range b.places.list {
		p := &b.places.list[i]
		busy[p.top] += p.usage.Busy()
	}
	for i := range int32(len(b.places.list)) {
		p := &b.places.list[i]
		if ns := p.usage.Busy(); ns > 0 && p.top >= 0 && hits[p.top] > 0 {
			b.takeHalf(i, b.costs.call*float64(hits[p.top])*float64(ns)/float64(busy[p.top]))
		}
	}
	for proc, n := range hits {
		if busy[proc] > 0 {
			b.calls[b.pseudo.probes] += n
		}
	}
}

// takeHalf takes what counts cost, but no more than half of what there is: the cost of a
// hit is known less well than how often it was.
func (b *builder) takeHalf(at int32, ns float64) {
	b.take(at, min(int64(ns), b.places.list[at].usage.Busy()/2))
}

// take takes processor time out of a place, no more than there is, for a line of its own.
func (b *builder) take(at int32, ns int64) {
	p := &b.places.list[at]
	busy := p.usage.Busy()
	if ns = min(ns, busy); ns <= 0 {
		return
	}
	set := b.sets.with(b.sets.with(0, rootMember(RootTool)), b.groups.base+p.group)
	set = b.sets.with(set, b.groups.procMember(b.pseudo.probes))
	tool := b.places.find(where{set: set, top: b.pseudo.probes, inner: b.pseudo.probes, loop: noProc, group: p.group})
	p = &b.places.list[at]
	u := &b.places.list[tool].usage
	for i, n := range shareOut(p.usage.BusyAt, ns, busy) {
		if n != 0 {
			u.busy(i, n)
		}
	}
	if c := p.usage.Crowds[useBusy]; c != nil {
		more := Crowd(shareOut(c[:], ns, busy))
		u.crowd(useBusy, &more)
	}
	area := int64(float64(p.usage.Runnable[useBusy]) * float64(ns) / float64(busy))
	p.usage.Runnable[useBusy] -= area
	u.Runnable[useBusy] += area
}

// shareOut takes ns out of times that add up to all, in proportion, and returns what it
// took from each: together ns.
func shareOut(times []int64, ns, all int64) []int64 {
	list := make([]int64, len(times))
	sum, taken := int64(0), int64(0)
	for i, x := range times {
		sum += x
		list[i] = min(int64(math.Round(float64(ns)*float64(sum)/float64(all)))-taken, x)
		taken += list[i]
		times[i] -= list[i]
	}
	return list
}
