package profile

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// New computes the profile of a trace.
func New(source trace.Source) (*Profile, error) { return NewWithin(source, Within{}) }

// NewWithin computes a part of the profile of a trace. It has an error if the trace has no
// such region or label.
func NewWithin(source trace.Source, in Within) (*Profile, error) {
	b := newBuilder(source, in)
	losses, err := b.r.Run(b)
	if err != nil {
		return nil, err
	}
	if b.within != nil && !b.within.found { // its name is another one's, or nothing's
		if in, err = b.within.meant(); err != nil {
			return nil, err
		}
		return NewWithin(source, in)
	}
	if err := b.end(); err != nil {
		return nil, err
	}
	return newProfile(b, in, source.Tables(), losses), nil
}

// newProfile makes the profile from the builder's results.
func newProfile(b *builder, in Within, t *trace.Tables, losses trace.Losses) *Profile {
	p := &Profile{Version: Version, Ran: int64(t.Ran), Wall: int64(b.wall), Procs: b.r.MostProcs(b.wall),
		Events: b.r.Events, Goroutines: b.totals.goroutines,
		Lost: losses.Events + losses.Missing, Losses: losses, Parallelism: b.parallel.busy.at}
	p.ProcsFor = b.r.ProcsFor(b.wall)
	p.built, p.Part = b, t.End.Reason == "cut"
	p.Program, _ = t.Attr("program").(string)
	p.Busy = b.parallel.busy.sum()
	if len(b.parallel.busy.at) > 0 {
		p.Idle = b.parallel.busy.at[0] - b.parallel.busy.taken
	}
	if b.r.Busy() == 0 {
		p.IdleAtEnd = int64(b.wall - b.parallel.busy.idleAt)
	}
	p.IdleOff, p.IdleReady = b.parallel.busy.taken, b.parallel.late.until(b.wall)
	p.Spin, p.Searched = b.totals.spin, b.totals.searched
	p.NPTSum = p.Wall - p.Idle
	if b.totals.doubts.lost.between.High > 0 {
		p.OffCPU, p.OffCPUs = b.totals.doubts.lost.ns, &b.totals.doubts.lost.between
		p.Busy -= min(p.OffCPU, p.Busy)
	}
	if p.Wall > 0 {
		p.Effective = thousandths(float64(p.Busy) / float64(p.Wall))
		p.Nominal = thousandths(float64(b.parallel.nominal.until(b.wall)) / float64(p.Wall))
	}
	if p.Procs == 0 { // an older file
		p.Procs = len(b.parallel.busy.at) - 1
	}
	if in.Procs > 0 {
		p.Virtual = in.Procs
		p.Procs = in.Procs
	}
	if t.Switches() && !b.virtual() {
		p.Off = &b.totals.off
	}
	p.CPU.Known, p.CPU.User, p.CPU.System = t.Usage.Known, t.Usage.User, t.Usage.System
	p.CPU.Beside = max(0, p.CPU.User+p.CPU.System-t.Usage.Ended)
	for _, th := range t.Threads {
		switch {
		case th.Writer:
			p.CPU.Writer += th.Run
		case b.r.Ran(trace.ThreadID(th.ID)):
			p.CPU.Beside = max(0, p.CPU.Beside-th.Run)
			p.CPU.Waited += th.Wait
		}
	}
	p.IdleFor = b.idled.list(b.objects) // before the objects are given up
	p.Objects = b.objects.finish(p.Wall)
	markIdle(p.Objects, p.Wall)
	if b.samples.samples > 0 {
		p.Sampling = &Sampling{t.Int("sample_ns"), b.samples.looks, b.samples.samples, b.samples.codes}
	}
	p.Doing = b.samples.text.doing(t)
	p.Left, p.Endless, p.Chains = b.totals.left.list(), endless(b.r, b.wall, b.totals.lives), chains(b.r)
	p.entries(b)
	p.waits(b)
	p.Calls = newCalls(b).list()

	p.Notes = newNotes(b, p).list()
	p.Stackless = t.Memory.Stackless
	p.Timeline = b.parallel.line.finish(b.wall, t.Metrics)
	if p.OffCPU > 0 { // evenly, as from the lines
		for i := range p.Timeline.Busy {
			p.Timeline.Busy[i] *= float64(p.Busy) / float64(p.Busy+p.OffCPU)
		}
	}
	p.GC, p.Memory, p.Alone = b.gc.GC, b.memory.list(), b.parallel.alone.until(b.wall)
	p.AlonePath = b.ledger.alonePath(p.Alone)
	p.GC.Workers, p.GC.Assists = b.ledger.self[b.r.System.Worker].Busy(), b.ledger.self[b.r.System.Assist].Busy()
	switch p.CPU.Collector = -1; {
	case t.Usage.Known && t.AllSwitches(): // they had processors for all of that
		p.CPU.Collector = p.GC.Workers + p.GC.Assists
	case t.Usage.Known:
		p.CPU.Collector = t.Usage.Collector
	}
	p.Tool = Tool{FlushRuns: t.Flush.Runs, FlushWall: t.Flush.Wall, FlushCPU: t.Flush.CPU, FlushBytes: t.Flush.Bytes,
		Traced: b.r.Entries, EventCost: eventCost(t),
		Probes: b.ledger.self[b.r.System.Probes].Busy(), ProbesNPT: round(b.ledger.self[b.r.System.Probes].NPT()),
		Cost: costOf(t, max(t.Flush.CPU, p.CPU.Writer), b.totals.paid)}
	return p
}

