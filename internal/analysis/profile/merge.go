package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"qinst.dev/internal/trace"
)

// Merge makes one profile of several: of the runs of one program, or of the programs of one
// system. Times and calls add up. Procedures, groups of goroutines and objects are the same if
// their ids are. The runs are taken as consecutive: the wall time is the sum of theirs.
func Merge(list []*Profile) *Profile {
	if len(list) == 1 {
		return list[0]
	}
	sum := &Profile{Version: Version, Program: list[0].Program, CPU: CPU{Known: true}}
	m := merger{entries: map[[2]string]int{}, objects: map[string]int{}, calls: map[Call]int{}}
	for _, p := range list {
		if p.Program != sum.Program {
			sum.Program = ""
		}
		sum.addTotals(p)
		m.add(sum, p)
		sum.parts = append(sum.parts, p.Parts()...)
	}
	if sum.Sampling != nil {
		sum.Notes = append(sum.Notes, sum.Sampling.note())
	}
	if note := burstsNote(sum.parts); note != "" {
		sum.Notes = append(sum.Notes, note)
	}
	sum.Notes = append([]string{fmt.Sprintf("these are %d traces, one behind the other: times and calls are their sums",
		len(list))}, sum.Notes...)
	sortEntries(sum.Entries)
	sortObjects(sum.Objects)
	slices.SortStableFunc(sum.BlockedBy, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Reason, y.Reason))
	})
	sortCalls(sum.Calls)
	return sum
}

// Parts are the profiles that a profile is made of: itself, if it is of one trace.
func (p *Profile) Parts() []*Profile {
	if p.built != nil {
		return []*Profile{p}
	}
	return p.parts
}

func (p *Profile) addTotals(q *Profile) {
	if wall := float64(p.Wall + q.Wall); wall > 0 {
		p.Effective = thousandths((p.Effective*float64(p.Wall) + q.Effective*float64(q.Wall)) / wall)
		p.Nominal = thousandths((p.Nominal*float64(p.Wall) + q.Nominal*float64(q.Wall)) / wall)
	}
	for _, x := range []struct {
		to   *int64
		more int64
	}{{&p.Ran, q.Ran}, {&p.Wall, q.Wall}, {&p.Busy, q.Busy}, {&p.Spin, q.Spin}, {&p.Searched, q.Searched},
		{&p.Idle, q.Idle}, {&p.IdleOff, q.IdleOff}, {&p.IdleReady, q.IdleReady}, {&p.IdleAtEnd, q.IdleAtEnd},
		{&p.NPTSum, q.NPTSum}, {&p.Alone, q.Alone}, {&p.Events, q.Events}, {&p.Goroutines, q.Goroutines},
		{&p.Lost, q.Lost}, {&p.OffCPU, q.OffCPU},
		{&p.CPU.User, q.CPU.User}, {&p.CPU.System, q.CPU.System}, {&p.CPU.Writer, q.CPU.Writer},
		{&p.CPU.Beside, q.CPU.Beside}, {&p.CPU.Waited, q.CPU.Waited},
		{&p.Tool.FlushRuns, q.Tool.FlushRuns}, {&p.Tool.FlushWall, q.Tool.FlushWall},
		{&p.Tool.FlushCPU, q.Tool.FlushCPU},
		{&p.Tool.FlushBytes, q.Tool.FlushBytes}, {&p.Tool.Traced, q.Tool.Traced}, {&p.Tool.Probes, q.Tool.Probes},
		{&p.Tool.ProbesNPT, q.Tool.ProbesNPT},
		{&p.GC.Cycles, q.GC.Cycles}, {&p.GC.Marking, q.GC.Marking}, {&p.GC.Workers, q.GC.Workers},
		{&p.GC.Assists, q.GC.Assists},
		{&p.GC.Stops, q.GC.Stops}, {&p.GC.Stopped, q.GC.Stopped}} {
		*x.to += x.more
	}
	p.Procs, p.Degraded, p.Stackless = max(p.Procs, q.Procs), p.Degraded+q.Degraded, p.Stackless+q.Stackless
	p.Off = p.Off.plus(q.Off)
	if q.OffCPUs != nil {
		sum := *q.OffCPUs
		if p.OffCPUs != nil {
			sum.Low, sum.High = sum.Low+p.OffCPUs.Low, sum.High+p.OffCPUs.High
		}
		p.OffCPUs = &sum
	}
	p.CPU.Known = p.CPU.Known && q.CPU.Known
	if p.CPU.Collector += q.CPU.Collector; min(p.CPU.Collector, q.CPU.Collector) < 0 {
		p.CPU.Collector = -1
	}
	p.Memory = p.Memory.with(q.Memory)
	p.Tool.Cost.add(&q.Tool.Cost)
	p.Tool.EventCost = max(p.Tool.EventCost, q.Tool.EventCost)
	p.Parallelism = addTo(p.Parallelism, q.Parallelism)
	p.Losses.Add(&q.Losses)
	for _, n := range q.Notes {
		if !slices.Contains(p.Notes, n) && (q.Sampling == nil || n != q.Sampling.note()) && n != burstsNote(q.Parts()) {
			p.Notes = append(p.Notes, n)
		}
	}
	if s := q.Sampling; s != nil {
		if p.Sampling == nil {
			p.Sampling = &Sampling{Gap: s.Gap}
		}
		p.Sampling.Looks += s.Looks
		p.Sampling.Samples += s.Samples
		p.Sampling.Texts += s.Texts
	}
}

