package advice

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
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
		Change: Release, likely: f.IdleReady,
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
	asks := f.asking()
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindLoop && (e.Spins || asks[e.Name]) {
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
			Text: fmt.Sprintf("block instead of spinning: %s of the processor time went into loops that only wait, most of it in %s",
				measure.Percent(loops, all), At(most.Name, most.File, most.Line))})
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

// asking are the loops that ask channels over and over without a pause, by selects with a default.
// A point has the line of its operation: the loop is the last one of its procedure that begins
// before it.
func (f *Facts) asking() map[string]bool {
	names := map[string]bool{}
	if f.Program == nil {
		return names
	}
	t := f.Program.R.T
	for i := range t.Points {
		p, loop := &t.Points[i], trace.NoPoint
		if p.Flags&spec.FlagAsks == 0 || f.Program.Pauses[p.Owner] > 0 {
			continue
		}
		for k := range t.Points {
			l := &t.Points[k]
			if l.Kind == spec.PointLoop && l.Owner == p.Owner && l.Line <= p.Line &&
				(loop == trace.NoPoint || l.Line > t.Points[loop].Line) {
				loop = trace.PointID(k)
			}
		}
		if loop != trace.NoPoint {
			names[t.NameOf(loop)] = true
		}
	}
	return names
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
		if !Written(e) || measure.Ratio(e.Started, p.Busy) <= startedShare.value() {
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
