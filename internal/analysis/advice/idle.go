package advice

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// idleness finds times in which nothing ran, and their cause: not the wait of most goroutines at
// that time, but that of the one that ended it.
func idleness(f *Facts) []Item {
	p := f.Profile
	idle := p.Idle - p.IdleReady
	if f.Path != nil && f.Served == "" && len(outside(f)) > 0 {
		return lateThreads(p) // the path tells why
	}
	if measure.Ratio(idle, p.Wall) <= idleShare.value() {
		return lateThreads(p)
	}
	it := Item{ID: "idle", Claim: "nothing ran while goroutines waited", Subject: run,
		Evidence: []Fact{ns("nothing ran, and no goroutine was ready", idle)}}
	var calls, network, files int64
	for i := range p.IdleFor {
		switch f := &p.IdleFor[i]; {
		case f.Reason == "system call" && !callsC(p, f.Function):
			calls += f.Time
		case f.Reason == "IO wait" && isOfFile(f):
			files += f.Time
		case f.Reason == "IO wait":
			network += f.Time
		}
	}
	it.Evidence = append(it.Evidence, ns("until a system call ended", calls),
		ns("until the network was ready", network))
	if files > 0 {
		it.Evidence = append(it.Evidence, ns("until a pipe or a device was ready", files))
	}
	what := fmt.Sprintf("nothing ran for %s (%s of the run)", measure.Time(idle), measure.Percent(idle, p.Wall))
	if len(p.IdleFor) == 0 || p.IdleFor[0].Time == 0 {
		it.Remark, it.Text = true, strings.ToUpper(what[:1])+what[1:]+", and no event shows what goroutines waited for."
		return append([]Item{it}, lateThreads(p)...)
	}
	most := &p.IdleFor[0]
	it.Subject = waitsIn(p, most)
	it.Evidence = append(it.Evidence, ns("of it "+waited(p, most), most.Time))
	why := fmt.Sprintf("%s of that %s", measure.Percent(min(most.Time, idle), idle), waited(p, most))
	if 2*(calls+network+files) > idle {
		it.ID, it.Claim = "input-output", "nothing ran while goroutines waited for input and output"
		it.Text = "overlap input and output with work: " + what + "; " + why
		if network > 2*(calls+files) {
			it.Text += ". If it waited for requests, that is no loss"
		}
	} else {
		it.Text = what + "; " + why
	}
	// A server that waits for requests is no problem.
	it.Remark = 2*network > idle && slices.ContainsFunc(p.Objects, func(o profile.Object) bool { return o.Serves() })
	return append([]Item{it}, lateThreads(p)...)
}

// waited says what a goroutine did that ended an idle time, as the end of a sentence.
func waited(p *profile.Profile, f *profile.IdleFor) string {
	in := "a goroutine"
	if f.Function != "" {
		in = fmt.Sprintf("%s (%s:%d)", f.Function, path.Base(f.File), f.Line)
	}
	switch {
	case f.Reason == "system call" && callsC(p, f.Function):
		return "until a system call, or one of C, which may have worked, ended in " + in
	case f.Reason == "system call":
		return "until a system call ended in " + in
	case f.Reason == "IO wait" && isOfFile(f):
		return "until a pipe or a device was ready for " + in
	case f.Reason == "IO wait":
		return "until the network was ready for " + in
	case f.Reason == profile.StartedByTimer:
		return "until a timer called " + in
	case f.Reason == "sleep":
		return "until a sleep ended in " + in // others may have slept all the time
	case f.EndedBy == profile.EndedByTimer:
		return "until a timer ended a wait in " + in
	}
	return fmt.Sprintf("until a wait for %s (%s) ended in %s", f.Object, f.Reason, in)
}

// isOfFile reports whether a wait for input or output is one for a file, which is of no network: a
// pipe, a terminal, another device.
func isOfFile(f *profile.IdleFor) bool {
	return strings.HasPrefix(f.Function, "os.(*File).") || strings.HasPrefix(f.Object, "IO wait in os.(*File).")
}

// callsC reports whether a procedure calls C. The scheduler takes such calls for system calls.
func callsC(p *profile.Profile, procedure string) bool {
	return procedure != "" && slices.ContainsFunc(p.Calls, func(c profile.Call) bool {
		return c.Caller == procedure && strings.Contains(c.Callee, "._Cfunc_")
	})
}

// waitsIn is the procedure with such a wait as a subject.
func waitsIn(p *profile.Profile, f *profile.IdleFor) Subject {
	s := Subject{Kind: profile.KindProc, Name: f.Function, File: f.File, Line: f.Line}
	if f.Function == "" {
		return run
	}
	if i := slices.IndexFunc(p.Entries, func(e profile.Entry) bool {
		return e.Kind == profile.KindProc &&
			e.Name == f.Function
	}); i >= 0 {
		s.ID = p.Entries[i].ID
	}
	return s
}

