package report

import (
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// top is how many lines a table of the page has.
const top = 15

// page builds a report. Each method adds a section, or none if there is nothing to report.
type page struct {
	*doc.Doc
	t      *trace.Trace
	p      *profile.Profile
	f      *advice.Facts
	remedy *Remedy // nil: none is needed, or known
}

func newPage(t *trace.Trace, f *advice.Facts) *page {
	p := f.Profile
	title := p.Program
	if title == "" {
		title = "program"
	}
	return &page{&doc.Doc{Title: title}, t, p, f, RemedyFor(t, p)}
}

// program begins the section without a title.
func (pg *page) program() *doc.Section {
	s := pg.Add("summary", "")
	version, _ := pg.t.Attr("go").(string)
	s.Say("%s  %s", pg.Title, version)
	return s
}

// tripsCell has the iterations of a loop, as far as they are known: they are recorded when it is
// left.
func tripsCell(e *profile.Entry) doc.Cell {
	c := doc.Count(e.Trips)
	switch {
	case e.TripsOf == 0, e.TripsOf < e.Calls && e.Trips == 0:
		c.Text = "?"
	case e.TripsOf < e.Calls:
		c.Text = "≥" + c.Text
	}
	return c
}

// andOthers says that waits were at other lines, too.
func andOthers(lines int) string {
	switch {
	case lines < 2:
		return ""
	case lines == 2:
		return " and another line"
	}
	return fmt.Sprintf(" and %d other lines", lines-1)
}

// objectTable adds a table of synchronization objects.
func objectTable(s *doc.Section, p *profile.Profile, list []profile.Object) {
	s.Say("Waits are those of every package; uses and holds are known where a package is instrumented.")
	s.Say("npt: of the goroutines that hold it. queue: goroutines waiting, on average and at most. blamed on: the procedure that had taken the lock, or in which the goroutine that ended the wait worked meanwhile.")
	if slices.ContainsFunc(list, func(o profile.Object) bool { return o.Apart }) {
		s.Say("? in place of the longest queue: it is not known where waits have no object, or tell it only at their end.")
	}
	t := doc.NewTable("object", "npt", "waited", "waits", "worst", "held", "uses", "queue", "addresses",
		"blamed on").Left(9)
	for i := range list {
		o := &list[i]
		var by, held, uses, npt doc.Cell
		if len(o.Blamed) > 0 {
			b := o.Blamed[0]
			by = doc.Cell{Text: fmt.Sprintf("%s %s", measure.Short(b.Reason, nameWidth),
				measure.Percent(b.Time, o.Wait)), Value: b.Reason}
		}
		if o.Holds > 0 {
			held, npt = doc.Time(o.Hold), doc.Time(o.NPT())
			held.Text, npt.Text = o.Mark()+held.Text, o.Mark()+npt.Text
		}
		if o.Holds == 0 && o.Partly {
			held = doc.Cell{Text: "?"}
		}
		if o.Ops > 0 {
			uses = hitsCell(o.Used())
			if o.More && o.Used().Exact() {
				uses.Text = "≥" + uses.Text
			}
		}
		t.Row(doc.Name(o.Name, loopWidth), npt, doc.Time(o.Wait), doc.Count(o.Waits), doc.Time(o.Worst), held, uses,
			fmt.Sprintf("%.2f %s", meanQueue(p, o), most(o)), addresses(o), by)
	}
	s.Table(t)
}

// addresses is at how many addresses there were objects: of operations that were only counted it is
// not known.
func addresses(o *profile.Object) string {
	if o.Objects > 1 && o.Degraded > 0 {
		return "≥" + fmt.Sprint(o.Objects)
	}
	return fmt.Sprint(o.Objects)
}

// most is how many goroutines waited for an object at a time, as far as that is known.
func most(o *profile.Object) string {
	if o.Apart {
		return "?"
	}
	return fmt.Sprint(max(0, len(o.Waiting)-1))
}

// meanQueue is how many goroutines wait for an object on average.
func meanQueue(p *profile.Profile, o *profile.Object) float64 {
	return measure.Ratio(o.Wait, p.Wall*int64(max(1, o.Objects)))
}

// notes says what the report does not know.
func (pg *page) lost() {
	p := pg.p
	s := pg.Add("lost", "Where time was lost")
	off := ""
	if p.IdleOff > 0 {
		off = fmt.Sprintf("; none for another %s (%s), because the operating system had taken them",
			measure.Time(p.IdleOff), measure.Percent(p.IdleOff, p.Wall))
	}
	s.Say("idle: no processor busy for %s (%s of the run)%s", measure.Time(p.Idle), measure.Percent(p.Idle, p.Wall),
		off)
	all := int64(p.Procs) * p.Wall
	if unused := max(0, all-p.Busy-p.OffCPU-p.Off.Waited()); p.BusyKnown() {
		s.Say("unused: %s of %s processor time (%s)", measure.Time(unused), measure.Time(all),
			measure.Percent(unused, all))
	}
	var ready, syscall int64
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindGoroutine {
			ready += e.SelfReady
			syscall += e.SelfSyscall
		}
	}
	s.Say("ready: goroutines waited %s for a processor, %.2f at a time", measure.Time(ready),
		measure.Ratio(ready, p.Wall))
	if p.Spin > 0 {
		s.Say("spinning: %s of processor time in loops that only waited for shared state to change, or for a mutex (%s of busy and spinning)", measure.Time(p.Spin), measure.Percent(p.Spin, p.Busy+p.Spin))
	}
	s.Say("scheduler: processors looked for work, or switched, for %s (%s of processor time)", measure.Time(p.Searched),
		measure.Percent(p.Searched, all))
	if c := p.GC; c.Cycles > 0 || c.Stops > 0 {
		s.Say("garbage collector: %s cycles, marking for %s of the run; workers %s and assists %s of processor time%s; the world stopped %s times, for %s",
			measure.Count(c.Cycles), measure.Time(c.Marking), measure.Time(c.Workers), measure.Time(c.Assists),
			pg.collected(), measure.Count(c.Stops), measure.Time(c.Stopped))
	}
	if ns, most := advice.OperationCost(p); most != nil {
		ops := uint64(0)
		for i := range p.Objects {
			ops += p.Objects[i].Ops
		}
		s.Say("synchronization: %s operations, about %s of processor time by themselves (%s of busy): counted, times what they cost in a loop", measure.Count(ops), measure.Time(ns), pg.ofBusy(ns))
	}
	s.Say("memory and caches (thrashing): not measured")
	s.Say("system calls that lost their processor: %s", measure.Time(syscall))
	pg.offCPU(s)
	if len(p.BlockedBy) == 0 {
		return
	}
	s.Say("blocked, summed over the program's goroutines:")
	t := doc.NewTable()
	t.Level = 1
	for _, w := range p.BlockedBy[:min(8, len(p.BlockedBy))] {
		t.Row(w.Reason, doc.Time(w.Time), fmt.Sprintf("%.2f at a time", measure.Ratio(w.Time, p.Wall)))
	}
	s.Table(t)
}

