package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// Page builds the report for a new user. The run in two lines comes first, with what makes all
// numbers doubtful, and the changes to make first. Those fit a screen. Sections with the numbers
// that support them follow.
func Page(t *trace.Trace, f *advice.Facts) *doc.Doc {
	pg, p := newPage(t, f), f.Profile
	if p.Goroutines == 0 {
		pg.counted()
		pg.data()
		pg.cost()
		return pg.Doc
	}
	pg.first()
	pg.parallelism()
	pg.requests()
	if p.BusyKnown() {
		pg.procedures()
		pg.rankings()
		pg.loops()
		pg.goroutines()
		pg.regions()
	}
	pg.objects()
	pg.mechanisms()
	pg.memory()
	pg.lost()
	pg.data()
	pg.cost()
	return pg.Doc
}

// counted is the page of a run that only counted: there are no times to show.
func (pg *page) counted() {
	pg.program().Say("ran %s; this run only counted: calls are exact, there are no times", measure.Time(pg.p.Wall))
	list := kept(pg.p, func(e *profile.Entry) bool { return e.Calls > 0 })
	slices.SortStableFunc(list, func(a, b *profile.Entry) int { return cmp.Compare(b.Calls, a.Calls) })
	t := doc.NewTable("name", "calls", "").Left(2)
	for _, e := range list[:min(2*top, len(list))] {
		t.Row(doc.Name(e.Name, nameWidth), hitsCell(e.Called()), fmt.Sprintf("%s:%d", e.File, e.Line))
	}
	pg.Add("procedures", "Procedures, by calls").Table(t)
}

// first is the first screen.
func (pg *page) first() {
	s, list := pg.program(), pg.doubts()
	pg.ran(s)
	doubtful(s, list)
	more := conclude(pg.Doc, pg.f)
	pg.summary()
	pg.notes(list)
	if len(more) > 0 {
		pg.Add("more-advice", "Further conclusions").List(more)
	}
}

// ran is the run in two lines.
func (pg *page) ran(s *doc.Section) {
	t, p := pg.t, pg.p
	if int64(t.Ran) > p.Wall {
		s.Say("ran %s; the first %s were traced, and all times are about those", measure.Time(t.Ran),
			measure.Time(p.Wall))
	}
	busy, end := "", ""
	if p.BusyKnown() {
		busy = fmt.Sprintf(", %.2f of them busy on average", p.Effective)
	}
	if t.End.Known {
		end = fmt.Sprintf("; ended: %s", t.End)
	}
	goroutines := "1 goroutine"
	if p.Goroutines != 1 {
		goroutines = measure.Count(p.Goroutines) + " goroutines"
	}
	s.Say("ran %s on up to %s%s; %s%s", measure.Time(p.Wall), processors(mostProcs(p)), busy, goroutines, end)
}

// mostProcs is the largest GOMAXPROCS of a run.
func mostProcs(p *profile.Profile) int {
	most := p.Procs
	for n := range p.ProcsFor {
		most = max(most, n)
	}
	return most
}

func (pg *page) summary() {
	t, p := pg.t, pg.p
	s := pg.Add("run", "The run")
	taken := ""
	if p.OffMatters() && p.IdleOff > 0 {
		taken = fmt.Sprintf(", %s of it because the operating system had taken processors", measure.Time(p.IdleOff))
	}
	if measure.Ratio(p.IdleReady, p.Wall) >= lateShown {
		taken += fmt.Sprintf(", %s of it while a goroutine was ready", measure.Time(p.IdleReady))
	}
	s.Say("average parallelism %.2f while anything ran; nothing ran for %s (%s)%s",
		measure.Ratio(p.Busy+p.OffCPU, p.NPTSum-p.IdleOff), measure.Time(p.Idle+p.IdleOff),
		measure.Percent(p.Idle+p.IdleOff, p.Wall), taken)
	if !p.BusyKnown() {
		return
	}
	s.Say("over the run: effective parallelism %.2f (busy), nominal %.2f (running or ready, spinning too)", p.Effective,
		p.Nominal)
	switch {
	case p.CPU.Known && p.Off != nil:
		s.Say("processor time: %s busy by this trace; the operating system counts %s used, %s of it to write this file, and took processors from running goroutines for %s",
			measure.Time(p.Busy), measure.Time(p.CPU.User+p.CPU.System), measure.Time(p.CPU.Writer),
			measure.Time(p.Off.All()))
	case p.CPU.Known && !t.TellsThreads():
		s.Say("processor time: %s busy%s; the operating system counts %s used, and does not tell how long threads waited for processors: it shows no /proc/self/task",
			measure.Time(p.Busy), pg.ofRunning(), measure.Time(p.CPU.User+p.CPU.System))
	case p.CPU.Known:
		s.Say("processor time: %s busy%s; the operating system counts %s used, %s of it to write this file, and kept threads waiting for %s",
			measure.Time(p.Busy), pg.ofRunning(), measure.Time(p.CPU.User+p.CPU.System), measure.Time(p.CPU.Writer),
			pg.waited())
	}
	if ns := p.Withheld(); measure.Ratio(ns, p.Busy+p.Spin) >= withheldShown {
		s.Say("of the busy time up to %s (%s) may not be the program's: the operating system counted that much less for the threads that ran goroutines, because interrupts or the host of a virtual machine used their processors, or because its account of a thread is some ms old", measure.Time(ns), measure.Percent(ns, p.Busy+p.Spin))
	}
	if ns, used := p.Unowned(), p.CPU.User+p.CPU.System; measure.Ratio(ns, used) >= unownedWarn {
		s.Say("of the processor time %s (%s) was no goroutine's: the scheduler's, which looks for work and lets threads sleep and wake up, or that of C", measure.Time(ns), measure.Percent(ns, used))
	}
}

