package advice

import (
	"fmt"
	"slices"

	"qinst.dev/cmd/internal/analysis/profile"
	"qinst.dev/cmd/internal/measure"
)

// idleness finds times in which nothing ran, and the objects waited for.
func idleness(p *profile.Profile) []Item {
	if measure.Ratio(p.Idle, p.Wall) <= idleShare.value() {
		return nil
	}
	var calls int64
	var ends *profile.Entry
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Kind == profile.KindGoroutine {
			calls += e.SelfSyscall
		}
		if e.Kind == profile.KindProc && e.ID != profile.NoProcedure && (ends == nil || e.SelfIdle > ends.SelfIdle) {
			ends = e
		}
	}
	network := int64(0)
	for _, w := range p.BlockedBy {
		if w.Reason == "IO wait" {
			network += w.Time
		}
	}
	it := Item{Subject: run, Evidence: []Fact{ns("nothing ran", p.Idle), ns("in system calls", calls), ns("waited for the network", network)}}
	ended := ""
	if ends != nil && ends.SelfIdle*2 > p.Idle {
		it.Subject = about(ends)
		it.Evidence = append(it.Evidence, ns("of it ended by "+ends.Name, ends.SelfIdle))
		ended = fmt.Sprintf("; %s ended %s of that time", ends.Name, measure.Percent(ends.SelfIdle, p.Idle))
	}
	requests := ""
	if network > 2*calls {
		requests = ". If it waited for requests, that is no loss"
	}
	switch input := calls + network; {
	case input*2 > p.Idle:
		it.ID, it.Claim = "input-output", "nothing ran while goroutines waited for input and output"
		it.Text = fmt.Sprintf("overlap input and output with work: nothing ran for %s (%s of the run), while goroutines were in system calls or waited for the network for %s%s%s",
			measure.Time(p.Idle), measure.Percent(p.Idle, p.Wall), measure.Time(input), ended, requests)
	case len(p.BlockedBy) > 0:
		it.ID, it.Claim = "idle", "nothing ran while goroutines waited"
		it.Text = fmt.Sprintf("nothing ran for %s of the run; most waiting was for: %s%s", measure.Percent(p.Idle, p.Wall), mostWaited(p), ended)
	default:
		return nil
	}
	// A server that waits for requests is no problem.
	it.Remark = network > 2*calls && slices.ContainsFunc(p.Objects, func(o profile.Object) bool { return o.Serves() })
	return []Item{it}
}

// mostWaited is what the program waited for most: the runtime's reason and, if it is known, the object.
func mostWaited(p *profile.Profile) string {
	for i := range p.Objects {
		if o := &p.Objects[i]; !o.Idle && len(o.WaitedFor) > 0 {
			return fmt.Sprintf("%s (%s)", o.WaitedFor[0].Reason, o.Name)
		}
	}
	return p.BlockedBy[0].Reason
}

// spinning finds the loop in which processors were spinning.
func spinning(p *profile.Profile) []Item {
	of := measure.Ratio(p.Spin, p.Busy+p.Spin)
	if of < spinShare.value() {
		return nil
	}
	var most *profile.Entry
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindLoop && (most == nil || e.SelfSpin > most.SelfSpin) {
			most = e
		}
	}
	if most == nil {
		return nil
	}
	return []Item{{ID: "spinning", Claim: "loops that only wait take processor time", Subject: about(most),
		Evidence: []Fact{ns("spinning", p.Spin), share("of processor time", of)},
		Text: fmt.Sprintf("block instead of spinning: %s of the processor time went into loops that only wait, most of it in %s (%s:%d)",
			measure.Percent(p.Spin, p.Busy+p.Spin), most.Name, most.File, most.Line)}}
}

// unprobed finds work in goroutines that ran no instrumented procedure. That is a remark: it limits what is known, and nobody has
// to change anything in the program. If some had no room for a profile stack,
// it may be that they did, so that more probes would not help.
func unprobed(p *profile.Profile) (out []Item) {
	if p.Stackless > 0 {
		return nil
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if !isWritten(e) || measure.Ratio(e.Started, p.Busy) <= startedShare.value() {
			continue
		}
		out = append(out, Item{ID: "no-probes", Claim: "goroutines ran no instrumented procedure", Subject: about(e), Remark: true,
			Evidence: []Fact{ns("busy in them", e.Started), share("of busy time", measure.Ratio(e.Started, p.Busy))},
			Text: fmt.Sprintf("%s of the self time of %s is in goroutines started in it that ran no instrumented procedure: \"qinst run -refine\" adds probes to the packages that they run, unless what they run is inlined.",
				measure.Time(e.Started), e.Name)})
	}
	return out
}

// collector finds a garbage collector that takes a large part of the processor time, and who makes the garbage.
func collector(p *profile.Profile) []Item {
	used, of, what := p.CPU.Collector, p.CPU.User+p.CPU.System, "of the processor time"
	if used < 0 { // a part of a run, or an older file: other load may be in both
		used, of, what = p.GC.Workers+p.GC.Assists, p.Busy, "of the busy time, as far as the trace of the scheduler tells"
	}
	if measure.Ratio(used, of) < collectorShare.value() || p.GC.Cycles < 2 {
		return nil
	}
	it := Item{ID: "garbage-collector", Claim: "the garbage collector has much of the processor time", Subject: run,
		Evidence: []Fact{share("of processor time", measure.Ratio(used, of)), ns("collecting", used), count("cycles", p.GC.Cycles)}}
	it.Text = fmt.Sprintf("allocate less: the garbage collector took %s %s, in %s cycles, one every %s",
		measure.Percent(used, of), what, measure.Count(p.GC.Cycles), measure.Time(p.Wall/p.GC.Cycles))
	if p.Timeline != nil && len(p.Timeline.Heap) > 0 {
		most := int64(0)
		for _, h := range p.Timeline.Heap {
			most = max(most, h.Live)
		}
		it.Evidence = append(it.Evidence, Fact{"heap at most", float64(most), "bytes"})
		it.Text += fmt.Sprintf("; the heap had %s at most", measure.Bytes(most))
	}
	it.Text += allocating(p, &it) + ". With a larger GOGC or a GOMEMLIMIT it runs less often"
	return []Item{it}
}

// allocating names the procedure that takes most memory, and makes it the subject, if its share is worth a look.
func allocating(p *profile.Profile, it *Item) string {
	m := p.Memory
	if m == nil || m.Places[0].Share < takenShare.value() || m.Places[0].Name == "" {
		return ""
	}
	t := &m.Places[0]
	it.Subject = Subject{Kind: profile.KindProc, Name: t.Name, File: t.File, Line: t.Line}
	if i := slices.IndexFunc(p.Entries, func(e profile.Entry) bool { return e.Kind == profile.KindProc && e.Name == t.Name }); i >= 0 {
		it.Subject.ID = p.Entries[i].ID
	}
	it.Evidence = append(it.Evidence, share("allocated there", t.Share), share("allocated there, at least", t.Between[0]), share("allocated there, at most", t.Between[1]))
	return fmt.Sprintf("; about %.0f%% of the %s that the program allocated (%.0f to %.0f%%) were for %s (%s:%d)",
		100*t.Share, measure.Bytes(m.Bytes), 100*t.Between[0], 100*t.Between[1], t.Name, t.File, t.Line)
}
