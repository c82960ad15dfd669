package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
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

// preempted is the conclusion about a lock that was queued for because its holders had no
// processor.
func preempted(p *profile.Profile, o *profile.Object, queued int64) Item {
	it := Item{ID: "preempted-holder", Claim: "the operating system took the processors of goroutines that held a lock",
		Subject: aboutObject(o),
		Evidence: []Fact{ns("time with a queue", queued), ns("held", o.Hold), ns("held without a processor", o.HeldOff),
			ns("waited", o.Wait)}}
	it.Text = fmt.Sprintf("%s was held for %s, and during %s of that the operating system had taken the holder's processor, while goroutines queued for it for %s: the machine takes the time, not what the lock guards. With GOMAXPROCS no larger than the number of processors that the program gets, holders lose theirs less often",
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
		it.Text = fmt.Sprintf("shorten or split what %s guards: %s held for %s, and goroutines queued for %s for %s, %.2f on average",
			name(o), was(o), held(o, p.Wall), pronoun(o), measure.Time(queued), mean)
	} else {
		it.Text = fmt.Sprintf("hold %s for a shorter time, or use it less often: goroutines queued for %s for %s (%s%s), %.2f on average%s; %s",
			name(o), pronoun(o), measure.Time(queued), portion(o, queued, p.Wall), ofRun(o), mean, waiting(p, o),
			unknown(o))
	}
	switch {
	case o.Partly && len(o.EndedBy) > 0 && !strings.HasPrefix(o.EndedBy[0].Reason, "["): // its holder is not certain
		b := o.EndedBy[0]
		it.Evidence = append(it.Evidence, ns("waits ended by "+b.Reason, b.Time))
		it.Text += fmt.Sprintf("; %s of that time ended when %s gave it back", measure.Percent(b.Time, o.Wait),
			b.Reason)
	case !o.Partly && len(o.Blamed) > 0 && o.Blamed[0].Time > 0:
		b := o.Blamed[0]
		it.holder = b.Reason
		it.Evidence = append(it.Evidence, ns("waited while "+b.Reason+" has it", b.Time))
		taken := b.Reason + " had taken it" // and may have returned since
		if o.Holds == 0 && o.Ops == 0 {     // in a package without probes, in a goroutine that it may have started
			taken = "it was held on behalf of " + b.Reason
		}
		it.Text += fmt.Sprintf("; during %s of their waits %s", measure.Percent(b.Time, o.Wait), taken)
	}
	if o.Objects == 1 && measure.Ratio(queued, p.Wall) > saturatedShare.value() {
		it.ID, it.Claim = "saturated-lock", "nearly always somebody waits for a lock"
		it.Text += ". Faster code elsewhere gains little"
	}
	if readersQueue(o) {
		f.pendingWriter(&it, o, queued)
	}
	if short(o) {
		it.Change, it.AtMost = Batch, queued // what it costs is processor time, busy or not
		it.Text = fmt.Sprintf("give each goroutine its own of what %s guards, or take it once for many items: it was taken %s times, for %s each, which is less than to hand it over takes; goroutines queued for %s for %s (%s of the run)",
			name(o), measure.Count(o.Ops/2), measure.Time(o.Hold/int64(o.Ops/2)), pronoun(o), measure.Time(queued),
			measure.Percent(queued, p.Wall))
	}
	f.holderWaits(&it)
	return it
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
	it.Text = fmt.Sprintf("let %s hold the read lock of %s for a shorter time: a writer that waits for it lets no new readers in, so that these queued for %s (%s of the run), although readers do not exclude each other. Held for %s",
		who, name(o), measure.Time(queued), measure.Percent(queued, f.Wall), held(o, f.Wall))
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

// holderWaits says so if those who have a lock wait for the outside rather than work.
func (f *Facts) holderWaits(it *Item) {
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
		it.Text += fmt.Sprintf(". For %s of that its holder waited for a timer, the network or the system: do that outside the lock",
			measure.Percent(e.Delays, e.Delays+e.Work))
	}
}

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
			Text: fmt.Sprintf("let more goroutines in at %s, or hold it for a shorter time: they queued for it in %s for %s, %.2f on average, until another one of them left",
				name(o), o.WaitedIn[0].Reason, long, mean)})
	}
	return out
}

