package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// top is how many lines a table of the page has.
const top = 15

// Page builds the report for a new user. First comes what makes its numbers doubtful, if anything
// does, then the changes to make first, the run in numbers and what the report does not know. Those fit a
// screen. Sections with the numbers behind them follow.
func Page(t *trace.Trace, p *profile.Profile) *doc.Doc {
	pg := newPage(t, p)
	if p.Goroutines == 0 {
		pg.counted()
		pg.data()
		pg.cost()
		return pg.Doc
	}
	pg.first()
	pg.parallelism()
	if p.BusyKnown() {
		pg.procedures()
		pg.rankings()
		pg.loops()
		pg.goroutines()
		pg.regions()
	}
	pg.objects()
	pg.memory()
	pg.lost()
	pg.data()
	pg.cost()
	return pg.Doc
}

// page builds a report. Each method adds a section, or none if there is nothing to report.
type page struct {
	*doc.Doc
	t      *trace.Trace
	p      *profile.Profile
	remedy *Remedy // nil: none is needed, or known
}

func newPage(t *trace.Trace, p *profile.Profile) *page {
	title := p.Program
	if title == "" {
		title = "program"
	}
	return &page{&doc.Doc{Title: title}, t, p, RemedyFor(t, p)}
}

// program begins the section without a title.
func (pg *page) program() *doc.Section {
	s := pg.Add("summary", "")
	version, _ := pg.t.Attr("go").(string)
	s.Say("%s  %s", pg.Title, version)
	return s
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

// kept returns the entries for which want is true.
func kept(p *profile.Profile, want func(*profile.Entry) bool) (list []*profile.Entry) {
	for i := range p.Entries {
		if e := &p.Entries[i]; want(e) {
			list = append(list, e)
		}
	}
	return list
}

// first is the first screen.
func (pg *page) first() {
	pg.doubts(pg.program())
	pg.advice()
	pg.summary()
	pg.notes()
}

// doubts warns of what makes all numbers doubtful.
func (pg *page) doubts(s *doc.Section) {
	p := pg.p
	if p.OffCPUMatters() && p.BusyKnown() {
		s.Warn("the operating system kept running threads waiting for %s (%s of the time that goroutines ran by the scheduler): %s; that time is [off-CPU], taken evenly out of all lines, because nothing tells which of them waited%s%s", pg.waited(), measure.Percent(p.OffCPU, p.Busy+p.Spin+p.OffCPU), pg.load(), pg.pressure(), pg.refused())
	}
	pg.off(s)
	if pg.t.Throttled > 0 && p.Off == nil {
		where := "in these numbers as busy time"
		if p.OffCPUMatters() {
			where = "in [off-CPU]"
		}
		s.Warn("the control group's quota stopped the process for %s, which is %s", measure.Time(pg.t.Throttled), where)
	}
	if steal := pg.t.Steal; steal > 0 && measure.Ratio(steal, p.Busy+p.Spin) > stealWarn {
		of := ""
		if n := pg.t.Int("ncpu"); n > 0 {
			of = fmt.Sprintf(" (%s of the time of its %s)", measure.Percent(steal, n*p.Wall), processors(int(n)))
		}
		s.Warn("a host took processors from this virtual machine for %s%s, from all of its programs together: what of that hit this one is in these numbers as busy time, because nobody tells when", measure.Time(steal), of)
	}
	for _, line := range noRoom(&pg.t.Memory) {
		s.Warn("%s", line)
	}
	c, cpu, budget := &p.Tool.Cost, p.CPU.User+p.CPU.System, pg.t.Int("budget_permille")
	if budget > 0 && cpu > 0 && p.Tool.EventCost > 0 && float64(c.All) > budgetWarn*float64(cpu*budget)/1000 {
		what := "see the last section"
		if pg.remedy != nil {
			what = "the last section says what to leave out"
		}
		s.Warn("recording took about %s of the processor time (between %s and %s), so that the program took %.2f times as much; the budget is %.3g%%: %s",
			measure.Percent(c.All, cpu), measure.Percent(c.Lo, cpu), measure.Percent(c.Hi, cpu), float64(cpu)/float64(max(1, cpu-c.All)), float64(budget)/10, what)
	}
}

// ofRunning says how long goroutines ran by the trace, where that is more than what they had of processors.
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

// waited is how long threads were kept waiting, as far as nobody told when.
func (pg *page) waited() string {
	i, text := pg.p.OffCPUs, measure.Time(pg.p.OffCPU)
	if i == nil || measure.Time(i.Low) == measure.Time(i.High) {
		return text
	}
	return fmt.Sprintf("about %s (between %s and %s)", text, measure.Time(i.Low), measure.Time(i.High))
}

// off tells of times in which the operating system had taken the processors of running goroutines.
func (pg *page) off(s *doc.Section) {
	o, p := pg.p.Off, pg.p
	if !p.OffMatters() {
		return
	}
	var parts []string
	unseen := "blocked in what the runtime does not see"
	if n := pg.t.Usage.Faults; n > 0 {
		unseen += fmt.Sprintf(" (%s waits of threads were for pages that had to be read)", measure.Count(n))
	}
	for _, part := range []struct {
		what string
		ns   int64
	}{{"preempted by other threads", o.Preempted}, {"throttled by the control group's quota", o.Throttled}, {"stopped by a signal, or frozen", o.Stopped}, {unseen, o.Blocked}} {
		if part.ns > 0 {
			parts = append(parts, measure.Time(part.ns)+" "+part.what)
		}
	}
	s.Warn("the operating system took processors from running goroutines for %s (%s of the time that they ran by the scheduler): %s; the longest time was %s. That is [off-CPU], and in no busy time%s",
		measure.Time(o.All()), measure.Percent(o.All(), p.Busy+p.Spin+o.All()), strings.Join(parts, ", "), measure.Time(o.Longest), pg.pressure())
}

// pressure says how much of the run somebody waited for a processor, if it was much. The program's own threads are among them.
func (pg *page) pressure() string {
	part := measure.Ratio(pg.t.Pressure, pg.p.Wall)
	if part < pressureWarn {
		return ""
	}
	return fmt.Sprintf("; during %s of the run some thread of its control group, or of the machine, waited for a processor", measure.Percent(min(pg.t.Pressure, pg.p.Wall), pg.p.Wall))
}

// pressureWarn is the share of the run from which on the page has it.
const pressureWarn = 0.1

// stealWarn is the share of busy from which on the page says that a host took processors away. What it took is of all processors of the machine.
const stealWarn = 0.05

// budgetWarn is how many times the budget recording may take before the page says so first: what the cost is
// said to be is about that exact.
const budgetWarn = 1.2

// notes says what the report does not know.
func (pg *page) notes() {
	if len(pg.p.Notes) == 0 {
		return
	}
	s := pg.Add("notes", "How far to trust this")
	for _, n := range pg.p.Notes {
		s.Note("%s", n)
	}
}

func (pg *page) summary() {
	t, p := pg.t, pg.p
	s := pg.Add("run", "The run")
	if int64(t.Ran) > p.Wall {
		s.Say("ran %s; the first %s were traced, and all times are about those", measure.Time(t.Ran), measure.Time(p.Wall))
	}
	s.Say("ran %s on up to %s; %s goroutines", measure.Time(p.Wall), processors(p.Procs), measure.Count(p.Goroutines))
	if t.End.Known {
		s.Say("ended: %s", t.End)
	}
	taken := ""
	if p.OffMatters() && p.IdleOff > 0 {
		taken = fmt.Sprintf(", %s of it because the operating system had taken processors", measure.Time(p.IdleOff))
	}
	if measure.Ratio(p.IdleReady, p.Wall) >= lateShown {
		taken += fmt.Sprintf(", %s of it while a goroutine was ready", measure.Time(p.IdleReady))
	}
	s.Say("average parallelism %.2f while anything ran; nothing ran for %s (%s)%s", measure.Ratio(p.Busy+p.OffCPU, p.NPTSum-p.IdleOff), measure.Time(p.Idle+p.IdleOff), measure.Percent(p.Idle+p.IdleOff, p.Wall), taken)
	if !p.BusyKnown() {
		return
	}
	s.Say("over the run: effective parallelism %.2f (busy), nominal %.2f (running or ready, spinning too)", p.Effective, p.Nominal)
	switch {
	case p.CPU.Known && p.Off != nil:
		s.Say("processor time: %s busy by this trace; the operating system counts %s used, %s of it to write this file, and took processors from running goroutines for %s",
			measure.Time(p.Busy), measure.Time(p.CPU.User+p.CPU.System), measure.Time(p.CPU.Writer), measure.Time(p.Off.All()))
	case p.CPU.Known && !t.TellsThreads():
		s.Say("processor time: %s busy%s; the operating system counts %s used, and does not tell how long threads waited for processors: it shows no /proc/self/task",
			measure.Time(p.Busy), pg.ofRunning(), measure.Time(p.CPU.User+p.CPU.System))
	case p.CPU.Known:
		s.Say("processor time: %s busy%s; the operating system counts %s used, %s of it to write this file, and kept threads waiting for %s",
			measure.Time(p.Busy), pg.ofRunning(), measure.Time(p.CPU.User+p.CPU.System), measure.Time(p.CPU.Writer), pg.waited())
	}
	if ns := p.Withheld(); measure.Ratio(ns, p.Busy+p.Spin) >= withheldShown {
		s.Say("of the busy time up to %s (%s) may not be the program's: the operating system counted that much less for the threads that ran goroutines, because interrupts or the host of a virtual machine used their processors, or because its account of a thread is some ms old", measure.Time(ns), measure.Percent(ns, p.Busy+p.Spin))
	}
	if ns, used := p.Unowned(), p.CPU.User+p.CPU.System; measure.Ratio(ns, used) >= unownedWarn {
		s.Say("of the processor time %s (%s) was no goroutine's: the scheduler's, which looks for work and lets threads sleep and wake up, or that of C", measure.Time(ns), measure.Percent(ns, used))
	}
}

// lateShown is the share of the run from which on the page says that goroutines were ready and none ran: with less the percentage is that of the
// conclusion about idle time, which is without it. withheldShown is the share of the busy time from which on it says that others may have had it. unownedWarn is the share of the processor
// time from which on it says that it was no goroutine's. Less is usual.
const (
	lateShown     = 0.001
	withheldShown = 0.02
	unownedWarn   = 0.2
)

// advice lists the conclusions, and says so if the numbers support none.
func (pg *page) advice() {
	items := advice.Of(pg.p)
	s := pg.Add("advice", "What to change first")
	texts := advice.Texts(items)
	if len(texts) == 0 && !advice.Inconclusive(items) {
		s.Say("%s", advice.Absent(pg.p))
	}
	s.List(texts)
	for i := range items {
		if items[i].Remark {
			s.Say("%s", items[i].Text)
		}
	}
}

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

// mostRanked is from how many events on the path is not looked for without being asked, because it needs up to 200 bytes of memory for each.
const mostRanked = 5_000_000

// rankings says where processor time, normalized processor time, the critical path and worth disagree.
func (pg *page) rankings() {
	const title = "Other rankings of the procedures"
	if pg.p.Events > mostRanked {
		pg.Add("rankings", title).Say("The trace is so long that the critical path is not looked for here: qinst critical")
		return
	}
	program, _, err := steps.Build(pg.t, steps.Options{VirtualProcs: pg.p.Virtual})
	if err != nil {
		return // what is wrong with the file has been said
	}
	r := critpath.New(program, critpath.Options{Policy: sim.Sharing, AsRun: true, Held: Held(pg.p)})
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
		t.Row(doc.Name(e.Name, loopWidth), estimatedCell(e.NPT, e.NPTs), doc.Share(e.NPT, pg.p.Wall), hitsCell(e.Called()), tripsCell(e), doc.Time(e.Busy), doc.Time(e.Spin),
			fmt.Sprintf("%s:%d", path.Base(e.File), e.Line))
	}
	s.Table(t)
	if n := len(list) - top; n > 0 {
		s.Say("and %d more: qinst profile", n)
	}
}