// locked finds goroutines that are tied to threads, where ready goroutines wait for their threads:
// whoever hands something to such a one has to wake its thread, and its own may sleep meanwhile.
func locked(f *Facts) (out []Item) {
	if measure.Ratio(f.IdleReady, f.Wall) <= idleShare.value() {
		return nil
	}
	var most *profile.Call
	for i := range f.Calls {
		c := &f.Calls[i]
		if c.Callee == "runtime.LockOSThread" && (most == nil || c.Count > most.Count) {
			most = c
		}
	}
	if most == nil {
		return nil
	}
	s := Subject{Kind: profile.KindProc, Name: most.Caller, File: most.File, Line: most.Line}
	if e := f.written(most.Caller); e != nil {
		s.ID = e.ID
	}
	return []Item{{ID: "locked-threads", Claim: "goroutines that are tied to threads hand over to each other", Subject: s,
		Change: Release, AtMost: f.IdleReady,
		Evidence: []Fact{ns("a goroutine was ready, and none ran", f.IdleReady), count("calls of runtime.LockOSThread", most.Count)},
		Text: fmt.Sprintf("do not tie the goroutines of %s to threads (runtime.LockOSThread), or let them hand over more at a time: for %s (%s of the run) a goroutine was ready, and none ran, because each hand-over wakes a thread",
			at(&s), measure.Time(f.IdleReady), measure.Percent(f.IdleReady, f.Wall))}}
}

// lateThreads finds times in which goroutines were ready and none ran, because their threads were
// late. No change of a procedure ends them.
func lateThreads(p *profile.Profile) []Item {
	if measure.Ratio(p.IdleReady, p.Wall) <= idleShare.value() {
		return nil
	}
	why := "threads took that long to wake up, as they do where goroutines are tied to them or hand over little work at a time"
	if 2*p.CPU.Waited > p.IdleReady {
		why = "other programs had the processors that its threads waited for"
	}
	return []Item{{ID: "late-threads", Claim: "goroutines were ready, and their threads did not run", Subject: run,
		Remark: true,
		Evidence: []Fact{ns("a goroutine was ready, and none ran", p.IdleReady),
			ns("threads waited for processors", p.CPU.Waited)},
		Text: fmt.Sprintf("For %s of the run a goroutine was ready, and none ran: %s.",
			measure.Percent(p.IdleReady, p.Wall), why)}}
}

// spinning finds the cause of spinning: a loop that only waits, or a mutex, for which the runtime
// spins a little before the goroutine waits. A loop whose entries were only counted is found by
// samples.
func spinning(f *Facts) (out []Item) {
	p := f.Profile
	all := p.Busy + p.Spin
	var most *profile.Entry
	var loops int64
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindLoop && e.Spins {
			loops += spun(e)
			if most == nil || spun(e) > spun(most) {
				most = e
			}
		}
	}
	if of := measure.Ratio(loops, all); of >= spinShare.value() {
		out = append(out, Item{ID: "spinning", Claim: "loops that only wait take processor time", Subject: about(most),
			AtMost:   loops / int64(max(1, p.Procs)),
			Evidence: []Fact{ns("spinning", loops), share("of processor time", of)},
			Text: fmt.Sprintf("block instead of spinning: %s of the processor time went into loops that only wait, most of it in %s (%s:%d)",
				measure.Percent(loops, all), most.Name, most.File, most.Line)})
	}
	var lock *profile.Object
	for i := range p.Objects {
		if o := &p.Objects[i]; lock == nil || o.Spin > lock.Spin {
			lock = o
		}
	}
	if lock != nil && measure.Ratio(lock.Spin, all) >= spinShare.value() {
		out = append(out, Item{ID: "spinning-lock", Claim: "goroutines spin for a lock", Subject: aboutObject(lock),
			Evidence: []Fact{ns("spinning", lock.Spin), share("of processor time", measure.Ratio(lock.Spin, all))},
			Text: fmt.Sprintf("use %s less often, or hold it for a shorter time: %s of the processor time went into spinning for it",
				name(lock), measure.Percent(lock.Spin, all))})
	}
	return out
}

// spun is the processor time of a loop that only waits.
func spun(e *profile.Entry) int64 { return e.SelfSpin + e.SelfBusy }

// unprobed finds work in goroutines that ran no instrumented procedure. That is a remark: it limits
// the evidence, and needs no change of the program. If some had no room for a profile stack, it may
// be that they did, so that more probes would not help.
func unprobed(f *Facts) (out []Item) {
	p := f.Profile
	if p.Stackless > 0 {
		return nil
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if !isWritten(e) || measure.Ratio(e.Started, p.Busy) <= startedShare.value() {
			continue
		}
		out = append(out, Item{ID: "no-probes", Claim: "goroutines ran no instrumented procedure", Subject: about(e),
			Remark:   true,
			Evidence: []Fact{ns("busy in them", e.Started), share("of busy time", measure.Ratio(e.Started, p.Busy))},
			Text: fmt.Sprintf("%s of the self time of %s is time in which goroutines that it started ran no instrumented procedure: \"qinst run -refine\" adds probes to the packages that they run, unless what they run is inlined.",
				measure.Time(e.Started), e.Name)})
	}
	return out
}

