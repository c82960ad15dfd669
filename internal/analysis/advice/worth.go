package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
)

// Conclusions are in the order of their worth: the least gain of their change, by a computed run.
// Without one the gain lies between nothing and the work that idle processors could do. Changes
// with next to no computed gain are left out, or said to have none if other tools would propose
// them.

const (
	// surelyGains is the share of the run that a change gains at least to be worth a line.
	surelyGains = 0.02
	// likelyGains is enough in the middle of the interval, whatever the lower end is.
	likelyGains = 0.04
	// boundFrom is the share of the run that waits for an object must be worth at most, if what
	// their end gains is not known, to be worth a line.
	boundFrom = 0.05
	// nothing is the share that a gain of nothing may be.
	nothing = 0.05
	// unknownWorth is what part of its bound a gain counts that is not known, and what part of its
	// middle one counts at least that may be nothing.
	unknownWorth = 0.25
)

// weigh computes gains, and drops and orders conclusions by them. Remarks stay as they are.
func (f *Facts) weigh(list []Item) (out []Item) {
	var remarks []Item
	for _, it := range list {
		if it.Remark {
			remarks = append(remarks, it)
			continue
		}
		same := func(o Item) bool { return o.Subject.Name == it.Subject.Name }
		if it.Subject.Kind == profile.KindSync && slices.ContainsFunc(out, same) {
			continue // one line for each object, by the first rule that finds it
		}
		switch f.gain(&it); {
		case it.computed && (it.Gain == nil || float64(it.Gain.Low) < surelyGains*float64(f.Wall)):
			// its waits are as they should be
		case it.Gain == nil && f.offPath(&it):
			it.Gain = &Gain{}
			remarks = append(remarks, f.worthless(&it))
		case it.Gain == nil && f.bound(&it):
			out = append(out, it)
		case it.Gain == nil:
		case float64(it.Gain.Low) >= surelyGains*float64(f.Wall) ||
			float64(it.Gain.Ns) >= likelyGains*float64(f.Wall):
			out = append(out, it)
		case loud[it.ID]:
			remarks = append(remarks, f.worthless(&it))
		}
	}
	slices.SortStableFunc(out, func(a, b Item) int { return cmp.Compare(f.worth(&b), f.worth(&a)) })
	return append(out, remarks...)
}

// bound finds what the waits of a conclusion are worth at most whose gain is not known, and reports
// whether that is worth a line.
func (f *Facts) bound(it *Item) bool {
	if !waits[it.ID] || it.ID == "input-output" || it.ID == "idle" || f.Procs < 2 {
		return true
	}
	now, most := mostGain(f.Profile), mostGain(f.Profile)
	i := slices.IndexFunc(f.Objects, func(o profile.Object) bool { return o.Name == it.Subject.Name })
	if i >= 0 && !f.Objects[i].Apart {
		o := &f.Objects[i]
		now = min(now, unusedWhile(f.Profile, o))
		procs := int64(f.Procs) // of a machine that does nothing else
		most = min(max(most, f.Wall-(f.Busy+f.Spin)/procs), unusedWhile(f.Profile, o)+o.OffMeanwhile/procs)
		if it.Change == Batch && o.Lock() {
			most = max(most, f.doing(replay.Locking)) // what it costs is processor time, too
			now = max(now, most/2)
		}
	}
	now, most = min(now, f.spares(it)), min(most, f.spares(it))
	if loud[it.ID] && float64(now) < boundFrom*float64(f.Wall) {
		return false
	}
	it.AtMost, it.likely = max(1, most), max(1, now)
	if f.handsOver(it) {
		return true
	}
	it.Text += fmt.Sprintf(". Gain: %s of the run at most", measure.Percent(most, f.Wall))
	return true
}

// handsOver reports whether the waits for a channel are so short that to wake goroutines is much of
// them. Fewer operations then save work as well, which no bound by waits includes.
func (f *Facts) handsOver(it *Item) bool {
	o := f.object(it.Subject.Name)
	return o != nil && it.Change == LargerBuffer && 4*o.Ready > o.Wait
}

// offPath reports whether a conclusion is about waits for an object that do not make the run
// longer.
func (f *Facts) offPath(it *Item) bool {
	return loud[it.ID] && it.Subject.Kind == profile.KindSync && float64(f.spares(it)) < surelyGains*float64(f.Wall)
}

