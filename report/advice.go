package report

import (
	"fmt"

	"qinst.dev/analysis/profile"
	"qinst.dev/analysis/replay"
)

// From which share of the run time on advice about synchronization is worth its line.
const (
	queuedHint    = 0.10 // somebody waited for the lock
	saturatedHint = 0.80
	buffersHint   = 0.05 // both sides of a channel waited
	balanceHint   = 1.5  // times the mean of the others: the longest goroutine's work
	unusedHint    = 0.20 // not all processors were busy
	barrierHint   = 0.10 // several waited at a barrier
	starvedHint   = 0.50 // of the processor time is in too few goroutines
	turnHint      = 0.50 // goroutines of one kind worked, one behind the other
	gcHint        = 0.10 // of the run is the collector's
	syncHint      = 0.10 // of the processor time is operations on synchronization objects
)

// unused is the time in which some processor had nothing to do while others worked.
func unused(p *profile.Profile) int64 {
	if len(p.Parallelism) <= p.Procs {
		return p.Wall - p.Idle
	}
	return p.Wall - p.Idle - p.Parallelism[p.Procs]
}

// barrierHints are about objects at which several goroutines wait until one lets them all
// go: Quartz's over-restrictive construct.
func barrierHints(p *profile.Profile) (out []string) {
	for i := range p.Objects {
		o := &p.Objects[i]
		several := int64(0)
		for n := 2; n < len(o.Waiting); n++ {
			several += o.Waiting[n]
		}
		if o.Holds > 0 || o.Waits < 4 || 2*o.Together < o.Waits || ratio(several, p.Wall) < barrierHint || ratio(unused(p), p.Wall) < unusedHint {
			continue
		}
		line := fmt.Sprintf("%s is a barrier: %s of its %s waits ended together, and goroutines waited %s there for the last one while not all processors were busy",
			o.Name, count(o.Together), count(o.Waits), dur(o.Wait))
		if len(o.Blamed) > 0 && o.Blamed[0].Time > 0 {
			line += fmt.Sprintf(", %s of it for %s", percent(o.Blamed[0].Time, o.Wait), o.Blamed[0].Reason)
		}
		out = append(out, line+". Where they only must not run at the same time a lock is enough; else give each as much to do before it")
	}
	return out
}

// starvedHints are about work that is in fewer goroutines than there are processors.
func starvedHints(p *profile.Profile) (out []string) {
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Kind != profile.KindGoroutine || e.Calls < 2 || e.Calls >= uint64(p.Procs) || ratio(e.SelfBusy, p.Busy) < starvedHint || ratio(unused(p), p.Wall) < unusedHint {
			continue
		}
		if together := ratio(e.SelfBusy, e.SelfNPT); together < 1.25 {
			continue // they do not even run at the same time
		}
		out = append(out, fmt.Sprintf("split the work into more parts: %s of it is in %s goroutines %s, fewer than the %d processors, which were not all busy for %s (starvation by small problem size)",
			percent(e.SelfBusy, p.Busy), count(e.Calls), e.Name, p.Procs, dur(unused(p))))
	}
	return out
}

// turnHints are about goroutines of one kind that work one behind the other, and wait for
// each other meanwhile: Quartz's data dependence of a loop.
func turnHints(p *profile.Profile) (out []string) {
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Holds > 0 && 5*o.Wait > p.Wall {
			return nil // a lock makes them take turns
		}
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Kind != profile.KindGoroutine || e.Calls < 2 || p.Procs < 2 || ratio(e.SelfNPT, p.Wall) < turnHint {
			continue
		}
		alone := ratio(e.SelfBusy, e.SelfNPT)
		others := float64(e.SelfBusy-e.Longest) / float64(e.Calls-1)
		if alone > 1.25 || float64(e.Longest) > 2*others || ratio(e.SelfBlocked, p.Wall) < 0.2*float64(e.Calls-1) {
			continue
		}
		out = append(out, fmt.Sprintf("the %s goroutines %s work one behind the other: %.2f processors were busy on average during their %s, and they were blocked for %s. Each seems to need what the one before made (a data dependence): only another order of the work lets them run together",
			count(e.Calls), e.Name, alone, dur(e.SelfBusy), dur(e.SelfBlocked)))
	}
	return out
}

// plainOnly says that only less work helps where all processors are busy anyway, and where
// most of it is. It is no hint: a healthy program is so.
func plainOnly(p *profile.Profile) string {
	if len(p.Parallelism) <= p.Procs || ratio(p.Parallelism[p.Procs], p.Wall) < 1-unusedHint {
		return ""
	}
	var most *profile.Entry
	for i := range p.Entries {
		if e := &p.Entries[i]; isWritten(e) && (most == nil || e.SelfNPT > most.SelfNPT) {
			most = e
		}
	}
	if most == nil {
		return ""
	}
	return fmt.Sprintf("All %d processors were busy for %s of the run: only plain optimization helps, first of all of %s, whose own code is %s of it.",
		p.Procs, percent(p.Parallelism[p.Procs], p.Wall), most.Name, percent(most.SelfNPT, p.Wall))
}

// syncHints are about operations on synchronization objects that take long by themselves.
func syncHints(p *profile.Profile) []string {
	all, most := syncCost(p)
	if most == nil || ratio(all, p.Busy) < syncHint {
		return nil
	}
	return []string{fmt.Sprintf("synchronize less often: operations take about %s by themselves, without waiting (%s of busy); most of it is %s operations on %s. Larger pieces of work need fewer",
		dur(all), percent(all, p.Busy), count(most.Ops), most.Name)}
}