// enough is how many places are enough for all who wait.
const enough = 1000

// largeBuffer is how many places are many.
const largeBuffer = 64

// room is the change that gives a channel more places, at least so many.
func (f *Facts) room(o *profile.Object, least int) string {
	if f.Gains == nil {
		return ""
	}
	return f.Gains.Room(o.Name, least)
}

// waiting names the function with most of the waits for an object. Without stacks it is the
// procedure that they are charged to, which may have started the waiting goroutines.
func waiting(p *profile.Profile, o *profile.Object) string {
	who, most := longestWait(p, o.Name)
	if len(o.WaitedIn) > 0 {
		who, most = o.WaitedIn[0].Reason, o.WaitedIn[0].Time
	}
	if who == "" {
		return ""
	}
	return fmt.Sprintf("; %s of the waits were in %s", measure.Percent(most, o.Wait), who)
}

// name is an object's name, with those that it has elsewhere.
func name(o *profile.Object) string {
	if len(o.Also) == 0 {
		return o.Name
	}
	return fmt.Sprintf("%s (also %s)", o.Name, strings.Join(o.Also, ", "))
}

// was begins what is said of the holds of an object. Those of all objects of one name are added up.
func was(o *profile.Object) string {
	if o.Objects > 1 {
		return fmt.Sprintf("the locks at %s addresses were", measure.Count(int64(o.Objects)))
	}
	return "it was"
}

// pronoun stands for an object's name.
func pronoun(o *profile.Object) string {
	if o.Objects > 1 {
		return "them"
	}
	return "it"
}

// portion is a time of an object as a share of the run. Of several objects it may be more than all
// of that: then it is how many of them on average.
func portion(o *profile.Object, ns, wall int64) string {
	if o.Objects > 1 {
		return fmt.Sprintf("%.2f", measure.Ratio(ns, wall))
	}
	return measure.Percent(ns, wall)
}

// ofRun ends a portion.
func ofRun(o *profile.Object) string {
	if o.Objects > 1 {
		return " at a time"
	}
	return " of the run"
}

// held says how long an object was held.
func held(o *profile.Object, wall int64) string {
	part := portion(o, o.Hold, wall) + ofRun(o)
	i := o.HoldInterval
	switch o.Mark() {
	case "~":
		return fmt.Sprintf("about %s (%s; between %s and %s)", measure.Time(o.Hold), part, portion(o, i[0], wall),
			portion(o, i[1], wall))
	case "≥":
		return fmt.Sprintf("%s or more (%s)", part, without(o))
	}
	return fmt.Sprintf("%s (%s)", measure.Time(o.Hold), part)
}

// unknown says that no hold is known, and why.
func unknown(o *profile.Object) string {
	if o.Ops == 0 {
		return "no probe sees how long it is held"
	}
	return "how long it is held is not known, because " + without(o)
}

// without says what the holds lack that are known.
func without(o *profile.Object) string {
	switch {
	case o.Partly:
		return "some operations on it have no probe"
	case o.Degraded == 0:
		return "no operation gave it back"
	}
	return measure.Percent(int64(o.Degraded), int64(o.Ops)) + " of its operations were only counted"
}

// timeWaiting is the time in which at least n goroutines waited for an object, in ns.
func timeWaiting(o *profile.Object, least int) (ns int64) {
	for n := least; n < len(o.Waiting); n++ {
		ns += o.Waiting[n]
	}
	return ns
}

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

