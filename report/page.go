package report

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"qinst.dev/analysis/profile"
	"qinst.dev/trace"
)

// top is how many lines a table of the page has.
const top = 15

// Page writes the report that a new user wants: one page, each section with the
// numbers that its statements rest on.
func Page(w io.Writer, t *trace.Trace, p *profile.Profile) error {
	pg := &page{w: w, t: t, p: p}
	sections := []func() error{pg.summary, pg.parallelism, pg.procedures, pg.loops, pg.goroutines, pg.regions, pg.objects, pg.lost, pg.data, pg.cost, pg.hints}
	if p.Goroutines == 0 {
		sections = []func() error{pg.counted, pg.data, pg.cost}
	}
	return pg.write(sections...)
}

func (pg *page) write(sections ...func() error) error {
	for _, section := range sections {
		if err := section(); err != nil {
			return err
		}
	}
	return nil
}

type page struct {
	w io.Writer
	t *trace.Trace
	p *profile.Profile
}

func (pg *page) say(format string, args ...any) { fmt.Fprintf(pg.w, format+"\n", args...) }

func (pg *page) head(title string) { pg.say("\n%s", strings.ToUpper(title)) }

func (pg *page) program() {
	name := pg.p.Program
	if name == "" {
		name = "program"
	}
	version, _ := pg.t.Attr("go").(string)
	pg.say("%s  %s", name, version)
}

// counted is the page of a run that only counted: there are no times to show.
func (pg *page) counted() error {
	pg.program()
	pg.say("ran %s; this run only counted: calls are exact, there are no times", dur(pg.p.Wall))
	pg.head("Procedures, by calls")
	var list []*profile.Entry
	for i := range pg.p.Entries {
		if e := &pg.p.Entries[i]; e.Calls > 0 {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *profile.Entry) int { return cmp.Compare(b.Calls, a.Calls) })
	t := &table{left: map[int]bool{2: true}}
	t.row("name", "calls", "")
	for _, e := range list[:min(2*top, len(list))] {
		t.row(short(e.Name, nameWidth), count(e.Calls), fmt.Sprintf("%s:%d", e.File, e.Line))
	}
	return t.write(pg.w, "  ")
}