// entries fills in the entries, largest inclusive NPT first.
func (p *Profile) entries(b *builder) {
	incl := b.ledger.inclusive()
	p.procedures(b, incl)
	p.goroutines(b, incl)
	p.named(b)
	p.outside(b)
	for i := range p.Objects {
		p.Entries = append(p.Entries, p.Objects[i].entry())
	}
	sortEntries(p.Entries)
	for r := range replay.NumRoots {
		u := &incl[replay.RootMember(r)]
		p.Roots = append(p.Roots, Part{Name: r.String(), NPT: round(u.NPT()), Busy: u.Busy()})
	}
}

// unprobed is the busy time in goroutines that ran no procedure with probes, by the procedure that
// started them. One without an event may have run such a procedure that was only counted: the one
// that it starts with, or one that samples found.
func (b *builder) unprobed() map[trace.PointID]int64 {
	sum := map[trace.PointID]int64{}
	for in, ns := range b.totals.started {
		if in.group == replay.NoGroup || !b.samples.probed[in.group] && b.r.Groups.Probed(in.group) == trace.NoPoint {
			sum[in.proc] += ns
		}
	}
	return sum
}

// procedures adds the entries of the procedures and loops that were reached, and of the time
// outside any.
func (p *Profile) procedures(b *builder, incl []Usage) {
	t, blame, started, called := b.r.T, b.objects.blamed, b.unprobed(), b.ledger.called(incl)
	for i := range b.totals.calls {
		proc := trace.PointID(i)
		pt, all, calls := &t.Points[proc], &incl[replay.ProcMember(proc)], b.totals.calls[proc]
		id := fmt.Sprintf("%016x", pt.ID)
		if b.r.IsSystem(proc) {
			id = pt.Name
		}
		e := Entry{ID: id, Kind: KindProc, Name: pt.Name, File: pt.File, Line: pt.Line, Calls: calls, Small: pt.Small()}
		if t.HasCounts && b.within == nil {
			hits := t.Hits(proc)
			if hits.Value < calls { // of a file whose totals are not its last
				hits = trace.Estimate{Value: calls, Lo: hits.Lo}
			}
			e.setCalled(hits)
			e.Degraded = pt.Degraded()
		}
		switch {
		case e.Calls == 0 && all.none():
			continue // it was not reached
		case pt.Kind == spec.PointProc && pt.Small():
		case pt.Kind == spec.PointProc:
			p.Degraded += e.Degraded
		case pt.Kind == spec.PointLoop:
			e.Kind, e.Name, e.Trips, e.TripsOf, e.Spins = KindLoop, t.NameOf(trace.PointID(i)), b.totals.trips[proc],
				b.totals.tripsOf[proc], pt.Spins()
		case calls == 0:
			continue // not a procedure, unless the trace has an entry of it
		}
		e.fill(&b.ledger.self[proc], all)
		e.CallBusy, e.Started, e.Blame = called[proc], min(started[proc], e.SelfBusy), blame[ender(proc)]
		e.BlockedOn = b.objects.waitedOn(proc)
		b.intervals(&e, proc)
		if e.Kind == KindProc {
			e.Lines = b.samples.text.divide(proc, e.SelfNPT, e.SelfNPTs)
			e.Callees, e.Doing = b.samples.text.callees(proc)
		}
		p.Entries = append(p.Entries, e)
	}
	none := b.ledger.selfOf(trace.NoPoint)
	e := Entry{ID: NoProcedure, Kind: KindProc, Name: "[no procedure]", Blame: blame[noProcedure]}
	e.fill(none, none)
	e.BlockedOn = b.objects.waitedOn(trace.NoPoint)
	b.intervals(&e, trace.NoPoint)
	p.Entries = append(p.Entries, e)
}