// barriers finds objects at which several goroutines wait until one lets them all go: Quartz's
// over-restrictive construct.
func barriers(f *Facts) (out []Item) {
	p := f.Profile
	for i := range p.Objects {
		o := &p.Objects[i]
		several := timeWaiting(o, 2)
		if o.Lock() || sends(o) || o.Streams() || o.Announces() || gathered(o) || feeds(o) || inHerds(o) ||
			o.Waits < 4 || 2*o.Together < o.Waits || measure.Ratio(several, p.Wall) < barrierShare.value() ||
			measure.Ratio(unused(p), p.Wall) < unusedShare.value() {
			continue
		}
		it := Item{ID: "barrier", Claim: "goroutines wait for the last one at a barrier", Subject: aboutObject(o),
			Change: Balance,
			Evidence: []Fact{count("waits", o.Waits), count("waits that ended together", o.Together),
				ns("waited", o.Wait), ns("time with two or more waiting", several),
				ns("time with an unused processor", unused(p))}}
		it.Text = fmt.Sprintf("%s is a barrier: %s of its %s waits ended together, and goroutines waited %s there for the last one",
			o.Name, measure.Count(o.Together), measure.Count(o.Waits), measure.Time(o.Wait))
		if len(o.Blamed) > 0 && o.Blamed[0].Time > 0 {
			it.Text += fmt.Sprintf(", %s of that while %s worked", measure.Percent(o.Blamed[0].Time, o.Wait),
				o.Blamed[0].Reason)
		}
		it.Text += fmt.Sprintf("; not all processors were busy for %s", measure.Time(unused(p))) +
			". If they only must not run at the same time, a lock is enough; otherwise give each of them as much to do before it"
		out = append(out, it)
	}
	return out
}

// batches finds wait groups at which one goroutine waits again and again until all of a batch are
// done, while processors have nothing to do: those that are done sooner could take the next items.
func batches(f *Facts) (out []Item) {
	p := f.Profile
	for i := range p.Objects {
		o := &p.Objects[i]
		less := unusedWhile(p, o)
		if o.Kind != replay.KindWaitGroup || o.Waits < fewBatches || timeWaiting(o, 2) > 0 ||
			measure.Ratio(less, p.Wall) < barrierShare.value() || f.gathersTiny(o) {
			continue
		}
		out = append(out, Item{ID: "batches", Claim: "each batch waits for its longest part", Subject: aboutObject(o), Change: Balance,
			AtMost: less, waiter: f.waiter(o),
			Evidence: []Fact{count("batches", o.Waits), ns("waited", o.Wait), ns("time with an unused processor", unused(p))},
			Text: fmt.Sprintf("let goroutines take the next item when they have done one, instead of waiting at %s for all of a batch: that was %s times, %s each, and processors without work could have done %s (%s of the run) meanwhile",
				name(o), measure.Count(o.Waits), measure.Time(o.Wait/o.Waits), measure.Time(less),
				measure.Percent(less, p.Wall))})
	}
	return out
}

// gathersTiny reports whether what waits for a wait group starts goroutines that are not worth it.
func (f *Facts) gathersTiny(o *profile.Object) bool {
	waits := func(w profile.Waited) bool { return w.Object == o.Name }
	return slices.ContainsFunc(f.Entries, func(e profile.Entry) bool {
		return f.startsTiny(&e) && slices.ContainsFunc(e.BlockedOn, waits)
	})
}

// waiter is the id of the procedure that waits for an object most; empty: none is known.
func (f *Facts) waiter(o *profile.Object) (id string) {
	most := int64(0)
	for i := range f.Entries {
		for _, w := range f.Entries[i].BlockedOn {
			if w.Object == o.Name && w.Time > most {
				id, most = f.Entries[i].ID, w.Time
			}
		}
	}
	return id
}

// fewBatches is how many batches are worth to be joined.
const fewBatches = 8

// feeds reports whether goroutines wait for a channel's items: at times one sends to all of them in
// a row, because they are faster.
func feeds(o *profile.Object) bool {
	return o.Kind == replay.KindChannel && 5*o.Together < 4*o.Waits
}

// gathered reports whether goroutines wait for an object mostly when all of its users are there.
// Then they do not wait for the last of them, but for another goroutine, which releases them all.
func gathered(o *profile.Object) bool {
	all := len(o.Waiting) - 1
	return all > 1 && 2*o.Peers < o.Wait && 2*o.Waiting[all] > timeWaiting(o, 2)
}

