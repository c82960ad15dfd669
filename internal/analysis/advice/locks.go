package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// locks finds locks that goroutines queue for: Quartz's contended semaphore or task queue.
func locks(f *Facts) (out []Item) {
	p := f.Profile
	if measure.Ratio(mostGain(p), p.Wall) < gainShare.value() {
		return nil
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		queued := timeWaiting(o, 1)
		if !isQueuedFor(p, o) {
			continue
		}
		if o.Holds > 0 && o.HoldInterval == nil && measure.Ratio(o.Hold, p.Wall) < heldShare.value() && !short(o) {
			continue // they queue for a processor: to hold it for a shorter time gains nothing
		}
		if measure.Ratio(o.HeldOff, o.Hold) > heldOffShare.value() {
			out = append(out, preempted(p, o, queued))
			continue
		}
		out = append(out, contended(f, o, queued))
	}
	slices.SortStableFunc(out, func(x, y Item) int { return cmp.Compare(y.Evidence[0].Value, x.Evidence[0].Value) })
	return out
}

// isQueuedFor reports whether an object is a lock with a queue during much of the run.
// Many locks of one name, one for each connection, may all be waited for a little.
func isQueuedFor(p *profile.Profile, o *profile.Object) bool {
	several := int64(max(1, min(o.Objects, p.Procs)))
	return o.Lock() && measure.Ratio(max(timeWaiting(o, 1), o.Away), p.Wall*several) >= queuedShare.value()
}

// timeWaiting is the time in which at least n goroutines waited for an object, in ns.
func timeWaiting(o *profile.Object, least int) (ns int64) {
	for n := least; n < len(o.Waiting); n++ {
		ns += o.Waiting[n]
	}
	return ns
}

// preempted is the conclusion about a lock that was queued for because its holders had no
// processor.
func preempted(p *profile.Profile, o *profile.Object, queued int64) Item {
	it := Item{ID: "preempted-holder", Claim: "the operating system took the processors of goroutines that held a lock",
		Subject: aboutObject(o),
		Evidence: []Fact{ns("time with a queue", queued), ns("held", o.Hold), ns("held without a processor", o.HeldOff),
			ns("waited", o.Wait)}}
	it.Text = fmt.Sprintf("%s was held for %s, during %s of that without a processor, which the operating system had taken, and goroutines queued for it for %s: with GOMAXPROCS no larger than the processors that the program gets, holders lose theirs less often",
		name(o), held(o, p.Wall), measure.Percent(o.HeldOff, o.Hold), measure.Time(queued))
	return it
}

// contended is the conclusion about a lock that was queued for.
func contended(f *Facts, o *profile.Object, queued int64) Item {
	p := f.Profile
	mean := measure.Ratio(o.Wait, p.Wall)
	it := Item{ID: "contended-lock", Claim: "goroutines queue for a lock", Subject: aboutObject(o),
		Change: Split, WhatIf: fmt.Sprintf("split:%s=%d", o.Name, parts),
		Evidence: []Fact{ns("time with a queue", queued), number("goroutines waiting on average", mean),
			ns("waited", o.Wait), ns("waited until they ran again", o.Wait+o.Ready)}}
	if o.Holds > 0 {
		it.Evidence = append(it.Evidence, ns("held", o.Hold))
		if i := o.HoldInterval; i != nil {
			it.Evidence = append(it.Evidence, ns("held, at least", i[0]), ns("held, at most", i[1]))
		}
	}
	queue := fmt.Sprintf("goroutines queued for %s for %s (%s%s)", pronoun(o), measure.Time(queued),
		portion(o, queued, p.Wall), ofRun(o))
	several := fmt.Sprintf(", %.2f on average", mean)
	in, by := f.heldBy(&it, o)
	if o.Holds > 0 {
		it.Text = fmt.Sprintf("shorten what %s guards%s, or split it: %s; %s held for %s%s", name(o), in, queue+several,
			was(o), held(o, p.Wall), by)
	} else {
		switch {
		case by == "":
			by = "; " + unknown(o) + waiting(p, o)
		case o.Ops > 0:
			by += "; " + unknown(o)
		}
		it.Text = fmt.Sprintf("hold %s for a shorter time%s, or use it less often: %s%s", name(o), in, queue+several, by)
	}
	if o.Objects == 1 && measure.Ratio(queued, p.Wall) > saturatedShare.value() {
		it.ID, it.Claim = "saturated-lock", "nearly always somebody waits for a lock"
	}
	if readersQueue(o) {
		f.pendingWriter(&it, o, queued)
	}
	if short(o) {
		it.Change, it.AtMost = Batch, queued // what it costs is processor time, busy or not
		it.Text = fmt.Sprintf("give each goroutine its own of what %s guards, or take it once for many items: it was taken %s times for %s each, less than to hand it over takes; %s",
			name(o), usedTimes(o, 2), measure.Time(o.Hold/int64(o.Ops/2)), queue)
	}
	f.holderWaits(&it, in, queue)
	return it
}