// goroutines adds the groups of goroutines.
func (p *Profile) goroutines(b *builder, incl []Usage) {
	for id := range replay.GroupID(b.r.Groups.Len()) {
		g := b.r.Groups.Group(id)
		if g.Count == 0 {
			continue
		}
		e := Entry{Kind: KindGoroutine, Calls: g.Count}
		if g.Creator != trace.NoPoint {
			e.Creator = b.r.T.Points[g.Creator].Name
		}
		e.Site, e.Longest, e.Got = goSite(b.r.T, g), b.totals.longest[id], b.totals.got[id]
		e.ID = goroutineID(b.r, id)
		o := b.r.Groups.Origin(id)
		e.Name, e.File, e.Line = o.Name, o.File, o.Line
		e.fill(&b.ledger.groups[id], &incl[b.r.Groups.Member(id)])
		p.Entries = append(p.Entries, e)
	}
}

// named adds the lines of regions and labels.
func (p *Profile) named(b *builder) {
	for id := range replay.SpanID(b.r.Spans.Len()) {
		s, u, kind := b.r.Spans.Span(id), b.named.of(id), KindRegion
		if s.Labels {
			kind = KindLabels
		}
		e := Entry{ID: kind + ":" + s.Name, Kind: kind, Name: s.Name, Calls: u.count, Latency: latency(&u.took)}
		e.fill(&u.usage, &u.usage)
		p.Entries = append(p.Entries, e)
	}
}

// Outside is the id of the entry for the part of the run that a restricted profile leaves out.
const Outside = "outside"

// outside adds it.
func (p *Profile) outside(b *builder) {
	if b.within == nil {
		return
	}
	u := &b.within.outside
	e := Entry{ID: Outside, Kind: KindProc, Name: "[outside]"}
	e.fill(u, u)
	p.Entries = append(p.Entries, e)
	p.Roots = append(p.Roots, Part{Name: e.Name, NPT: e.NPT, Busy: e.Busy})
}

// intervals sets the intervals of an entry.
func (b *builder) intervals(e *Entry, proc trace.PointID) {
	d := &b.totals.doubts
	if b.samples.looks == 0 && (d.kept == 0 || d.kept == 1) || proc == b.r.System.OffCPU {
		return
	}
	ran, looks := float64(b.parallel.busy.time(b.wall)), float64(b.samples.looks)
	e.SelfNPTs = d.interval(line{proc, true}, e.SelfNPT, ran, looks)
	e.NPTs = d.interval(line{proc, false}, e.NPT, ran, looks)
}

// waits sets the places where goroutines waited.
func (p *Profile) waits(b *builder) {
	byName := map[string]int64{}
	for code, ns := range b.totals.reasons {
		byName[b.r.T.Reason(code)] += ns
	}
	for name, ns := range byName {
		p.BlockedBy = append(p.BlockedBy, Wait{Reason: name, Time: ns})
	}
	slices.SortFunc(p.BlockedBy, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Reason, y.Reason))
	})
}

// OffCPUMatters reports whether the operating system kept threads waiting long enough that lines
// without that time are doubtful.
func (p *Profile) OffCPUMatters() bool { return offCPUMatters(p.OffCPU, p.Busy+p.Spin+p.OffCPU) }

// BusyKnown reports whether numbers that rest on busy time mean anything: what the operating system
// took of it is known better than the rest is long.
func (p *Profile) BusyKnown() bool {
	return p.OffCPUs == nil || p.OffCPUs.High-p.OffCPUs.Low <= p.Busy+p.Spin
}

// Unowned is the processor time of the process that is neither a goroutine's nor the tool's: the
// scheduler's, which looks for work and lets threads sleep and wake up, the monitor's, C's.
func (p *Profile) Unowned() int64 {
	if !p.CPU.Known || !p.BusyKnown() {
		return 0
	}
	return max(0, p.CPU.User+p.CPU.System-p.CPU.Writer-p.Tool.Cost.Looks-p.Busy-p.Spin)
}

// Withheld is the part of the busy time that the system did not count for the threads that ran
// goroutines. While they had a processor, an interrupt or the host of a virtual machine used it, or
// the system's account of a running thread is that of its last tick. It is 0 if that is not known.
func (p *Profile) Withheld() int64 {
	counted := p.CPU.User + p.CPU.System - p.CPU.Beside
	if !p.CPU.Known || p.Off == nil || counted <= 0 { // or the system does not show it by thread
		return 0
	}
	return max(0, p.Busy+p.Spin-counted)
}

// OffMatters reports whether the records say when the operating system took processors from running
// goroutines, and that was often enough to explain a part of the run.
func (p *Profile) OffMatters() bool {
	return p.Off != nil && offCPUMatters(p.Off.All(), p.Busy+p.Spin)
}