// addTo adds ys to xs, which may become longer.
func addTo(xs, ys []int64) []int64 {
	for i, y := range ys {
		for i >= len(xs) {
			xs = append(xs, 0)
		}
		xs[i] += y
	}
	return xs
}

type merger struct {
	entries map[[2]string]int
	objects map[string]int
	calls   map[Call]int
}

func (m *merger) add(sum, p *Profile) {
	for i := range p.Entries {
		e := &p.Entries[i]
		key := [2]string{e.Kind, e.ID}
		k, ok := m.entries[key]
		if !ok {
			k = len(sum.Entries)
			m.entries[key] = k
			sum.Entries = append(sum.Entries, Entry{ID: e.ID, Kind: e.Kind, Name: e.Name, File: e.File, Line: e.Line,
				Creator: e.Creator, Site: e.Site})
		}
		sum.Entries[k].add(e)
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		k, ok := m.objects[o.Name]
		if !ok {
			k = len(sum.Objects)
			m.objects[o.Name] = k
			sum.Objects = append(sum.Objects, Object{Name: o.Name, Kind: o.Kind, places: places{}})
		}
		sum.Objects[k].add(o)
		if e, ok := m.entries[[2]string{KindSync, "sync:" + o.Name}]; ok {
			sum.Entries[e].File, sum.Entries[e].Line = sum.Objects[k].File, sum.Objects[k].Line
		}
	}
	m.addCalls(sum, p)
	sum.BlockedBy = addWaits(sum.BlockedBy, p.BlockedBy)
	for _, r := range p.Roots {
		k := slices.IndexFunc(sum.Roots, func(s Part) bool { return s.Name == r.Name })
		if k < 0 {
			k = len(sum.Roots)
			sum.Roots = append(sum.Roots, Part{Name: r.Name})
		}
		sum.Roots[k].NPT += r.NPT
		sum.Roots[k].Busy += r.Busy
	}
}

// addCalls adds the calls of a run. Those of one place are added up first, because numbers of one
// run may be wrong in the same direction.
func (m *merger) addCalls(sum, p *Profile) {
	of := map[int]trace.Estimate{}
	for _, c := range p.Calls {
		key := c
		key.setNumber(trace.Estimate{})
		k, ok := m.calls[key]
		if !ok {
			k = len(sum.Calls)
			m.calls[key] = k
			sum.Calls = append(sum.Calls, key)
		}
		of[k] = of[k].Plus(c.Number())
	}
	for k, n := range of {
		c := &sum.Calls[k]
		c.setNumber(c.Number().Beside(n))
	}
}