// collector finds a garbage collector that takes a large part of the processor time, and the
// procedures that make the garbage.
func collector(f *Facts) []Item {
	p := f.Profile
	used, of, what := p.CPU.Collector, p.CPU.User+p.CPU.System, "of the processor time"
	if used < 0 { // a part of a run, or an older file: other load may be in both
		used, of, what = p.GC.Workers+p.GC.Assists, p.Busy, "of the busy time"
	}
	taking := int64(0) // what goroutines take to get memory, about
	if p.Memory != nil {
		taking = int64(perByte * float64(p.Memory.Bytes))
	}
	if measure.Ratio(used, of) < collectorShare.value() && (measure.Ratio(used, of) < someCollector.value() ||
		measure.Ratio(used+taking, of) < 1.5*collectorShare.value()) || p.GC.Cycles < 2 {
		return nil
	}
	it := Item{ID: "garbage-collector", Claim: "the garbage collector has much of the processor time", Subject: run,
		Change: LessWork, WhatIf: "gc=off",
		Evidence: []Fact{share("of processor time", measure.Ratio(used, of)), ns("collecting", used),
			count("cycles", p.GC.Cycles)}}
	it.Text = fmt.Sprintf("allocate less%s: the garbage collector took %s %s, in %s cycles", allocating(p, &it),
		measure.Percent(used, of), what, measure.Count(p.GC.Cycles))
	if measure.Ratio(taking, of) >= someCollector.value() {
		it.WhatIf, it.AtMost = "", p.Wall*(used+taking)/max(1, of)
		it.Evidence = append(it.Evidence, ns("to get memory, about", taking))
		it.Text += fmt.Sprintf(", and to get memory took %s to %s", measure.Percent(taking/6, of),
			measure.Percent(2*taking, of))
	}
	if p.Timeline != nil && len(p.Timeline.Heap) > 0 {
		most := int64(0)
		for _, h := range p.Timeline.Heap {
			most = max(most, h.Live)
		}
		it.Evidence = append(it.Evidence, Fact{"heap at most", float64(most), "bytes"})
		if it.Subject == run {
			it.Text += fmt.Sprintf("; the heap had %s at most", measure.Bytes(most))
		}
	}
	it.Text += ". With a larger GOGC or a GOMEMLIMIT it runs less often"
	return []Item{it}
}

// forced finds collections that the program asks for, and waits for.
func forced(f *Facts) (out []Item) {
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Kind != waitsForCycle || len(o.WaitedIn) == 0 || measure.Ratio(o.Wait, f.Wall) < forcedShare.value() {
			continue
		}
		s := Subject{Kind: profile.KindProc, Name: o.WaitedIn[0].Reason}
		if e := f.written(s.Name); e != nil {
			s = about(e)
		}
		out = append(out, Item{ID: "forced-collections", Claim: "the program waits for collections that it asks for", Subject: s,
			Change: Release, AtMost: min(o.Wait, f.Wall), Evidence: []Fact{count("waits", o.Waits), ns("waited", o.Wait),
				count("cycles", f.GC.Cycles)},
			Text: fmt.Sprintf("do not call runtime.GC in %s: on average %.2f goroutines waited there for the end of one of %s collections. What is to be given back can be by a call, without a finalizer",
				at(&s), measure.Ratio(o.Wait, f.Wall), measure.Count(f.GC.Cycles))})
	}
	return out
}

// waitsForCycle is the kind of what goroutines wait for in runtime.GC.
const waitsForCycle = "wait for GC cycle"

// perByte is the processor time of getting a byte of memory and clearing it, in ns: a twentieth of
// a ns in large objects, 0.6 in the smallest.
const perByte = 0.3

// allocating names the procedure that takes most memory, and makes it the subject, if its share is
// worth a look.
func allocating(p *profile.Profile, it *Item) string {
	m := p.Memory
	if m == nil || m.Places[0].Share < takenShare.value() || m.Places[0].Name == "" {
		return ""
	}
	t := &m.Places[0]
	it.Subject = Subject{Kind: profile.KindProc, Name: t.Name, File: t.File, Line: t.Line}
	if i := slices.IndexFunc(p.Entries, func(e profile.Entry) bool {
		return e.Kind == profile.KindProc &&
			e.Name == t.Name
	}); i >= 0 {
		it.Subject.ID, it.Subject.Line = p.Entries[i].ID, cmp.Or(t.Line, p.Entries[i].Line)
	}
	it.Evidence = append(it.Evidence, share("allocated there", t.Share),
		share("allocated there, at least", t.Between[0]), share("allocated there, at most", t.Between[1]))
	return fmt.Sprintf(" in %s, which takes %.0f to %.0f%% of all %s", At(t.Name, t.File, it.Subject.Line), 100*t.Between[0],
		100*t.Between[1], measure.Bytes(m.Bytes))
}
