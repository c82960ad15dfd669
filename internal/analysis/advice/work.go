package advice

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// serialParts finds the parts of a run in which one goroutine alone could run, unless that is
// because the others waited for an object, which is a conclusion of its own.
func serialParts(f *Facts) []Item {
	p := f.Profile
	if p.Procs < 2 || measure.Ratio(p.Alone, p.Wall) < serialShare.value() || explained(f, p.Alone) {
		return nil
	}
	of := measure.Percent(p.Alone, p.Wall)
	if serial(p) {
		return []Item{{ID: "serial-run", Claim: "the run is serial", Subject: run,
			Evidence: []Fact{ns("time with one runnable goroutine", p.Alone), count("processors", p.Procs)},
			Text:     fmt.Sprintf("the run is serial: for %s (%s of the run) no second goroutine had work for another of the %d processors", measure.Time(p.Alone), of, p.Procs)}}
	}
	if best := alone(p); best != nil {
		return []Item{{ID: "one-processor", Claim: "one goroutine alone could run on behalf of a procedure",
			Subject: about(best), Change: StartTogether, WhatIf: divided(p, "calls:"+best.Name),
			Evidence: []Fact{ns("on its behalf", best.Alone), ns("time with one runnable goroutine", p.Alone)},
			Text: fmt.Sprintf("divide the work of %s%s among goroutines, or do it beside other work: for %s (%s of the run) it kept one processor busy, and no other goroutine could run",
				best.Name, f.mostIn(best), measure.Time(best.Alone), measure.Percent(best.Alone, p.Wall))}}
	}
	if list := serialProcs(f); len(list) > 0 || len(imbalance(f)) > 0 {
		return list
	}
	return lonely(p)
}

// divided is the change that lets all processors do a part of something.
func divided(p *profile.Profile, of string) string {
	return fmt.Sprintf("%s=-%.0f%%", of, 100*(1-1/float64(p.Procs)))
}

// lonely names the goroutines that could run alone, if no procedure has most of that time to
// itself.
func lonely(p *profile.Profile) []Item {
	var most *profile.Entry
	for i := range p.Entries {
		if e := &p.Entries[i]; isProgram(e) && (most == nil || e.SelfAlone > most.SelfAlone) {
			most = e
		}
	}
	if most == nil || measure.Ratio(most.SelfAlone, p.Wall) < serialShare.value() {
		return nil
	}
	it := Item{ID: "one-goroutine", Claim: "one goroutine alone could run", Subject: about(most), Change: StartTogether,
		WhatIf: divided(p, ofLone(p, most)),
		Evidence: []Fact{ns("of goroutines of this kind", most.SelfAlone),
			ns("time with one runnable goroutine", p.Alone)},
		Text: fmt.Sprintf("give more goroutines work at the same time: for %s (%s of the run) one alone could run, for %s of that %s%s",
			measure.Time(p.Alone), measure.Percent(p.Alone, p.Wall), measure.Percent(most.SelfAlone, p.Alone),
			oneOf(most), within(p.AlonePath))}
	var proc *profile.Entry
	for i := range p.Entries {
		if e := &p.Entries[i]; Written(e) && (proc == nil || e.SelfAlone > proc.SelfAlone) {
			proc = e
		}
	}
	if proc != nil && 2*proc.SelfAlone > p.Alone {
		it.Subject = about(proc)
		it.Evidence = append(it.Evidence, ns("in "+proc.Name, proc.SelfAlone))
		it.Text += fmt.Sprintf("; %s of it in %s's own code", measure.Percent(proc.SelfAlone, p.Alone), proc.Name)
	}
	return []Item{it}
}

// ofLone is the work that would have to be divided: of the procedures in which one goroutine alone
// could run the innermost that did so most of the time, or what the goroutine did.
func ofLone(p *profile.Profile, most *profile.Entry) string {
	for _, name := range slices.Backward(p.AlonePath) {
		for i := range p.Entries {
			if e := &p.Entries[i]; Written(e) && e.Name == name &&
				measure.Ratio(e.Alone, e.CallBusy) >= aloneShare.value() && 2*e.CallBusy >= p.Alone {
				return "calls:" + name
			}
		}
	}
	if most.Name == "runtime.main" {
		return "calls:main.main"
	}
	return most.Name
}