// lateShown is the smallest share of the run for which the page says that goroutines were ready and
// none ran: with less, the percentage is that of the conclusion about idle time, which excludes it.
// withheldShown is the smallest share of the busy time that it reports as possibly not the
// program's, and unownedWarn the smallest share of processor time that it reports as no
// goroutine's. Less is usual.
const (
	lateShown     = 0.001
	withheldShown = 0.02
	unownedWarn   = 0.2
)

func (pg *page) parallelism() {
	t := doc.NewTable().Left(3)
	for i, ns := range pg.p.Parallelism {
		t.Row(doc.Count(i), doc.Time(ns), doc.Share(ns, pg.p.Wall), measure.Bar(ns, pg.p.Wall, 50))
	}
	pg.Add("processors", "Processors busy").Table(t)
}

func (pg *page) procedures() {
	s := pg.Add("procedures", "Procedures, by self NPT")
	s.Say("NPT is processor time divided by the processors busy at the time: it adds up to the run time.")
	s.Say("It says where the run is, not what a change would gain: work that is done before anybody waits for it has slack.")
	s.Say("npt, busy, blocked, ready, syscall: with all that was called and started on the procedure's behalf.")
	pg.entries(s, profile.KindProc, func(e *profile.Entry) int64 { return e.SelfNPT })
}

// rankings says where processor time, normalized processor time, the critical path and worth
// disagree.
func (pg *page) rankings() {
	const title = "Other rankings of the procedures"
	r := pg.f.Path
	if r == nil {
		if pg.f.TooLong() {
			pg.Add("rankings", title).Say("The trace is so long that the critical path is not looked for here: qinst critical")
		}
		return
	}
	switch a := r.Agreement; {
	case a == nil: // waits are all that matters
	case len(a.Rows) == 0:
		pg.Add("rankings", title).Say("No procedure's share of the processor time differs by more than 5 %% from its share of what the run becomes shorter by (Kendall's tau of the two orders: %.2f; the same %d of the first %d). See qinst critical, qinst predict.", a.Tau, a.First, a.OfTop)
	default:
		agreement(pg.Add("rankings", title), r)
	}
}

func (pg *page) loops() {
	list := kept(pg.p, func(e *profile.Entry) bool { return e.Kind == profile.KindLoop })
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b *profile.Entry) int {
		return cmp.Or(cmp.Compare(b.NPT, a.NPT), cmp.Compare(b.Spin, a.Spin))
	})
	s := pg.Add("loops", "Loops, by NPT")
	s.Say("A loop's time is its procedure's too. Iterations are recorded when a traced entry ends: ≥ marks a lower bound, because some have not, and ? that none has.")
	t := doc.NewTable("loop", "npt", "%", "entered", "iterations", "busy", "spin", "").Left(7)
	for _, e := range list[:min(top, len(list))] {
		t.Row(doc.Name(e.Name, loopWidth), estimatedCell(e.NPT, e.NPTs), doc.Share(e.NPT, pg.p.Wall),
			hitsCell(e.Called()), tripsCell(e), doc.Time(e.Busy), doc.Time(e.Spin),
			fmt.Sprintf("%s:%d", path.Base(e.File), e.Line))
	}
	s.Table(t)
	if n := len(list) - top; n > 0 {
		s.Say("and %d more: qinst profile", n)
	}
}

func (pg *page) goroutines() {
	s := pg.Add("goroutines", "Goroutines, by start function and creator")
	pg.entries(s, profile.KindGoroutine, func(e *profile.Entry) int64 { return e.SelfNPT })
}

// entries adds the first entries of a kind and says how many are left out.
func (pg *page) entries(s *doc.Section, kind string, key func(*profile.Entry) int64) {
	list := kept(pg.p, func(e *profile.Entry) bool { return e.Kind == kind })
	slices.SortStableFunc(list, func(a, b *profile.Entry) int { return cmp.Compare(key(b), key(a)) })
	t := newEntryTable(pg.p, kind == profile.KindGoroutine)
	for _, e := range list[:min(top, len(list))] {
		t.row(e)
	}
	s.Table(t.Table)
	if n := len(list) - top; n > 0 {
		var rest int64
		for _, e := range list[top:] {
			rest += e.SelfNPT
		}
		s.Say("and %d more with %s self NPT together: qinst profile", n, measure.Time(rest))
	}
}