// losses lists the data that is missing; it adds nothing if none is.
func (pg *page) losses() {
	list := pg.p.Losses.List()
	if len(list) == 0 {
		return
	}
	s := pg.Add("losses", "Not in these numbers")
	for _, l := range list {
		s.Say("%s %s", measure.Count(l.Count), l.What)
	}
}

// collected is the collector's processor time by its threads' clocks, which other load does not
// change.
func (pg *page) collected() string {
	c := &pg.p.CPU
	if c.Collector < 0 || !c.Known || c.Collector == pg.p.GC.Workers+pg.p.GC.Assists {
		return ""
	}
	return fmt.Sprintf(" by this trace, %s%s by their threads' clocks", measure.Time(c.Collector),
		ofProcess(c.Collector, c.User+c.System))
}

// ofRunning reports how long goroutines ran by the trace, if that is more than their processor
// time.
func (pg *page) ofRunning() string {
	if !pg.p.OffCPUMatters() {
		return " by this trace"
	}
	return fmt.Sprintf(", of the %s that goroutines ran by this trace", measure.Time(pg.p.Busy+pg.p.OffCPU))
}

// ofBusy is a time as a share of busy time, if that is known.
func (pg *page) ofBusy(ns int64) string {
	if !pg.p.BusyKnown() {
		return "-"
	}
	return measure.Percent(ns, pg.p.Busy)
}

// offCPU says what running threads waited for, or why that is not known.
func (pg *page) offCPU(s *doc.Section) {
	p := pg.p
	if o := p.Off; o != nil {
		s.Say("off-CPU: the operating system took processors from running goroutines for %s (%s of the time that they ran by the scheduler): preempted %s, throttled %s, stopped %s, blocked %s; while they held locks: %s",
			measure.Time(o.All()), measure.Percent(o.All(), p.Busy+p.Spin+o.All()), measure.Time(o.Preempted),
			measure.Time(o.Throttled), measure.Time(o.Stopped), measure.Time(o.Blocked), measure.Time(o.Holding))
		if pg.t.AllSwitches() {
			return
		}
	}
	s.Say("off-CPU: the operating system kept running threads waiting for %s (%s of the time that goroutines ran by the scheduler)%s", pg.waited(), measure.Percent(p.OffCPU, p.Busy+p.Spin+p.OffCPU), pg.refused())
}

// refused gives the reason why the system did not report when threads lost their processors, and
// the remedy.
func (pg *page) refused() string {
	src, ok := pg.t.Sources[trace.SourceSwitches]
	if !ok {
		return ""
	}
	const (
		eperm, eacces, einval, enosys = 1, 13, 22, 38
	)
	why := fmt.Sprintf("perf_event_open had the error %d", src.Errno)
	switch src.Errno {
	case 0: // no processor was left for the question, while the program ran already
		return fmt.Sprintf("; of the first %s the system did not tell when", measure.Time(src.From))
	case trace.TooMany:
		why = fmt.Sprintf("the program has so many switches that to ask for all would cost more than 1%% (budget=off does); it was asked for %s of the run", measure.Percent(pg.t.WatchedFor(), pg.p.Wall))
	case trace.NotAsked:
		why = "it was not asked to (os=off)"
	case eperm, enosys:
		why = "perf_event_open is not permitted; in a container its seccomp profile has to allow it, or CAP_PERFMON"
	case eacces:
		why = "perf_event_open is not permitted; /proc/sys/kernel/perf_event_paranoid has to be 2 or less"
	case einval:
		why = "its perf_event_open is older than Linux 5.13"
	}
	return "; when, the system did not tell: " + why
}

// waited is how long threads were kept waiting at unknown times.
func (pg *page) waited() string {
	i, text := pg.p.OffCPUs, measure.Time(pg.p.OffCPU)
	if i == nil || measure.Time(i.Low) == measure.Time(i.High) {
		return text
	}
	return fmt.Sprintf("about %s (between %s and %s)", text, measure.Time(i.Low), measure.Time(i.High))
}