func (pg *page) summary() error {
	t, p := pg.t, pg.p
	pg.program()
	notes(pg.w, p)
	if int64(t.Ran) > p.Wall {
		pg.say("ran %s; the first %s were traced, and all times are about those", dur(t.Ran), dur(p.Wall))
	}
	pg.say("ran %s on up to %d processors; %s goroutines", dur(p.Wall), p.Procs, count(p.Goroutines))
	if t.End.Known {
		pg.say("ended: %s, status %d", t.End.Reason, t.End.Status)
	}
	pg.say("average parallelism %.2f while anything ran; nothing ran for %s (%s)", ratio(p.Busy, p.NPTSum), dur(p.Idle), percent(p.Idle, p.Wall))
	pg.say("over the run: effective parallelism %.2f (busy), nominal %.2f (running or ready, spinning too)", p.Effective, p.Nominal)
	if p.CPU.Known {
		cpu := p.CPU.User + p.CPU.System
		pg.say("processor time: %s busy by this trace; the operating system counts %s used, %s of it to write this file, and kept threads waiting for %s",
			dur(p.Busy), dur(cpu), dur(p.CPU.Writer), dur(p.OffCPU))
	}
	return nil
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (pg *page) parallelism() error {
	pg.head("Processors busy")
	t := &table{left: map[int]bool{3: true}}
	for i, ns := range pg.p.Parallelism {
		t.row(fmt.Sprint(i), dur(ns), percent(ns, pg.p.Wall), bar(ns, pg.p.Wall, 50))
	}
	return t.write(pg.w, "  ")
}

func (pg *page) procedures() error {
	pg.head("Procedures, by self NPT")
	pg.say("  NPT is processor time divided by the processors busy at the time: it adds up to the run time.")
	pg.say("  It says where the run is, not what a change would gain: work that is done before anybody waits for it has slack.")
	pg.say("  npt, busy, blocked, ready, syscall: with all that was called and started on the procedure's behalf.")
	return pg.entries(profile.KindProc, func(e *profile.Entry) int64 { return e.SelfNPT })
}

func (pg *page) loops() error {
	var list []*profile.Entry
	for i := range pg.p.Entries {
		if e := &pg.p.Entries[i]; e.Kind == profile.KindLoop {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *profile.Entry) int {
		return cmp.Or(cmp.Compare(b.NPT, a.NPT), cmp.Compare(b.Spin, a.Spin))
	})
	pg.head("Loops, by NPT")
	pg.say("  A loop's time is its procedure's too. Iterations are those of the entries that were traced.")
	t := &table{left: map[int]bool{7: true}}
	t.row("loop", "npt", "%", "entered", "iterations", "busy", "spin", "")
	for _, e := range list[:min(top, len(list))] {
		t.row(short(e.Name, loopWidth), dur(e.NPT), percent(e.NPT, pg.p.Wall), count(e.Calls), count(e.Trips), dur(e.Busy), dur(e.Spin),
			fmt.Sprintf("%s:%d", path.Base(e.File), e.Line))
	}
	if err := t.write(pg.w, "  "); err != nil {
		return err
	}
	if n := len(list) - top; n > 0 {
		pg.say("  and %d more: qinst profile", n)
	}
	return nil
}

func (pg *page) goroutines() error {
	pg.head("Goroutines, by start function and creator")
	return pg.entries(profile.KindGoroutine, func(e *profile.Entry) int64 { return e.SelfNPT })
}

// entries writes the first entries of a kind and says how many are left out.
func (pg *page) entries(kind string, key func(*profile.Entry) int64) error {
	var list []*profile.Entry
	for i := range pg.p.Entries {
		if e := &pg.p.Entries[i]; e.Kind == kind {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *profile.Entry) int { return cmp.Compare(key(b), key(a)) })
	t := entryTable(kind == profile.KindGoroutine)
	for _, e := range list[:min(top, len(list))] {
		entryRow(t, pg.p, e)
	}
	if err := t.write(pg.w, "  "); err != nil {
		return err
	}
	if n := len(list) - top; n > 0 {
		var rest int64
		for _, e := range list[top:] {
			rest += e.SelfNPT
		}
		pg.say("  and %d more with %s self NPT together: qinst profile", n, dur(rest))
	}
	return nil
}

func (pg *page) regions() error {
	t := entryTable(false)
	rows := 0
	for i := range pg.p.Entries {
		e := &pg.p.Entries[i]
		if (e.Kind == profile.KindRegion || e.Kind == profile.KindLabels) && rows < top {
			entryRow(t, pg.p, e)
			rows++
		}
	}
	if rows == 0 {
		return nil
	}
	pg.head("Regions and labels, by NPT")
	pg.say("  What goroutines used in a region, without what they started in it.")
	return t.write(pg.w, "  ")
}

func (pg *page) objects() error {
	list := slices.DeleteFunc(slices.Clone(pg.p.Objects), func(o profile.Object) bool { return o.Wait == 0 && o.Hold == 0 })
	if len(list) == 0 {
		return nil
	}
	pg.head("Synchronization, by time waited")
	if err := objectTable(pg.w, pg.p, list[:min(top, len(list))]); err != nil {
		return err
	}
	if n := len(list) - top; n > 0 {
		pg.say("  and %d more: qinst profile -by sync", n)
	}
	return nil
}

// objectTable writes what is known of synchronization objects.
func objectTable(w io.Writer, p *profile.Profile, list []profile.Object) error {
	fmt.Fprintln(w, "  Waits are those of every package; uses and holds are known where a package is instrumented.")
	fmt.Fprintln(w, "  npt: of those who hold it. queue: mean and most of an object. blamed: who held a lock, or did something else before ending a wait.")
	t := &table{left: map[int]bool{9: true}}
	t.row("object", "npt", "waited", "waits", "worst", "held", "uses", "queue", "objects", "blamed on")
	for i := range list {
		o := &list[i]
		by, held, uses, npt := "", "", "", ""
		if len(o.Blamed) > 0 {
			by = fmt.Sprintf("%s %s", short(o.Blamed[0].Reason, nameWidth), percent(o.Blamed[0].Time, o.Wait))
		}
		if o.Holds > 0 {
			held, npt = dur(o.Hold), dur(o.NPT())
		}
		if o.Ops > 0 {
			uses = count(o.Ops)
		}
		t.row(short(o.Name, loopWidth), npt, dur(o.Wait), count(o.Waits), dur(o.Worst), held, uses,
			fmt.Sprintf("%.2f %d", meanQueue(p, o), max(o.Queue, len(o.Waiting)-1)), fmt.Sprint(o.Objects), by)
	}
	return t.write(w, "  ")
}

// meanQueue is how many goroutines wait for an object on average.
func meanQueue(p *profile.Profile, o *profile.Object) float64 {
	return ratio(o.Wait, p.Wall*int64(max(1, o.Objects)))
}

func (pg *page) lost() error {
	p := pg.p
	pg.head("Where time was lost")
	pg.say("  idle: no processor busy for %s (%s of the run)", dur(p.Idle), percent(p.Idle, p.Wall))
	unused := int64(p.Procs)*p.Wall - p.Busy
	pg.say("  unused: %s of %s processor time (%s)", dur(unused), dur(int64(p.Procs)*p.Wall), percent(unused, int64(p.Procs)*p.Wall))
	var ready, syscall int64
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindGoroutine {
			ready += e.SelfReady
			syscall += e.SelfSyscall
		}
	}
	pg.say("  ready: goroutines waited %s for a processor, %.2f at a time", dur(ready), ratio(ready, p.Wall))
	if p.Spin > 0 {
		pg.say("  spinning: %s of processor time in loops that only waited for shared state to change (%s of busy and spinning)", dur(p.Spin), percent(p.Spin, p.Busy+p.Spin))
	}
	pg.say("  scheduler: processors looked for work, or switched, for %s (%s of processor time)", dur(p.Searched), percent(p.Searched, int64(p.Procs)*p.Wall))
	if c := p.GC; c.Cycles > 0 || c.Stops > 0 {
		pg.say("  garbage collector: %s cycles, marking for %s of the run; workers %s and assists %s of processor time; the world stopped %s times, for %s",
			count(c.Cycles), dur(c.Marking), dur(c.Workers), dur(c.Assists), count(c.Stops), dur(c.Stopped))
	}
	if all, most := syncCost(p); most != nil {
		ops := uint64(0)
		for i := range p.Objects {
			ops += p.Objects[i].Ops
		}
		pg.say("  synchronization: %s operations, about %s of processor time by themselves (%s of busy): counted, times what they cost in a loop", count(ops), dur(all), percent(all, p.Busy))
	}
	pg.say("  memory and caches (thrashing): not measured")
	pg.say("  system calls that lost their processor: %s", dur(syscall))
	pg.offCPU(syscall)
	if len(p.BlockedBy) == 0 {
		return nil
	}
	pg.say("  blocked, summed over the program's goroutines:")
	t := &table{left: map[int]bool{}}
	for _, w := range p.BlockedBy[:min(8, len(p.BlockedBy))] {
		t.row(w.Reason, dur(w.Time), fmt.Sprintf("%.2f at a time", ratio(w.Time, p.Wall)))
	}
	return t.write(pg.w, "    ")
}