func addWaits(list, more []Wait) []Wait {
	for _, w := range more {
		k := slices.IndexFunc(list, func(x Wait) bool { return x.Reason == w.Reason })
		if k < 0 {
			k = len(list)
			list = append(list, Wait{Reason: w.Reason})
		}
		list[k].Time += w.Time
	}
	return list
}

// add adds the entry of the same section in another run. Means become those of the total time in
// a state, and intervals those of a sum of independent estimates.
func (e *Entry) add(q *Entry) {
	weighted := func(to *float64, x float64, was, more int64) {
		if was+more > 0 {
			*to = thousandths((*to*float64(was) + x*float64(more)) / float64(was+more))
		}
	}
	weighted(&e.Runnable.Busy, q.Runnable.Busy, e.Busy, q.Busy)
	weighted(&e.Runnable.Spin, q.Runnable.Spin, e.Spin, q.Spin)
	weighted(&e.Runnable.Ready, q.Runnable.Ready, e.Ready, q.Ready)
	weighted(&e.Runnable.Blocked, q.Runnable.Blocked, e.Blocked, q.Blocked)
	weighted(&e.Runnable.Syscall, q.Runnable.Syscall, e.Syscall, q.Syscall)
	weighted(&e.Runnable.Off, q.Runnable.Off, e.Off, q.Off)
	e.SelfNPTs = sumOf(e.SelfNPT, e.SelfNPTs, q.SelfNPT, q.SelfNPTs)
	e.NPTs = sumOf(e.NPT, e.NPTs, q.NPT, q.NPTs)
	for _, x := range []struct {
		to   *int64
		more int64
	}{{&e.SelfNPT, q.SelfNPT}, {&e.NPT, q.NPT}, {&e.SelfBusy, q.SelfBusy}, {&e.Busy, q.Busy}, {&e.Spin, q.Spin},
		{&e.Blocked, q.Blocked}, {&e.Ready, q.Ready},
		{&e.Syscall, q.Syscall}, {&e.SelfSpin, q.SelfSpin}, {&e.SelfBlocked, q.SelfBlocked},
		{&e.SelfReady, q.SelfReady}, {&e.Alone, q.Alone}, {&e.SelfAlone, q.SelfAlone},
		{&e.SelfSyscall, q.SelfSyscall}, {&e.Off, q.Off}, {&e.SelfOff, q.SelfOff},
		{&e.SelfIdle, q.SelfIdle}, {&e.IdleEnded, q.IdleEnded}, {&e.Started, q.Started}, {&e.Blame, q.Blame},
		{&e.CallBusy, q.CallBusy},
		{&e.Got, q.Got}, {&e.Wait, q.Wait}, {&e.Hold, q.Hold}} {
		*x.to += x.more
	}
	e.setCalled(e.Called().Beside(q.Called()))
	e.Trips, e.TripsOf, e.Degraded = e.Trips+q.Trips, e.TripsOf+q.TripsOf, e.Degraded+q.Degraded
	e.BusyAt, e.SelfBusyAt, e.Queue = addTo(e.BusyAt, q.BusyAt), addTo(e.SelfBusyAt, q.SelfBusyAt),
		addTo(e.Queue, q.Queue)
	for _, c := range []struct {
		to   **RunnableHist
		more *RunnableHist
	}{{&e.RunnableHists.Busy, q.RunnableHists.Busy}, {&e.RunnableHists.Spin, q.RunnableHists.Spin},
		{&e.RunnableHists.Ready, q.RunnableHists.Ready}, {&e.RunnableHists.Blocked, q.RunnableHists.Blocked},
		{&e.RunnableHists.Syscall, q.RunnableHists.Syscall}, {&e.RunnableHists.Off, q.RunnableHists.Off}} {
		*c.to = (*c.to).with(c.more)
	}
	e.Longest = max(e.Longest, q.Longest)
	for _, w := range q.BlockedOn {
		k := slices.IndexFunc(e.BlockedOn, func(x Waited) bool { return x.Object == w.Object && x.Reason == w.Reason })
		if k < 0 {
			e.BlockedOn = append(slices.Clip(e.BlockedOn), w)
			continue
		}
		e.BlockedOn[k].Time += w.Time
	}
	sortWaited(e.BlockedOn)
	e.Latency = e.Latency.with(q.Latency)
	e.Lines = addLines(e.Lines, q.Lines)
}