// buffers finds channels for which both sides wait in turn: Quartz's small buffers between
// producer and consumer.
func buffers(f *Facts) (out []Item) {
	p := f.Profile
	if measure.Ratio(mostGain(p), p.Wall) < gainShare.value() ||
		measure.Ratio(unused(p), p.Wall) < unusedShare.value() {
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
		// no buffer changes.
		if measure.Ratio(o.Turns, p.Wall*int64(max(1, o.Objects))) < bufferShare.value() {
			continue
		}
		turns := "in turn"
		if o.Turns < min(sent, received)*9/10 {
			turns = measure.Time(o.Turns) + " of it in turn"
		}
		out = append(out, Item{ID: "small-buffer", Claim: "both sides of a channel wait in turn",
			Subject: aboutObject(o), Change: LargerBuffer, WhatIf: f.room(o, largeBuffer),
			Evidence: []Fact{ns("senders waited", sent), ns("receivers waited", received), ns("in turn", o.Turns),
				ns("until they ran again", o.Ready), ns("senders and receivers waited", sent+received+o.Ready)},
			Text: fmt.Sprintf("give %s a larger buffer: senders waited %s for receivers and receivers %s for senders, %s%s", name(o), measure.Time(sent), measure.Time(received), turns, again(p, o))})
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

// OperationCost returns the time of the operations on synchronization objects themselves, in ns,
// and the object with most of it. The object is nil if there were no operations, or their cost
// was not measured.
func OperationCost(p *profile.Profile) (all int64, most *profile.Object) {
	for i := range p.Objects {
		o := &p.Objects[i]
		all += o.Cost
		if o.Cost > 0 && (most == nil || o.Cost > most.Cost) {
			most = o
		}
	}
	return all, most
}

// operations finds operations on synchronization objects that take long by themselves.
func operations(f *Facts) []Item {
	p := f.Profile
	if it := f.costly(); it != nil {
		return []Item{*it}
	}
	all, most := OperationCost(p)
	if most == nil || measure.Ratio(all, p.Busy) < syncShare.value() {
		return nil
	}
	return []Item{{ID: "many-operations", Claim: "operations on synchronization objects take long by themselves",
		Subject: aboutObject(most),
		Evidence: []Fact{ns("operations by themselves", all), share("of busy time", measure.Ratio(all, p.Busy)),
			count("operations", most.Ops)},
		Text: fmt.Sprintf("synchronize less often: operations take about %s by themselves, without waiting (%s of busy), most of it in %s operations on %s. Larger pieces of work need fewer of them",
			measure.Time(all), measure.Percent(all, p.Busy), measure.Count(most.Ops), most.Name)}}
}

// costly finds the object whose operations take most of the run by the samples of their lines:
// where processors fight for its memory they take many times as long as they do alone.
func (f *Facts) costly() *Item {
	var object *profile.Object
	var in *profile.Entry
	var most profile.LineTime
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ops < manyOps || o.Line == 0 {
			continue
		}
		for k := range f.Entries {
			e := &f.Entries[k]
			for _, l := range e.Lines {
				if l.Line == o.Line && e.File == o.File && l.SelfNPT > most.SelfNPT && !f.startsTiny(e) {
					object, in, most = o, e, l
				}
			}
		}
	}
	if object == nil || measure.Ratio(most.SelfNPTs.Low, f.Wall) < syncShare.value()/2 ||
		measure.Ratio(most.SelfNPT, f.Wall) < syncShare.value() {
		return nil
	}
	s := aboutObject(object)
	return &Item{ID: "many-operations", Claim: "operations on synchronization objects take long by themselves", Subject: s,
		WhatIf: fmt.Sprintf("self:%s=-%.0f%%", in.Name, 100*measure.Ratio(most.SelfNPT, in.SelfNPT)), partly: true,
		Evidence: []Fact{ns("operations in their line", most.SelfNPT), ns("at least", most.SelfNPTs.Low),
			count("operations", object.Ops)},
		Text: fmt.Sprintf("use %s less often, or do without it, as with a copy for each goroutine or an atomic pointer: to take and give it back, %s times, takes %s to %s of the run",
			at(&s), measure.Count(object.Ops/2), measure.Percent(most.SelfNPTs.Low, f.Wall),
			measure.Percent(most.SelfNPTs.High, f.Wall))}
}

// manyOps is from how many operations on their own time matters.
const manyOps = 10_000