// oneOf names a goroutine of a kind.
func oneOf(e *profile.Entry) string {
	if e.Name == "runtime.main" {
		return "the main goroutine"
	}
	return "one of go " + e.Name
}

// explained reports whether waits for an object that is a conclusion itself fill most of a time.
func explained(f *Facts, ns int64) bool {
	p := f.Profile
	for _, rule := range []rule{locks, semaphores, receivers, barriers, buffers} {
		for _, it := range rule(f) {
			for i := range p.Objects {
				if o := &p.Objects[i]; o.Name == it.Subject.Name &&
					2*timeWaiting(o, 1) > ns {
					return true
				}
			}
		}
	}
	return false
}

// imbalance finds goroutines of one kind with unequal work, while processors are free.
func imbalance(f *Facts) (out []Item) {
	p := f.Profile
	if p.Procs < 2 || measure.Ratio(unused(p), p.Wall) < unusedShare.value() {
		return nil
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if !isProgram(e) || e.Calls < 2 || !f.HasProbes(e.Name) {
			// others, as those of a server's connections, have the work that comes
			continue
		}
		others := float64(e.Got-e.Longest) / float64(e.Calls-1)
		if float64(e.Longest) < balanceRatio.value()*others ||
			measure.Ratio(e.Longest, p.Wall) < balanceShare.value()*given(p) {
			continue
		}
		out = append(out, Item{ID: "unequal-work", Claim: "one goroutine of a kind has more work than the others",
			Subject: about(e), Change: Balance, WhatIf: "balance:" + e.Name + "=even",
			Evidence: []Fact{count("goroutines", e.Calls), ns("longest", e.Longest),
				ns("the others on average", int64(others)),
				number("longest over the others", measure.Ratio(e.Longest, int64(others))),
				ns("time with an unused processor", unused(p))},
			Text: fmt.Sprintf("balance the load of the %s goroutines %s: one of them worked for %s, the others for %s on average, and not all processors were busy for %s",
				measure.Count(e.Calls), e.Name, measure.Time(e.Longest), measure.Time(int64(others)),
				measure.Time(unused(p)))})
	}
	return out
}

// starvation finds work that is in fewer goroutines than there are processors.
func starvation(f *Facts) (out []Item) {
	p := f.Profile
	for i := range p.Entries {
		e := &p.Entries[i]
		if !isProgram(e) || e.Calls < 2 || e.Calls >= uint64(p.Procs) ||
			measure.Ratio(e.SelfBusy, p.Busy) < starvedShare.value() ||
			measure.Ratio(unused(p), p.Wall) < unusedShare.value() {
			continue
		}
		if together := measure.Ratio(e.SelfBusy, e.SelfNPT); together < aloneBusy.value() {
			continue // they do not even run at the same time
		}
		out = append(out, Item{ID: "few-parts", Claim: "the work is in fewer goroutines than there are processors",
			Subject: about(e), Change: MoreWorkers,
			Evidence: []Fact{count("goroutines", e.Calls), count("processors", p.Procs),
				share("of busy time", measure.Ratio(e.SelfBusy, p.Busy)),
				ns("time with an unused processor", unused(p))},
			Text: fmt.Sprintf("split the work into more parts: %s of it is in %s goroutines %s, fewer than the %d processors, which were not all busy for %s (starvation by small problem size)",
				measure.Percent(e.SelfBusy, p.Busy), measure.Count(e.Calls), e.Name, p.Procs, measure.Time(unused(p)))})
	}
	return out
}