// addLines adds the lines of the same procedure in another run.
func addLines(list, more []LineTime) []LineTime {
	for _, m := range more {
		k, ok := slices.BinarySearchFunc(list, m.Line,
			func(l LineTime, line int) int { return cmp.Compare(l.Line, line) })
		if !ok {
			list = slices.Insert(slices.Clip(list), k, m)
			continue
		}
		l := &list[k]
		l.SelfNPTs = *sumOf(l.SelfNPT, &l.SelfNPTs, m.SelfNPT, &m.SelfNPTs)
		l.SelfNPT += m.SelfNPT
	}
	return list
}

func (c *RunnableHist) with(d *RunnableHist) *RunnableHist {
	sum := RunnableHist{}
	for _, x := range []*RunnableHist{c, d} {
		for i := range sum {
			if x != nil {
				sum[i] += x[i]
			}
		}
	}
	if sum == (RunnableHist{}) {
		return nil
	}
	return &sum
}

// sumOf is the interval of the sum of two times, nil if both are exact.
func sumOf(x int64, xs *Interval, y int64, ys *Interval) *Interval {
	if xs == nil && ys == nil {
		return nil
	}
	low, high := 0.0, 0.0
	for _, e := range []struct {
		at int64
		in *Interval
	}{{x, xs}, {y, ys}} {
		if e.in != nil {
			low = math.Hypot(low, float64(e.at-e.in.Low))
			high = math.Hypot(high, float64(e.in.High-e.at))
		}
	}
	return &Interval{x + y - round(low), x + y + round(high)}
}

func (o *Object) add(q *Object) {
	o.HoldInterval = addHolds(o, q)
	o.Estimated = o.Estimated || q.Estimated
	o.Idle, o.Partly = o.Idle && q.Idle, o.Partly || q.Partly
	o.Apart, o.More = o.Apart || q.Apart, o.More || q.More
	for _, x := range []struct {
		to   *int64
		more int64
	}{{&o.Waits, q.Waits}, {&o.Wait, q.Wait}, {&o.Ready, q.Ready}, {&o.Peers, q.Peers}, {&o.Turns, q.Turns},
		{&o.Holds, q.Holds}, {&o.Hold, q.Hold}, {&o.HeldOff, q.HeldOff}, {&o.HandOver, q.HandOver},
		{&o.Handed, q.Handed}, {&o.Unattributed, q.Unattributed}, {&o.Together, q.Together}, {&o.Cost, q.Cost},
		{&o.unseen, q.unseen}, {&o.Away, q.Away}, {&o.Meanwhile, q.Meanwhile},
		{&o.OffMeanwhile, q.OffMeanwhile}} {
		*x.to += x.more
	}
	o.setUsed(o.Used().Plus(q.Used()))
	o.Degraded += q.Degraded
	o.Objects = max(o.Objects, q.Objects)
	o.Worst, o.Longest, o.Queue = max(o.Worst, q.Worst), max(o.Longest, q.Longest), max(o.Queue, q.Queue)
	for _, name := range q.Also {
		if !slices.Contains(o.Also, name) {
			o.Also = append(slices.Clip(o.Also), name)
		}
	}
	slices.Sort(o.Also)
	o.Waiting = addTo(o.Waiting, q.Waiting)
	o.WaitedIn, o.WaitedFor = addWaits(o.WaitedIn, q.WaitedIn), addWaits(o.WaitedFor, q.WaitedFor)
	o.EndedBy, o.Blamed = addWaits(o.EndedBy, q.EndedBy), addWaits(o.Blamed, q.Blamed)
	o.acquired, o.received, o.endedAll = o.acquired+q.acquired, o.received+q.received, o.endedAll+q.endedAll
	o.use.add(&q.use)
	for at, ns := range q.places {
		o.places.add(at, ns)
	}
	o.File, o.Line, o.Lines = o.places.most()
}