// spares is by how much the run would be shorter at most without the waits that a conclusion is
// about.
func (f *Facts) spares(it *Item) int64 {
	if f.Path == nil || f.Path.Spares == nil || f.Served != "" || it.Subject.Kind != profile.KindSync {
		return f.Wall
	}
	o := f.object(it.Subject.Name)
	if o != nil && o.Lock() && o.Hold == 0 {
		return f.Wall // the work under it is not known
	}
	ns := f.Path.Spares(it.Subject.Name, o == nil || o.Objects != 1)
	for i := range f.Path.Entries { // the work under it may become less
		if e := &f.Path.Entries[i]; e.Kind == critpath.KindSync && e.Name == it.Subject.Name {
			ns = max(ns, int64(float64(e.Self)*measure.Ratio(e.Work, e.Work+e.Delays)))
		}
	}
	return ns
}

// doing is what all procedures spend on a mechanism at most, as a part of the run, in ns.
func (f *Facts) doing(how replay.Mechanism) int64 {
	i := slices.IndexFunc(f.Doing, func(d profile.DoneIn) bool { return d.How == how })
	if i < 0 {
		return 0
	}
	return int64(f.Doing[i].In[1] * float64(f.Wall))
}

// unusedWhile is by how much the run would be shorter if processors had never been without work
// while goroutines waited for an object, or had not run since.
func unusedWhile(p *profile.Profile, o *profile.Object) int64 {
	return max(0, max(o.Away, timeWaiting(o, 1))-o.Meanwhile/int64(max(1, p.Procs)))
}

// once leaves out what another conclusion explains: waits for the outside of those who have a lock
// that is to be held without them, work to be divided that is a mechanism, or a batch's, and stacks
// of goroutines that are not to be started.
func (f *Facts) once(list []Item) []Item {
	explained := func(it, by *Item) bool {
		proc, _, _ := strings.Cut(it.Subject.Name, ": ")
		switch it.ID {
		case "stack-growth":
			return by.ID == "tiny-goroutines" && by.Subject.Name == proc
		case "late-threads", "small-buffer", "turns":
			return by.ID == "locked-threads"
		case "one-receiver":
			fed := slices.ContainsFunc(by.Delays, func(s Subject) bool { return s.Name == it.Subject.Name })
			return by.ID == "locked-threads" || by.ID == "one-processor" && (fed || by.Subject.Name == it.Subject.Name)
		case "barrier", "batches":
			return slices.ContainsFunc(by.Delays, func(s Subject) bool { return s.Name == it.Subject.Name })
		case "one-goroutine", "serial-run":
			if by.ID == "one-receiver" && by.Subject.Kind == profile.KindProc {
				return true
			}
			return by.ID == "many-handovers" || by.ID == "tiny-goroutines" && by.Subject.Name == it.Subject.Name
		case "timer", "input-output", "library-wait":
			return by.holder == proc && by.Change == MoveOut
		case "one-processor", "serial-procedure":
			return by.Subject.Name == proc && (by.ID == "system-calls" || by.ID == "stack-growth" || by.ID == "input-output") ||
				by.waiter != "" && f.Leading(by.waiter, it.Subject.ID)
		}
		return false
	}
	return slices.DeleteFunc(slices.Clone(list), func(it Item) bool {
		return slices.ContainsFunc(list, func(by Item) bool { return !by.Remark && explained(&it, &by) })
	})
}

// gain computes what the change of a conclusion gains.
func (f *Facts) gain(it *Item) {
	if it.Gain != nil || f.Gains == nil || it.WhatIf == "" || f.Served != "" {
		return
	}
	c, err := f.Gains.Gain(it.WhatIf)
	if err != nil || c.Unknown != "" {
		it.WhatIf = ""
		return
	}
	less := 0.
	if waits[it.ID] { // the work stays, and only processors without any can do more of it
		less = max(0, c.GainPct-100*measure.Ratio(mostGain(f.Profile), f.Wall))
	}
	lo, value, hi := c.LoPct-less, c.GainPct-less, c.HiPct-less
	if most, err := f.Gains.Gain(it.upTo); it.upTo != "" && err == nil && most.Unknown == "" {
		if waits[it.ID] {
			most.HiPct = min(most.HiPct, 100*measure.Ratio(mostGain(f.Profile), f.Wall))
		}
		hi = max(hi, most.HiPct)
	}
	if it.onPath > 0 { // what else the path has stays
		most := woken * 100 * measure.Ratio(it.onPath, f.Wall)
		lo, value, hi = min(lo, most), min(value, most), min(hi, most)
	}
	if it.partly { // two at a time gain half of it, and a change saves some of the work near it, too
		lo, value, hi = lo/2, 3*value/4, beside*hi
	}
	it.gives(f, lo, value, hi)
}