func (pg *page) regions() {
	list := kept(pg.p, func(e *profile.Entry) bool {
		return e.Kind == profile.KindRegion ||
			e.Kind == profile.KindLabels
	})
	if len(list) == 0 {
		return
	}
	t := newEntryTable(pg.p, false)
	for _, e := range list[:min(top, len(list))] {
		t.row(e)
	}
	s := pg.Add("regions", "Regions and labels, by NPT")
	s.Say("What goroutines used in a region, without what they started in it.")
	s.Table(t.Table)
}

func (pg *page) objects() {
	var list, idle []profile.Object
	for _, o := range pg.p.Objects {
		switch {
		case o.Wait == 0 && o.Hold == 0:
		case o.Idle:
			idle = append(idle, o)
		default:
			list = append(list, o)
		}
	}
	if len(list)+len(idle) == 0 {
		return
	}
	s := pg.Add("synchronization", "Synchronization, by time waited")
	if len(list) > 0 {
		objectTable(s, pg.p, list[:min(top, len(list))])
	}
	if n := len(list) - top; n > 0 {
		s.Say("and %d more: qinst profile -by sync", n)
	}
	if len(idle) > 0 {
		var names []string
		for _, o := range idle[:min(top, len(idle))] {
			place := ""
			if o.Line > 0 {
				place = fmt.Sprintf(" (%s:%d%s)", path.Base(o.File), o.Line, andOthers(o.Lines))
			}
			names = append(names, fmt.Sprintf("%s%s %s", o.Name, place, measure.Time(o.Wait)))
		}
		s.Say("idle by design, for the time, a connection, a signal, or until much of the run was over: %s",
			strings.Join(names, ", "))
	}
}

// memory shows who allocates.
// leastDoing is the least share of what procedures do that the page shows, in the middle of its
// interval.
const leastDoing = 0.01

// mechanisms shows what procedures do by functions without probes.
func (pg *page) mechanisms() {
	list := slices.DeleteFunc(slices.Clone(pg.p.Doing),
		func(d profile.DoneIn) bool { return d.Share < leastDoing })
	if len(list) == 0 {
		return
	}
	t := doc.NewTable("what", "share", "between", "", "most of it by", "in").Left(4, 5)
	for _, d := range list {
		t.Row(string(d.How), fmt.Sprintf("~%.1f%%", 100*d.Share), fmt.Sprintf("%.1f%%", 100*d.In[0]),
			fmt.Sprintf("%.1f%%", 100*d.In[1]), doc.Name(d.By, nameWidth), advice.At(d.Proc, d.File, d.Line))
	}
	s := pg.Add("mechanisms", "What procedures do by the runtime and the system")
	s.Say("Shares of the normalized processor time of procedures, by samples. The rest is their own code, and other functions without probes.")
	s.Table(t)
}

func (pg *page) memory() {
	m := pg.p.Memory
	if m == nil {
		return
	}
	s := pg.Add("memory", "Memory allocated, by procedure")
	s.Say("An estimate from %s allocations, chosen at random by bytes: of about %s. What a procedure's calls of packages without probes allocate is its own.", measure.Count(m.Samples), measure.Bytes(m.Bytes))
	t := doc.NewTable("procedure", "allocated", "%", "between", "", "most of it at").Left(5)
	for _, p := range m.Places[:min(8, len(m.Places))] {
		t.Row(doc.Name(cmp.Or(p.Name, "[not known]"), nameWidth), measure.Bytes(p.Bytes),
			fmt.Sprintf("%.1f%%", 100*p.Share), fmt.Sprintf("%.1f%%", 100*p.Between[0]),
			fmt.Sprintf("%.1f%%", 100*p.Between[1]), place(p.File, p.Line))
	}
	s.Table(t)
}

func (pg *page) data() {
	p := pg.p
	s := pg.Add("data", "Data")
	s.Say("%s events read, %s of them procedure entries and exits", measure.Count(p.Events),
		measure.Count(p.Tool.Traced))
	crowded, lost := noRoom(&pg.t.Memory), pg.t.Sources[trace.SourceSwitches].Lost
	if !p.Losses.Any() && p.Degraded == 0 && len(crowded) == 0 && lost == 0 {
		s.Say("nothing lost, nothing degraded")
	}
	if lost > 0 {
		s.Say("%s records of switches were lost, because the program had more than the writer could read in time: goroutines may have been without a processor for longer than the lines say", measure.Count(int64(lost)))
	}
	pg.levels(s)
	pg.extensions(s)
	for _, l := range pg.t.Limits {
		s.Say("from %s on points only counted: %s limit, %s written", measure.Time(l.Time), l.Reason,
			measure.Bytes(l.Bytes))
	}
	pg.losses()
}