// heldBy notes who has a lock while others wait for it, and returns where that is, and how much of
// the waits it explains if that is not most.
func (f *Facts) heldBy(it *Item, o *profile.Object) (in, by string) {
	const most = 0.75
	switch {
	case o.Partly && len(o.EndedBy) > 0 && !strings.HasPrefix(o.EndedBy[0].Reason, "["): // its holder is not certain
		b := o.EndedBy[0]
		it.Evidence = append(it.Evidence, ns("waits ended by "+b.Reason, b.Time))
		by = fmt.Sprintf("; %s of the waits ended when %s gave it back", measure.Percent(b.Time, o.Wait), b.Reason)
	case !o.Partly && len(o.Blamed) > 0 && o.Blamed[0].Time > 0:
		b := o.Blamed[0]
		it.holder = b.Reason
		it.Evidence = append(it.Evidence, ns("waited while "+b.Reason+" has it", b.Time))
		if o.Holds == 0 && o.Ops == 0 { // in a package without probes, in a goroutine that it may have started
			return "", fmt.Sprintf("; during %s of the waits it was held on behalf of %s", measure.Percent(b.Time, o.Wait),
				f.procAt(b.Reason))
		}
		in = " in " + f.procAt(b.Reason)
		if float64(b.Time) < most*float64(o.Wait) {
			by = fmt.Sprintf(", during %s of the waits there", measure.Percent(b.Time, o.Wait))
		}
	}
	return in, by
}

// procAt is a procedure's name with its place.
func (f *Facts) procAt(name string) string {
	if e := f.written(name); e != nil {
		return At(name, e.File, e.Line)
	}
	return name
}

// readersQueue reports whether it is mostly readers that wait for a lock, while readers have it.
func readersQueue(o *profile.Object) bool {
	reading := int64(0)
	for _, w := range o.WaitedFor {
		if w.Reason == "sync.RWMutex.RLock" {
			reading = w.Time
		}
	}
	return 2*reading > o.Wait && o.Hold > 0 && float64(o.HeldRead) > readersHave*float64(o.Hold)
}

// readersHave is the share of a lock's holds that are readers' if writers have it hardly ever.
const readersHave = 0.8

// pendingWriter is the conclusion about readers that wait although only readers have the lock.
func (f *Facts) pendingWriter(it *Item, o *profile.Object, queued int64) {
	who := "a reader"
	if len(o.Blamed) > 0 {
		who = o.Blamed[0].Reason
	}
	it.ID, it.Claim, it.Change = "pending-writer", "readers wait behind a writer that waits for a reader", ShortenHold
	it.Evidence = append(it.Evidence, ns("held for reading", o.HeldRead))
	it.Text = fmt.Sprintf("let %s hold the read lock of %s for a shorter time: a writer that waits lets no new readers in, which queued for %s (%s of the run), although readers do not exclude each other; held for %s",
		f.procAt(who), name(o), measure.Time(queued), measure.Percent(queued, f.Wall), held(o, f.Wall))
}

// Many short holds are a matter of how often a lock is taken, and not of what it guards: shortHold
// is in ns.
const (
	manyHolds = 100_000
	shortHold = 500
)

// short reports whether a lock is held that often, and for so short a time.
func short(o *profile.Object) bool {
	return o.Holds > 0 && o.Ops > 2*manyHolds && o.Hold/int64(o.Ops/2) < shortHold
}

// parts is how many locks are enough to take the place of one so that nobody waits.
const parts = 64

// holderWaits says so if those who have a lock, in a place, wait for the outside rather than work.
func (f *Facts) holderWaits(it *Item, in, queue string) {
	if f.Path == nil {
		return
	}
	i := slices.IndexFunc(f.Path.Entries, func(e critpath.Entry) bool {
		return e.Kind == critpath.KindSync && e.Name == it.Subject.Name
	})
	if i < 0 {
		return
	}
	e := &f.Path.Entries[i]
	if share := measure.Ratio(e.Delays, e.Delays+e.Work); share >= holderShare.value() {
		it.Change = MoveOut
		it.Evidence = append(it.Evidence, ns("while it was held, waits for the outside", e.Delays))
		it.Text = fmt.Sprintf("do not wait for a timer, the network or the system (%s of the hold) while holding %s%s: %s",
			measure.Percent(e.Delays, e.Delays+e.Work), it.Subject.Name, in, queue)
	}
}