// turns finds goroutines of one kind that work in turn, and wait for each other: Quartz's data
// dependence of a loop.
func turns(f *Facts) (out []Item) {
	p := f.Profile
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Lock() && 5*o.Wait > p.Wall {
			return nil // a lock makes them take turns
		}
	}
	if len(semaphores(f)) > 0 {
		return nil // or a channel does
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if !isProgram(e) || e.Calls < 2 || p.Procs < 2 || measure.Ratio(e.SelfNPT, p.Wall) < turnShare.value() {
			continue
		}
		alone := measure.Ratio(e.SelfBusy, e.SelfNPT)
		others := float64(e.Got-e.Longest) / float64(e.Calls-1)
		if alone > aloneBusy.value() || float64(e.Longest) > 2*others ||
			measure.Ratio(e.SelfBlocked, p.Wall) < 0.2*float64(e.Calls-1) {
			continue
		}
		out = append(out, Item{ID: "data-dependence", Claim: "goroutines of a kind work one behind the other",
			Subject: about(e),
			Evidence: []Fact{count("goroutines", e.Calls), number("processors busy during their work", alone),
				ns("busy", e.SelfBusy), ns("blocked", e.SelfBlocked)},
			Text: fmt.Sprintf("the %s goroutines %s work one behind the other, as if each needed the result of the one before: %.2f processors were busy on average in their %s. Only another order of the work lets them run together",
				measure.Count(e.Calls), e.Name, alone, measure.Time(e.SelfBusy))})
	}
	return out
}

// within says in which procedures something was: the innermost ones.
func within(path []string) string {
	const most = 2
	if len(path) == 0 {
		return ""
	}
	text := ", in "
	if len(path) > most {
		text, path = ", in ... > ", path[len(path)-most:]
	}
	return text + strings.Join(path, " > ")
}

// serialProcs finds procedures whose own code ran while no other goroutine could.
func serialProcs(f *Facts) (out []Item) {
	p := f.Profile
	for i := range p.Entries {
		e := &p.Entries[i]
		if !Written(e) || measure.Ratio(e.SelfAlone, p.Wall) < serialShare.value() {
			continue
		}
		own := e.SelfBusy + e.SelfSpin + e.SelfReady
		if measure.Ratio(e.SelfAlone, own) >= aloneShare.value() {
			it := Item{ID: "serial-procedure", Claim: "a procedure ran almost alone", Subject: f.whose(e),
				Change: StartTogether, WhatIf: divided(p, "self:"+e.Name),
				Evidence: []Fact{ns("alone", e.SelfAlone), ns("self busy", e.SelfBusy),
					share("of the run", measure.Ratio(e.SelfAlone, p.Wall))},
				Text: fmt.Sprintf("%s ran almost alone: for %s (%s of the run) no other goroutine could run beside it",
					e.Name, measure.Time(e.SelfAlone), measure.Percent(e.SelfAlone, p.Wall))}
			f.setUp(&it, e)
			out = append(out, it)
		}
	}
	return out
}

// alone finds the procedure on whose behalf nearly all of the time with one runnable goroutine was
// spent, and nearly all of whose time was that: of several the most specific one. It returns nil if
// there is none.
func alone(p *profile.Profile) (best *profile.Entry) {
	for i := range p.Entries {
		e := &p.Entries[i]
		if !Written(e) || measure.Ratio(e.Alone, p.Alone) < aloneShare.value() ||
			measure.Ratio(e.Alone, e.Busy+e.Spin+e.Ready) < aloneShare.value() {
			continue
		}
		if best == nil || e.Busy < best.Busy {
			best = e
		}
	}
	return best
}

