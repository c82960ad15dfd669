package advice

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// rule finds conclusions of one kind.
type rule func(*Facts) []Item

// rules are applied in this order, which is that of conclusions whose gains are not known: those
// that name a possible change come first.
var rules = []rule{abandoned, leaks, endless, fewProcessors, locks, locked, semaphores, pools, connections,
	receivers, receivesAlone, barriers, batches, buffers,
	outside, serialWork, imbalance, unequalEndings, starvation, turns, idleness, tiny, herds, spinning,
	operations, mechanisms, farMemory, remembers, unread, afterAnswers, handovers, forced, stops, collector, unprobed}

// Of returns the conclusions that facts support, those whose change gains most first.
func Of(f *Facts) []Item {
	if f.items == nil {
		f.items = append([]Item{}, f.conclude()...)
	}
	return f.items
}

func (f *Facts) conclude() (list []Item) {
	p := f.Profile
	if p.Goroutines == 0 && len(p.Parallelism) < 2 {
		return nil // the run was only counted
	}
	if p.Ran > 0 && !p.Part && float64(p.Ran) < shortRun.value() {
		return []Item{{ID: "short-run", Claim: "the run is too short for conclusions", Subject: run, Remark: true,
			Evidence: []Fact{ns("run", p.Ran)},
			Text:     fmt.Sprintf("The run took %s: in so short a time programs start and end, and nothing can be concluded about their work.", measure.Time(p.Ran))}}
	}
	if !p.BusyKnown() {
		return []Item{{ID: "busy-unknown", Claim: "how long procedures ran is not known", Subject: run, Remark: true,
			Evidence: []Fact{ns("used by the process", p.CPU.User+p.CPU.System),
				ns("without a processor, at least", p.OffCPUs.Low), ns("without a processor, at most", p.OffCPUs.High)},
			Text: fmt.Sprintf("How long procedures ran cannot be said: the machine was too busy. The process used %s.",
				measure.Time(p.CPU.User+p.CPU.System))}}
	}
	if list = chained(f); len(list) > 0 && f.Chains[0].Cycle {
		return list // what else there is waits for that
	}
	for _, r := range rules {
		list = append(list, r(f)...)
	}
	list = f.recurrent(f.once(f.absorbed(f.weigh(list))))
	if len(Texts(list)) == 0 {
		if busy := saturated(f); busy != nil {
			return append(busy, list...)
		}
	}
	return append(list, f.more(list)...)
}

// waits are the conclusions that are about processors without work.
var waits = map[string]bool{"serial-run": true, "contended-lock": true, "saturated-lock": true, "pending-writer": true,
	"semaphore":    true,
	"one-receiver": true, "barrier": true, "small-buffer": true, "unequal-work": true,
	"few-parts": true, "data-dependence": true, "input-output": true, "idle": true, "serial-procedure": true,
	"one-goroutine": true,
	"one-processor": true}

// mostGain is by how much the run would be shorter if all processors had been busy all the time
// with the same work, in ns. Time in which the system kept threads waiting is no work, so that the
// bound holds under other load. Time that the machine is known to have taken is no gain either,
// because no change of the program returns it.
func mostGain(p *profile.Profile) int64 {
	return max(0, p.Wall-(p.Busy+p.Spin+p.Off.Waited())/int64(max(1, p.Procs)))
}

// Inconclusive reports whether the conclusions say why the program's work explains nothing.
func Inconclusive(list []Item) bool {
	return slices.ContainsFunc(list, func(it Item) bool {
		return it.ID == "short-run" || it.ID == "busy-unknown" ||
			it.ID == "late-threads" || it.ID == "pace"
	})
}

// Texts returns the texts of conclusions other than remarks.
func Texts(list []Item) (texts []string) {
	for i := range list {
		if !list[i].Remark {
			texts = append(texts, list[i].Text)
		}
	}
	return texts
}

// Absent says what a profile has none of, if no conclusion stands out: only what it has none of.
func Absent(p *profile.Profile) string {
	var none []string
	if !slices.ContainsFunc(p.Objects, func(o profile.Object) bool { return isQueuedFor(p, &o) }) {
		none = append(none, "no lock that is queued for")
	}
	if measure.Ratio(p.Alone, p.Wall) < serialShare.value() {
		none = append(none, "no part that runs alone")
	}
	switch idle := measure.Ratio(p.Idle+p.IdleOff, p.Wall); {
	case idle < 0.0005: // 0.0 %
		none = append(none, "no time in which nothing ran")
	case idle <= idleShare.value():
		none = append(none, "little time in which nothing ran")
	}
	if len(none) == 0 {
		return "Nothing stands out that a change would gain much from."
	}
	return "Nothing stands out: " + strings.Join(none, ", ") + "."
}

// serial reports whether the whole run was serial. Then it is not worth saying so of single
// procedures.
func serial(p *profile.Profile) bool {
	return p.Procs > 1 && measure.Ratio(p.Alone, p.Wall-p.Idle) > serialRun.value()
}

// Written reports whether an entry is a procedure of the source: not work of the runtime or the
// tool, nor time outside any procedure.
func Written(e *profile.Entry) bool {
	return e.Kind == profile.KindProc && e.ID != profile.NoProcedure && !strings.HasPrefix(e.Name, "[")
}

// isProgram reports whether an entry is of goroutines of the program, and not of the runtime's own.
func isProgram(e *profile.Entry) bool {
	return e.Kind == profile.KindGoroutine && (e.Name == "runtime.main" || !strings.HasPrefix(e.Name, "runtime."))
}

// unused returns the time in which some processor had no work of the program while others worked.
// The collector works on processors that are idle, and on a busy machine a processor seems busy
// whose thread waits: so at least it is the time in which one goroutine alone could run.
func unused(p *profile.Profile) int64 {
	idle := p.Wall - p.Idle
	for n := p.Procs; n < len(p.Parallelism); n++ {
		idle -= p.Parallelism[n]
	}
	return max(idle-p.Off.Waited(), p.Alone)
}

// given is the part of the time in which a processor seemed busy that the system gave it.
func given(p *profile.Profile) float64 {
	return 1 - measure.Ratio(p.OffCPU, p.Busy+p.Spin+p.OffCPU)
}