// tripsCell has the iterations of a loop, as far as they are known: they are told when it is left.
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
	list := kept(pg.p, func(e *profile.Entry) bool { return e.Kind == profile.KindRegion || e.Kind == profile.KindLabels })
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
		s.Say("idle by design, for the time, a connection, a signal, or until much of the run was over: %s", strings.Join(names, ", "))
	}
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
	t := doc.NewTable("object", "npt", "waited", "waits", "worst", "held", "uses", "queue", "addresses", "blamed on").Left(9)
	for i := range list {
		o := &list[i]
		var by, held, uses, npt doc.Cell
		if len(o.Blamed) > 0 {
			b := o.Blamed[0]
			by = doc.Cell{Text: fmt.Sprintf("%s %s", measure.Short(b.Reason, nameWidth), measure.Percent(b.Time, o.Wait)), Value: b.Reason}
		}
		if o.Holds > 0 {
			held, npt = doc.Time(o.Hold), doc.Time(o.NPT())
			held.Text, npt.Text = o.Mark()+held.Text, o.Mark()+npt.Text
		}
		if o.Holds == 0 && o.Partly {
			held = doc.Cell{Text: "?"}
		}
		if o.Ops > 0 {
			uses = doc.Count(o.Ops)
			if o.More {
				uses.Text = "≥" + uses.Text
			}
		}
		t.Row(doc.Name(o.Name, loopWidth), npt, doc.Time(o.Wait), doc.Count(o.Waits), doc.Time(o.Worst), held, uses,
			fmt.Sprintf("%.2f %s", meanQueue(p, o), most(o)), addresses(o), by)
	}
	s.Table(t)
}