// saturated says, if nothing else is found and all processors are busy, that only less work helps,
// and in which procedure it helps most. It is a remark, because this is normal in a healthy
// program. Where the system kept threads waiting, the processors were busy with something else.
func saturated(f *Facts) []Item {
	p := f.Profile
	if len(p.Parallelism) <= p.Procs || measure.Ratio(p.Parallelism[p.Procs], p.Wall)*given(p) < 1-unusedShare.value() {
		return nil
	}
	most, words := f.mostWorth()
	if len(most) == 0 {
		return nil
	}
	all, ready := p.Parallelism[p.Procs], int64(0)
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindGoroutine {
			ready += e.SelfReady
		}
	}
	mean := measure.Ratio(ready, p.Wall)
	busy := fmt.Sprintf("All %d processors were", p.Procs)
	if p.Procs == 1 {
		busy = "The one processor was"
	}
	text := fmt.Sprintf("%s busy for %s of the run: only less work helps. Own code worth most of it: %s.", busy,
		measure.Percent(all, p.Wall), words)
	if mean > readyPerProc.value()*float64(p.Procs) {
		text += fmt.Sprintf(" On average %.1f goroutines were ready, and waited for one.", mean)
	}
	return []Item{{ID: "all-busy", Claim: "all processors were busy", Subject: about(most[0]), Remark: true,
		Evidence: []Fact{ns("time with all processors busy", all),
			share("of the run for its own code", measure.Ratio(f.worthOf(most[0]), p.Wall)),
			number("goroutines ready on average", mean)},
		Text: text}}
}

// fewProcessors finds programs that use fewer processors than they might, all of the time or for
// some of it, and are short of them.
func fewProcessors(f *Facts) []Item {
	p := f.Profile
	n, during := fewest(f)
	if p.Virtual > 0 || during == 0 || len(p.Parallelism) <= n {
		return nil
	}
	all := allBusy(p, n, during)
	if measure.Ratio(all, during) < procsShare.value() {
		return nil
	}
	ready := int64(0)
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindGoroutine {
			ready += e.SelfReady
		}
	}
	mean := measure.Ratio(ready, p.Wall)
	if mean < readyShare.value() {
		return nil
	}
	it := Item{ID: "few-processors", Claim: "GOMAXPROCS is less than the processors that the program might use",
		Subject: run, Change: Procs, AtMost: during - during*int64(n)/int64(f.CPUs),
		Evidence: []Fact{count("GOMAXPROCS", n), count("processors", f.CPUs),
			number("goroutines ready on average", mean),
			share("of the run with all of them busy", measure.Ratio(all, p.Wall))}}
	span := ""
	whole := measure.Ratio(during, p.Wall) > wholeRun
	if !whole {
		span = fmt.Sprintf(" for %s", measure.Time(during))
	}
	it.Text = fmt.Sprintf("use all %d processors: GOMAXPROCS was %d%s, these were busy for %s of the run, and %.1f goroutines were ready on average and waited for one",
		f.CPUs, n, span, measure.Percent(all, p.Wall), mean)
	// A run computed on other processors is one that had these from its beginning to its end.
	if f.Gains != nil && f.Served == "" && whole {
		if of := f.Gains.OnProcs(f.CPUs); !of.Unknown {
			it.gives(f, 100*(1-measure.Ratio(of.Hi, p.Wall)), 100*(1-measure.Ratio(of.T, p.Wall)),
				100*(1-measure.Ratio(of.Lo, p.Wall)))
		}
	}
	if it.Gain == nil {
		it.Text += fmt.Sprintf(". Gain: %s of the run at most", measure.Percent(it.AtMost, p.Wall))
	}
	return []Item{it}
}

// allBusy is the least time in which n processors were busy while GOMAXPROCS was n. Outside of that
// time as many may have been busy, too, but not while more were.
func allBusy(p *profile.Profile, n int, during int64) int64 {
	outside := p.Wall - during
	for _, ns := range p.Parallelism[n+1:] {
		outside -= ns
	}
	return min(during, p.Parallelism[n]-max(0, outside))
}

// wholeRun is the share of the run from which on GOMAXPROCS counts as set for all of it: a program
// may set it when it starts.
const wholeRun = 0.95

// fewest is a GOMAXPROCS that is less than the processors that the program might use, and for how
// long it was that: the one that leaves most of them unused. 0: there is none.
func fewest(f *Facts) (n int, during int64) {
	of := f.ProcsFor
	if len(of) == 0 {
		of = map[int]int64{f.Procs: f.Wall}
	}
	unused := int64(0)
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if left := int64(f.CPUs-k) * of[k]; left > unused {
			n, during, unused = k, of[k], left
		}
	}
	return n, during
}