// woken is the latency from the start of a wait until work goes on, as a multiple of the wait, at
// most.
const woken = 1.15

// beside widens the intervals of changes whose repaired forms often gain more than predicted. It
// was chosen with the first two of the three seeds in results 29; in the third 13 of 15 gains held.
const beside = 1.25

// gives notes what the change of a conclusion gains, in percent of the run.
func (it *Item) gives(f *Facts, lo, value, hi float64) {
	of := func(percent float64) int64 { return int64(percent / 100 * float64(f.Wall)) }
	lo, value, hi = max(0, lo), max(0, value), min(hi, 100)
	it.Gain = &Gain{Low: of(lo), Ns: of(value), High: of(hi)}
	if it.partly {
		it.Text += fmt.Sprintf(". Gain: %.0f to %.0f %% of the run", lo, hi)
		return
	}
	it.Text += fmt.Sprintf(". Gain: %.0f %% of the run (%.0f to %.0f)", value, lo, hi)
}

// worth is by what conclusions are ordered, in ns.
func (f *Facts) worth(it *Item) float64 {
	bound := float64(f.Wall)
	switch {
	case it.Defect:
		return math.Inf(1)
	case it.Gain != nil:
		return max(float64(it.Gain.Low), unknownWorth*float64(it.Gain.Ns))
	case it.AtMost > 0 || it.likely > 0:
		if bound = float64(cmp.Or(it.likely, it.AtMost)); waits[it.ID] && it.Subject.Kind != profile.KindSync {
			bound /= 2 // it is one for all that idle processors could do
		}
	}
	return unknownWorth * bound
}

// loud are the conclusions that other tools show first, or that everyone would try.
var loud = map[string]bool{"contended-lock": true, "saturated-lock": true, "pending-writer": true,
	"semaphore": true, "one-receiver": true,
	"small-buffer": true, "barrier": true, "garbage-collector": true}

// shorter is what half of the work under a lock gains, in percent, if that is worth a line. Who
// holds the lock has less to do, whether or not anybody waits for it.
func (f *Facts) shorter(it *Item) (percent float64, ok bool) {
	if f.Gains == nil || !strings.HasPrefix(it.WhatIf, "split:") {
		return 0, false
	}
	c, err := f.Gains.Gain("hold:" + it.Subject.Name + "=-50%")
	return c.GainPct, err == nil && c.Unknown == "" && c.GainPct >= 100*surelyGains
}

// worthless is the finding that a change gains nothing.
func (f *Facts) worthless(it *Item) Item {
	w := *it
	w.ID, w.Claim, w.Remark = it.ID+"-gains-nothing", "a change of it gains nothing", true
	little := "Nothing"
	if it.Gain.High > int64(nothing*float64(f.Wall)) {
		little = "Little or nothing"
	}
	at, after := "at", ""
	if gain, ok := f.shorter(it); ok {
		at, after = "by splitting", fmt.Sprintf(" Half of the work under it gains %.0f %%, with or without the lock.", gain)
	}
	upTo := ""
	if it.Gain.High > 0 {
		upTo = fmt.Sprintf(" (0 to %s of it)", measure.Percent(it.Gain.High, f.Wall))
	}
	w.Text = fmt.Sprintf("%s is gained %s %s, although goroutines wait there: the run waits for something else%s.%s",
		little, at, it.Subject.Name, upTo, after)
	if it.ID == "garbage-collector" {
		w.Text = fmt.Sprintf("%s is gained by less work of the collector (0 to %s of the run).", little,
			measure.Percent(max(0, it.Gain.High), f.Wall))
	}
	return w
}
