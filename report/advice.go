package report

import (
	"fmt"

	"qinst.dev/analysis/profile"
)

// From which share of the run time on advice about synchronization is worth its line.
const (
	queuedHint    = 0.10 // somebody waited for the lock
	saturatedHint = 0.80
	buffersHint   = 0.05 // both sides of a channel waited
	balanceHint   = 1.5  // times the mean of the others: the longest goroutine's work
	unusedHint    = 0.20 // not all processors were busy
)

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
		if ratio(min(sent, received), p.Wall) >= buffersHint {
			out = append(out, fmt.Sprintf("give %s a larger buffer: senders waited %s for receivers and receivers %s for senders, in turn", o.Name, dur(sent), dur(received)))
		}
	}
	return out
}

// balanceHints are about goroutines of one kind with unequal work, while processors are free.
func balanceHints(p *profile.Profile) (out []string) {
	if len(p.Parallelism) <= p.Procs {
		return nil
	}
	unused := p.Wall - p.Idle - p.Parallelism[p.Procs]
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
	input := calls
	for _, w := range p.BlockedBy {
		if w.Reason == "IO wait" {
			input += w.Time
		}
	}
	ended := ""
	if ends != nil && ends.SelfIdle*2 > p.Idle {
		ended = fmt.Sprintf("; %s ended %s of that time", ends.Name, percent(ends.SelfIdle, p.Idle))
	}
	switch {
	case input*2 > p.Idle:
		return []string{fmt.Sprintf("overlap input and output with work: nothing ran for %s (%s of the run), while goroutines were in system calls or waited for the network for %s%s",
			dur(p.Idle), percent(p.Idle, p.Wall), dur(input), ended)}
	case len(p.BlockedBy) > 0:
		return []string{fmt.Sprintf("nothing ran for %s of the run; most waiting was for: %s%s", percent(p.Idle, p.Wall), p.BlockedBy[0].Reason, ended)}
	}
	return nil
}
