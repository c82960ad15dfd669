package report

import (
	"fmt"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// doubt is a condition that makes all numbers doubtful, in a few words, and all of it.
type doubt struct{ short, all string }

// doubtful shows in a few words what makes all numbers doubtful.
func doubtful(s *doc.Section, list []doubt) {
	var words []string
	for _, d := range list {
		words = append(words, d.short)
	}
	if len(words) > 0 {
		s.Warn("%s: see \"How far to trust this\"", strings.Join(words, "; "))
	}
}

// doubts are what makes all numbers doubtful.
func (pg *page) doubts() (list []doubt) {
	p := pg.p
	add := func(short, format string, args ...any) {
		list = append(list, doubt{short, fmt.Sprintf(format, args...)})
	}
	if p.Losses.Incomplete != 0 && !p.Part {
		add("the last events of each thread are missing: the program was killed, or still runs",
			"the file has no end, and nothing of the program's memory was found to complete it: the last events of each thread are missing, so that goroutines may seem to run at the end that did not. Where the ring of a killed program is, qinst salvage completes its file")
	}
	if p.OffCPUMatters() && p.BusyKnown() {
		of := measure.Percent(p.OffCPU, p.Busy+p.Spin+p.OffCPU)
		kept := "the operating system kept running threads waiting for " + pg.waited()
		add(kept, "the operating system kept running threads waiting for %s (%s of the time that goroutines ran by the scheduler): %s; that time is [off-CPU], taken evenly out of all lines, because nothing tells which of them waited%s%s", pg.waited(), of, pg.load(), pg.pressure(), pg.refused())
	}
	if p.OffMatters() {
		list = append(list, pg.off())
	}
	if pg.t.Throttled > 0 && p.Off == nil {
		where := "in these numbers as busy time"
		if p.OffCPUMatters() {
			where = "in [off-CPU]"
		}
		stopped := "the control group's quota stopped the process for " + measure.Time(pg.t.Throttled)
		add(stopped, "%s, which is %s", stopped, where)
	}
	if steal := pg.t.Steal; steal > 0 && measure.Ratio(steal, p.Busy+p.Spin) > stealWarn {
		of := ""
		if n := pg.t.Int("ncpu"); n > 0 {
			of = fmt.Sprintf(" (%s of the time of its %s)", measure.Percent(steal, n*p.Wall), processors(int(n)))
		}
		took := fmt.Sprintf("a host took processors from this virtual machine for %s%s", measure.Time(steal), of)
		add(took, "%s, from all of its programs together: what of that hit this one is in these numbers as busy time, because nobody tells when", took)
	}
	for _, line := range noRoom(&pg.t.Memory) {
		add(line, "%s", line)
	}
	c, cpu, budget := &p.Tool.Cost, p.CPU.User+p.CPU.System, pg.t.Int("budget_permille")
	if budget > 0 && cpu > 0 && p.Tool.EventCost > 0 && float64(c.All) > budgetWarn*float64(cpu*budget)/1000 {
		what := "see the last section"
		if pg.remedy != nil {
			what = "the last section says what to leave out"
		}
		took := fmt.Sprintf("recording took about %s of the processor time (between %s and %s)", measure.Percent(c.All, cpu),
			measure.Percent(c.Lo, cpu), measure.Percent(c.Hi, cpu))
		add(took, "%s, so that the program took %.2f times as much; the budget is %.3g%%: %s", took,
			float64(cpu)/float64(max(1, cpu-c.All)), float64(budget)/10, what)
	}
	return list
}

// notes are about the limits of the report, with all of what makes its numbers doubtful.
func (pg *page) notes(list []doubt) {
	if len(pg.p.Notes) == 0 && len(list) == 0 {
		return
	}
	s := pg.Add("notes", "How far to trust this")
	for _, d := range list {
		s.Warn("%s", d.all)
	}
	for _, n := range pg.p.Notes {
		s.Note("%s", n)
	}
}

// off is about times in which the operating system had taken the processors of running goroutines.
func (pg *page) off() doubt {
	o, p := pg.p.Off, pg.p
	var parts []string
	unseen := "blocked in what the runtime does not see"
	if n := pg.t.Usage.Faults; n > 0 {
		unseen += fmt.Sprintf(" (%s waits of threads were for pages that had to be read)", measure.Count(n))
	}
	for _, part := range []struct {
		what string
		ns   int64
	}{{"preempted by other threads", o.Preempted}, {"throttled by the control group's quota", o.Throttled},
		{"stopped by a signal, or frozen", o.Stopped}, {unseen, o.Blocked}} {
		if part.ns > 0 {
			parts = append(parts, measure.Time(part.ns)+" "+part.what)
		}
	}
	took, of := "the operating system took processors from running goroutines for "+measure.Time(o.All()),
		measure.Percent(o.All(), p.Busy+p.Spin+o.All())
	return doubt{fmt.Sprintf("%s (%s)", took, of),
		fmt.Sprintf("%s (%s of the time that they ran by the scheduler): %s; the longest time was %s. That is [off-CPU], and in no busy time%s",
			took, of, strings.Join(parts, ", "), measure.Time(o.Longest), pg.pressure())}
}

// pressure reports the part of the run in which some thread waited for a processor, if it was
// large. The program's own threads are among them.
func (pg *page) pressure() string {
	part := measure.Ratio(pg.t.Pressure, pg.p.Wall)
	if part < pressureWarn {
		return ""
	}
	return fmt.Sprintf("; during %s of the run some thread of its control group, or of the machine, waited for a processor", measure.Percent(min(pg.t.Pressure, pg.p.Wall), pg.p.Wall))
}

// pressureWarn is the smallest share of the run for which the page reports pressure.
const pressureWarn = 0.1

// stealWarn is the smallest share of busy time for which the page reports steal time, which is that
// of all processors of the machine.
const stealWarn = 0.05

// budgetWarn is how many times the budget recording may take before the page says so first: what
// the cost is said to be is about that exact.
const budgetWarn = 1.2

// ownLoad is the part of the time for which threads were kept waiting above which the process's own
// work outside of goroutines is named as a cause.
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