// syncCost is what operations took by themselves, and the object with most of it.
func syncCost(p *profile.Profile) (all int64, most *profile.Object) {
	for i := range p.Objects {
		o := &p.Objects[i]
		all += o.Cost
		if o.Cost > 0 && (most == nil || o.Cost > most.Cost) {
			most = o
		}
	}
	return all, most
}

// lockHints are about locks that goroutines queue for: Quartz's contended semaphore or
// task queue.
func lockHints(p *profile.Profile) (out []string) {
	for i := range p.Objects {
		o := &p.Objects[i]
		queued := int64(0)
		for n := 1; n < len(o.Waiting); n++ {
			queued += o.Waiting[n]
		}
		if o.Holds == 0 || ratio(queued, p.Wall) < queuedHint {
			continue
		}
		line := fmt.Sprintf("shorten or split what %s guards: it was held for %s (%s of the run), and goroutines queued for it for %s, %.2f on average",
			o.Name, dur(o.Hold), percent(o.Hold, p.Wall), dur(queued), ratio(o.Wait, p.Wall))
		if len(o.Blamed) > 0 {
			line += fmt.Sprintf("; %s of their waits are while %s has it", percent(o.Blamed[0].Time, o.Wait), o.Blamed[0].Reason)
		}
		if o.Objects == 1 && ratio(queued, p.Wall) > saturatedHint {
			line += ". Nearly always somebody waits: other code's normalized processor time says nothing about what it would gain"
		}
		out = append(out, line)
	}
	return out
}

// bufferHints are about channels for which both sides wait in turn: Quartz's small buffers
// between producer and consumer.
func bufferHints(p *profile.Profile) (out []string) {
	for i := range p.Objects {
		o := &p.Objects[i]
		var sent, received int64
		for _, w := range o.WaitedFor {
			switch w.Reason {
			case "chan send":
				sent = w.Time
			case "chan receive":
				received = w.Time
			}
		}
		if ratio(min(sent, received), p.Wall*int64(max(1, o.Objects))) >= buffersHint {
			out = append(out, fmt.Sprintf("give %s a larger buffer: senders waited %s for receivers and receivers %s for senders, in turn", o.Name, dur(sent), dur(received)))
		}
	}
	return out
}

// balanceHints are about goroutines of one kind with unequal work, while processors are free.
func balanceHints(p *profile.Profile) (out []string) {
	if p.Procs < 2 {
		return nil
	}
	unused := unused(p)
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Kind != profile.KindGoroutine || e.Calls < 2 || ratio(unused, p.Wall) < unusedHint {
			continue
		}
		others := float64(e.SelfBusy-e.Longest) / float64(e.Calls-1)
		if float64(e.Longest) < balanceHint*others || ratio(e.Longest, p.Wall) < 0.5 {
			continue
		}
		out = append(out, fmt.Sprintf("balance the load of the %s goroutines %s: one of them worked for %s, the others for %s on average, and not all processors were busy for %s",
			count(e.Calls), e.Name, dur(e.Longest), dur(int64(others)), dur(unused)))
	}
	return out
}

// idleHints are about a run in which for some time nothing ran: what it waited for.
func idleHints(p *profile.Profile) []string {
	if ratio(p.Idle, p.Wall) <= idleHint {
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
	input := calls + network
	ended := ""
	if ends != nil && ends.SelfIdle*2 > p.Idle {
		ended = fmt.Sprintf("; %s ended %s of that time", ends.Name, percent(ends.SelfIdle, p.Idle))
	}
	requests := ""
	if network > 2*calls {
		requests = ". Where that is for requests, it is no loss"
	}
	switch {
	case input*2 > p.Idle:
		return []string{fmt.Sprintf("overlap input and output with work: nothing ran for %s (%s of the run), while goroutines were in system calls or waited for the network for %s%s%s",
			dur(p.Idle), percent(p.Idle, p.Wall), dur(input), ended, requests)}
	case len(p.BlockedBy) > 0:
		return []string{fmt.Sprintf("nothing ran for %s of the run; most waiting was for: %s%s", percent(p.Idle, p.Wall), p.BlockedBy[0].Reason, ended)}
	}
	return nil
}

// gcHints are about a collector that has much of the run.
func gcHints(p *profile.Profile) []string {
	var npt int64
	for i := range p.Entries {
		switch e := &p.Entries[i]; e.Name {
		case replay.GCWorker, replay.GCAssist, replay.StopTheW:
			npt += e.SelfNPT
		}
	}
	if ratio(npt, p.Wall) < gcHint || p.GC.Cycles < 2 {
		return nil
	}
	line := fmt.Sprintf("allocate less, or let the heap grow further before it is collected (GOGC, GOMEMLIMIT): the garbage collector had %s of the run (normalized), in %s cycles, one every %s",
		percent(npt, p.Wall), count(p.GC.Cycles), dur(p.Wall/p.GC.Cycles))
	if p.Timeline != nil && len(p.Timeline.Heap) > 0 {
		most := int64(0)
		for _, h := range p.Timeline.Heap {
			most = max(most, h.Live)
		}
		line += fmt.Sprintf("; the heap had %s at most", bytesOf(most))
	}
	return []string{line}
}