// offCPUWarn is the share of the busy time from which on the operating system's
// interference makes the other numbers doubtful.
// A few thread starts are no interference.
const (
	offCPUWarn  = 0.02
	offCPULeast = int64(time.Millisecond)
)

// offCPU says how long threads waited for a processor of the machine's; syscall is how long
// goroutines were in system calls without one of the scheduler's, which may have taken it.
func (pg *page) offCPU(syscall int64) {
	p := pg.p
	pg.say("  off-CPU: the operating system kept running threads waiting for %s (%s of busy)", dur(p.OffCPU), percent(p.OffCPU, p.Busy+p.Spin))
	if p.OffCPU > offCPULeast && ratio(p.OffCPU, p.Busy+p.Spin) > offCPUWarn {
		load := "other load on this machine"
		if syscall > p.OffCPU {
			load += ", or what this program's own system calls do beside its processors,"
		}
		pg.say("  WARNING: that is above %.0f %%: %s is in these numbers as busy time", 100*offCPUWarn, load)
	}
	if pg.t.Throttled > 0 {
		pg.say("  WARNING: the control group's quota stopped the process for %s", dur(pg.t.Throttled))
	}
}

func (pg *page) data() error {
	p := pg.p
	pg.head("Data")
	pg.say("  %s events read, %s of them procedure entries and exits", count(p.Events), count(p.Tool.Traced))
	crowded := noRoom(&pg.t.Memory)
	if !p.Losses.Any() && p.Degraded == 0 && len(crowded) == 0 {
		pg.say("  nothing lost, nothing degraded")
	}
	if err := pg.levels(); err != nil {
		return err
	}
	if err := pg.extensions(); err != nil {
		return err
	}
	for _, l := range pg.t.Limits {
		pg.say("  from %s on points only counted: %s limit, %s written", dur(l.Time), l.Reason, bytesOf(l.Bytes))
	}
	for _, line := range crowded {
		pg.say("  %s", line)
	}
	return losses(pg.w, p)
}

// hints says what the numbers support, and nothing where they do not.
func (pg *page) hints() error {
	list := hints(pg.p)
	if len(list) == 0 {
		return nil
	}
	pg.head("Hints")
	for _, h := range list {
		pg.say("  - %s", h)
	}
	return nil
}