// addresses is at how many addresses there were objects: of operations that were only counted it is not known.
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

// memory shows who allocates.
func (pg *page) memory() {
	m := pg.p.Memory
	if m == nil {
		return
	}
	s := pg.Add("memory", "Memory allocated, by procedure")
	s.Say("An estimate from %s allocations, chosen at random by bytes: of about %s. What a procedure's calls of packages without probes allocate is its own.", measure.Count(m.Samples), measure.Bytes(m.Bytes))
	t := doc.NewTable("procedure", "allocated", "%", "between", "", "most of it at").Left(5)
	for _, p := range m.Places[:min(8, len(m.Places))] {
		t.Row(doc.Name(cmp.Or(p.Name, "[not known]"), nameWidth), measure.Bytes(p.Bytes), fmt.Sprintf("%.1f%%", 100*p.Share), fmt.Sprintf("%.1f%%", 100*p.Between[0]), fmt.Sprintf("%.1f%%", 100*p.Between[1]), place(p.File, p.Line))
	}
	s.Table(t)
}

// meanQueue is how many goroutines wait for an object on average.
func meanQueue(p *profile.Profile, o *profile.Object) float64 {
	return measure.Ratio(o.Wait, p.Wall*int64(max(1, o.Objects)))
}

func (pg *page) lost() {
	p := pg.p
	s := pg.Add("lost", "Where time was lost")
	off := ""
	if p.IdleOff > 0 {
		off = fmt.Sprintf("; none for another %s (%s), because the operating system had taken them", measure.Time(p.IdleOff), measure.Percent(p.IdleOff, p.Wall))
	}
	s.Say("idle: no processor busy for %s (%s of the run)%s", measure.Time(p.Idle), measure.Percent(p.Idle, p.Wall), off)
	all := int64(p.Procs) * p.Wall
	if unused := max(0, all-p.Busy-p.OffCPU-p.Off.Waited()); p.BusyKnown() {
		s.Say("unused: %s of %s processor time (%s)", measure.Time(unused), measure.Time(all), measure.Percent(unused, all))
	}
	var ready, syscall int64
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindGoroutine {
			ready += e.SelfReady
			syscall += e.SelfSyscall
		}
	}
	s.Say("ready: goroutines waited %s for a processor, %.2f at a time", measure.Time(ready), measure.Ratio(ready, p.Wall))
	if p.Spin > 0 {
		s.Say("spinning: %s of processor time in loops that only waited for shared state to change, or for a mutex (%s of busy and spinning)", measure.Time(p.Spin), measure.Percent(p.Spin, p.Busy+p.Spin))
	}
	s.Say("scheduler: processors looked for work, or switched, for %s (%s of processor time)", measure.Time(p.Searched), measure.Percent(p.Searched, all))
	if c := p.GC; c.Cycles > 0 || c.Stops > 0 {
		s.Say("garbage collector: %s cycles, marking for %s of the run; workers %s and assists %s of processor time%s; the world stopped %s times, for %s",
			measure.Count(c.Cycles), measure.Time(c.Marking), measure.Time(c.Workers), measure.Time(c.Assists), pg.collected(), measure.Count(c.Stops), measure.Time(c.Stopped))
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

// offCPU says what running threads waited for, or why that is not known.
func (pg *page) offCPU(s *doc.Section) {
	p := pg.p
	if o := p.Off; o != nil {
		s.Say("off-CPU: the operating system took processors from running goroutines for %s (%s of the time that they ran by the scheduler): preempted %s, throttled %s, stopped %s, blocked %s; while they held locks: %s",
			measure.Time(o.All()), measure.Percent(o.All(), p.Busy+p.Spin+o.All()), measure.Time(o.Preempted), measure.Time(o.Throttled), measure.Time(o.Stopped), measure.Time(o.Blocked), measure.Time(o.Holding))
		if pg.t.AllSwitches() {
			return
		}
	}
	s.Say("off-CPU: the operating system kept running threads waiting for %s (%s of the time that goroutines ran by the scheduler)%s", pg.waited(), measure.Percent(p.OffCPU, p.Busy+p.Spin+p.OffCPU), pg.refused())
}

// refused says why the system did not tell when threads lost their processors, and what would make it tell.
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

// collected is the collector's processor time by its threads' clocks, which other load does not change.
func (pg *page) collected() string {
	c := &pg.p.CPU
	if c.Collector < 0 || !c.Known || c.Collector == pg.p.GC.Workers+pg.p.GC.Assists {
		return ""
	}
	return fmt.Sprintf(" by this trace, %s%s by their threads' clocks", measure.Time(c.Collector), ofProcess(c.Collector, c.User+c.System))
}

// ownLoad is the part of the time in which threads were kept waiting from which on what the process itself does beside
// its goroutines is named as a reason.
const ownLoad = 10

// load says what interfered.
func (pg *page) load() string {
	syscall := int64(0)
	for i := range pg.p.Entries {
		if e := &pg.p.Entries[i]; e.Kind == profile.KindGoroutine {
			syscall += e.SelfSyscall
		}
	}
	load := []string{"other load on this machine"}
	if syscall > pg.p.OffCPU {
		load = append(load, "what this program's system calls do beside its processors")
	}
	if beside := pg.p.CPU.Beside; beside > pg.p.OffCPU/ownLoad {
		load = append(load, fmt.Sprintf("the program's own threads without goroutines (the runtime's monitor, this tool), which used %s", measure.Time(beside)))
	}
	return strings.Join(load, ", or ")
}

func (pg *page) data() {
	p := pg.p
	s := pg.Add("data", "Data")
	s.Say("%s events read, %s of them procedure entries and exits", measure.Count(p.Events), measure.Count(p.Tool.Traced))
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
		s.Say("from %s on points only counted: %s limit, %s written", measure.Time(l.Time), l.Reason, measure.Bytes(l.Bytes))
	}
	pg.losses()
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
