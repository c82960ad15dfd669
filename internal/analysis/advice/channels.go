package advice

import (
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
)

// semaphores finds channels that limit the number of goroutines of a kind that work at a time: one
// that waits is let in by another that leaves.
func semaphores(f *Facts) (out []Item) {
	p := f.Profile
	if measure.Ratio(mostGain(p), p.Wall) < gainShare.value() {
		return nil
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		queued := timeWaiting(o, 1)
		if o.Kind != replay.KindChannel || o.Objects != 1 || measure.Ratio(queued, p.Wall) < queuedShare.value() ||
			measure.Ratio(o.Peers, o.Wait) < aloneShare.value() || len(o.WaitedIn) == 0 {
			continue
		}
		mean := measure.Ratio(o.Wait, p.Wall)
		evidence := []Fact{number("goroutines waiting on average", mean), ns("waited", o.Wait),
			ns("waits ended by goroutines of the same kind", o.Peers)}
		long := measure.Time(o.Wait) + " together"
		if !o.Apart { // it is known how many waited at a time
			evidence = append([]Fact{ns("time with a queue", queued)}, evidence...)
			long = fmt.Sprintf("%s (%s of the run)", measure.Time(queued), measure.Percent(queued, p.Wall))
		}
		out = append(out, Item{ID: "semaphore", Claim: "goroutines of a kind let each other in by a channel",
			Subject: aboutObject(o), Change: MoreWorkers, WhatIf: f.room(o, 1), upTo: f.room(o, enough),
			Evidence: evidence,
			Text: fmt.Sprintf("let more goroutines in at %s, or hold it for a shorter time: they queued for it in %s for %s, %.2f on average, until another one of them left%s",
				name(o), o.WaitedIn[0].Reason, long, mean, f.holders(o).meanwhile())})
	}
	return out
}

// enough is how many places are enough for all who wait.
const enough = 1000

// sends reports whether goroutines wait for an object mostly to send. A receiver ends such waits
// one by one, however fast: a barrier ends them all at once.
func sends(o *profile.Object) bool {
	return len(o.WaitedFor) > 0 && o.WaitedFor[0].Reason == "chan send"
}

// receivers finds channels whose senders wait for the one goroutine that receives.
func receivers(f *Facts) (out []Item) {
	p := f.Profile
	if measure.Ratio(mostGain(p), p.Wall) < gainShare.value() {
		return nil
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		several := timeWaiting(o, 2)
		if !sends(o) || !o.OneEnder || o.Objects != 1 || len(o.EndedBy) == 0 ||
			measure.Ratio(several, p.Wall) < queuedShare.value() {
			continue
		}
		by, mean := o.EndedBy[0], measure.Ratio(o.Wait, p.Wall)
		it := Item{ID: "one-receiver", Claim: "senders wait for the one goroutine that receives",
			Subject: aboutObject(o), Change: MoreWorkers,
			Evidence: []Fact{ns("time with two or more waiting", several),
				number("goroutines waiting on average", mean), ns("waited", o.Wait),
				ns("waits ended by "+by.Reason, by.Time)},
			Text: fmt.Sprintf("let more goroutines receive from %s, or do less for each item: %.2f goroutines waited on average to send to %s, which receives alone", name(o), mean, by.Reason)}
		if len(o.Blamed) > 0 && o.Blamed[0].Time > 0 {
			it.Evidence = append(it.Evidence, ns("waited while "+o.Blamed[0].Reason+" worked", o.Blamed[0].Time))
			it.Text += fmt.Sprintf(" and worked during %s of their waits", measure.Percent(o.Blamed[0].Time, o.Wait))
		}
		out = append(out, it)
	}
	return out
}

// buffers finds channels for which both sides wait in turn: Quartz's small buffers between
// producer and consumer.
func buffers(f *Facts) (out []Item) {
	p := f.Profile
	if measure.Ratio(mostGain(p), p.Wall) < gainShare.value() {
		return nil // they wait for processors rather than for each other
	}
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
		// Of many channels of one name senders may wait for some, and receivers for others, which
		// no buffer changes, or one does for all: only a computed run tells.
		inTurn := measure.Ratio(o.Turns, p.Wall*int64(max(1, o.Objects))) >= bufferShare.value() &&
			measure.Ratio(unused(p), p.Wall) >= unusedShare.value()
		if !inTurn && (o.Kind != replay.KindChannel || measure.Ratio(sent, p.Wall) < bufferShare.value()) {
			continue
		}
		turns := ", in turn"
		switch {
		case !inTurn:
			turns = ""
		case o.Turns < min(sent, received)*9/10:
			turns = ", " + measure.Time(o.Turns) + " of it in turn"
		}
		claim := "both sides of a channel wait in turn"
		if !inTurn {
			claim = "senders wait although a larger buffer would let them go on"
		}
		out = append(out, Item{ID: "small-buffer", Claim: claim,
			Subject: aboutObject(o), Change: LargerBuffer, WhatIf: f.room(o, largeBuffer), computed: !inTurn,
			Evidence: []Fact{ns("senders waited", sent), ns("receivers waited", received), ns("in turn", o.Turns),
				ns("until they ran again", o.Ready), ns("senders and receivers waited", sent+received+o.Ready)},
			Text: fmt.Sprintf("give %s a larger buffer: senders waited %s for receivers and receivers %s for senders%s%s", name(o), measure.Time(sent), measure.Time(received), turns, again(p, o))})
	}
	return out
}

// again says how long goroutines took to run again after their waits, if that matters.
func again(p *profile.Profile, o *profile.Object) string {
	if measure.Ratio(o.Ready, p.Wall) < bufferShare.value() {
		return ""
	}
	return fmt.Sprintf(", and another %s until they ran again", measure.Time(o.Ready))
}

// handovers finds the channel at which most items are handed over, if that takes much of the
// processor time.
func handovers(f *Facts) []Item {
	k := slices.IndexFunc(f.Doing, func(d profile.DoneIn) bool { return d.How == replay.Channels })
	if k < 0 || f.Doing[k].In[0] < handoverShare.value() {
		return nil
	}
	var most *profile.Object
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Kind == replay.KindChannel && (most == nil || uses(o) > uses(most)) {
			most = o
		}
	}
	if most == nil || uses(most) < manyHolds {
		return nil
	}
	d := &f.Doing[k]
	waits := ""
	if 2*uint64(most.Waits) > uses(most) {
		waits = ", and most of them wait"
	}
	return []Item{{ID: "many-handovers", Claim: "channel operations take much of the processor time", Subject: aboutObject(most),
		Change: Batch, likely: f.doing(replay.Channels),
		Evidence: []Fact{count("operations", uses(most)), count("waits", most.Waits), share("of processor time", d.Share),
			share("of it at least", d.In[0])},
		Text: fmt.Sprintf("hand over several items at a time at %s: %s operations there%s; operations on channels take %.0f to %.0f %% of the procedures' time, most of it in %s",
			name(most), measure.Count(uses(most)), waits, 100*d.In[0], 100*d.In[1], At(d.Proc, d.File, d.Line))}}
}

// uses is how often a channel was operated on, at least.
func uses(o *profile.Object) uint64 { return max(o.Ops, uint64(o.Waits)) }

// largeBuffer is how many places are many.
const largeBuffer = 64

// room is the change that gives a channel more places, at least so many.
func (f *Facts) room(o *profile.Object, least int) string {
	if f.Gains == nil {
		return ""
	}
	return f.Gains.Room(o.Name, least)
}
