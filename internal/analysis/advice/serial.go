package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
)

// serialWork finds the loops and procedures whose work the run waits for while processors have
// none. Without a path, or where no single one is the cause, it is the time that was serial.
func serialWork(f *Facts) (out []Item) {
	p := f.Profile
	if f.Path == nil || f.Gains == nil || f.Served != "" || p.Procs < 2 {
		return serialParts(f)
	}
	chosen := f.waitedFor()
	if it := f.inTurn(chosen); it != nil {
		return []Item{*it}
	}
	for _, e := range chosen {
		alone, less := spare(e, p.Procs)
		s := about(e)
		it := Item{ID: "one-processor", Claim: "one goroutine alone could run on behalf of a procedure", Subject: s,
			Change: StartTogether, WhatIf: divided(p, "calls:"+e.Name),
			Evidence: []Fact{ns("its work", e.CallBusy), ns("of that while a processor had no work", alone)},
			Text: fmt.Sprintf("divide the work of %s%s among goroutines, or do it beside other work: the run waits for it, while a processor has nothing to do for %s (%s of the run)",
				at(&s), f.mostIn(e), measure.Time(alone), measure.Percent(alone, p.Wall))}
		f.feeds(&it, e)
		if gain, err := f.Gains.Gain(it.WhatIf); err == nil && gain.Unknown == "" {
			of := 100 * measure.Ratio(less, p.Wall)
			it.gives(f, min(gain.LoPct, of/nearly), min(gain.GainPct, of), min(gain.HiPct, of*nearly))
		}
		f.setUp(&it, e)
		out = append(out, it)
	}
	if len(out) > 0 {
		return out
	}
	for _, it := range serialParts(f) {
		if f.gain(&it); it.Gain == nil || float64(it.Gain.Low) >= surelyGains*float64(f.Wall) {
			out = append(out, it)
		}
	}
	return out
}

// waitedFor returns the loops and procedures on the path: with half their work the run would be
// shorter by nearly as much. Of those within each other it returns the ones that are entered least
// often, since these can be divided, and of several of them the innermost, since the others only
// call it.
func (f *Facts) waitedFor() (chosen []*profile.Entry) {
	p, unequal := f.Profile, imbalance(f)
	var explained []*profile.Entry
	for _, e := range f.divisible() {
		within := func(c *profile.Entry) bool { return p.Calling(c.ID, e.ID) }
		if slices.ContainsFunc(explained, within) || 2*inside(p, e, explained) > e.CallBusy {
			continue
		}
		proc, _, _ := strings.Cut(e.Name, ": ")
		other := f.startsTiny(e) ||
			slices.ContainsFunc(unequal, func(it Item) bool { return it.Subject.Name == proc })
		if !other && !f.serial(e) {
			continue
		}
		explained = append(explained, e)
		if !other {
			chosen = slices.DeleteFunc(chosen, func(c *profile.Entry) bool { return p.Calling(e.ID, c.ID) })
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// divisible are the loops and procedures with much work of their own goroutines, each time enough
// to be divided, those that are entered least often first.
func (f *Facts) divisible() (list []*profile.Entry) {
	for i := range f.Entries {
		e := &f.Entries[i]
		loop := e.Kind == profile.KindLoop && e.Trips >= fewTrips*max(1, e.TripsOf)
		if (loop || Written(e)) && measure.Ratio(e.CallBusy, f.Wall) >= serialShare.value() &&
			e.CallBusy >= leastDivided*int64(e.Calls) {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *profile.Entry) int {
		return cmp.Or(cmp.Compare(a.Calls, b.Calls), cmp.Compare(a.CallBusy, b.CallBusy))
	})
	return list
}

// startsTiny reports whether an entry starts goroutines whose work is shorter than their start, or
// is that work.
func (f *Facts) startsTiny(e *profile.Entry) bool {
	proc, _, _ := strings.Cut(e.Name, ": ")
	for i := range f.Entries {
		in := &f.Entries[i]
		if d := by(in, replay.Starting); in.Name == proc && d != nil && d.Share > startsFrom && f.startsLittle(proc) {
			return true
		}
	}
	if f.tinies == nil {
		f.tinies = map[string]bool{}
		for _, k := range f.started() {
			if creator, _ := names.Outer(k.most.Creator); k.tiny(f) {
				f.tinies[creator], f.tinies[k.most.Creator], f.tinies[k.most.Name] = true, true, true
			}
		}
	}
	if f.tinies[proc] {
		return true
	}
	for name := range f.tinies { // or a callee of that
		if t := f.written(name); t != nil && f.Calling(t.ID, e.ID) {
			return true
		}
	}
	return false
}

// startsLittle reports whether the goroutines that a procedure starts do little.
func (f *Facts) startsLittle(proc string) bool {
	return slices.ContainsFunc(f.started(), func(k kind) bool {
		creator, _ := names.Outer(k.most.Creator)
		return (creator == proc || k.most.Creator == proc) && k.got <= 3*mostTiny*int64(k.count)
	})
}

// startsFrom is the share of a procedure's own time in which it starts goroutines, where that is
// what it does.
const startsFrom = 0.25

// nearly is how much more, or less, divided work gains than processors had no work.
const nearly = 1.2

// leastDivided is the work, in ns, that can be divided among goroutines: to start one, to wake a
// thread for it, and to wait for it take some microseconds.
const leastDivided = 20_000

// fewTrips is from how many iterations on a loop can be divided.
const fewTrips = 4

// inside is the work of those chosen that are within another entry.
func inside(p *profile.Profile, e *profile.Entry, chosen []*profile.Entry) (ns int64) {
	for _, c := range chosen {
		if p.Calling(e.ID, c.ID) {
			ns += c.CallBusy
		}
	}
	return ns
}

// serial reports whether the run waits for nearly all of an entry's work, and for no lock there.
func (f *Facts) serial(e *profile.Entry) bool {
	p := f.Profile
	alone, less := spare(e, p.Procs)
	if measure.Ratio(less, p.Wall) < surelyGains || 2*alone < e.CallBusy || 2*f.keptOut(e) > e.CallBusy {
		return false
	}
	gain, err := f.Gains.Gain(divided(p, "calls:"+e.Name))
	if err != nil || gain.Unknown != "" {
		return false
	}
	// Of work that all processors have, a part gains as much divided by their number.
	part, procs := 1-1/float64(p.Procs), float64(p.Procs)
	share := gain.GainPct / 100 * float64(f.Wall) / (part * float64(e.CallBusy))
	return share >= (1+1/procs)/2
}

// spare is the processor time of an entry's work, without goroutines that it started, in which some
// processor had none; and by how much that would be shorter if all of them did a part of it.
func spare(e *profile.Entry, procs int) (alone, less int64) {
	all, part, saved := int64(0), 0., 0.
	for n, ns := range e.BusyAt {
		if all += ns; n < procs {
			part += float64(ns)
			saved += float64(ns) * (1 - float64(n)/float64(procs))
		}
	}
	own := measure.Ratio(e.CallBusy, max(all, 1))
	return int64(own * part), int64(own * saved)
}

// keptOut is the time for which goroutines waited for locks, semaphores and barriers in an entry,
// its callees and its callers.
func (f *Facts) keptOut(e *profile.Entry) (total int64) {
	guards := map[string]float64{} // how much longer goroutines did not run than they waited
	others := slices.Concat(semaphores(f), barriers(f))
	for i := range f.Objects {
		o := &f.Objects[i]
		other := slices.ContainsFunc(others, func(it Item) bool { return it.Subject.Name == o.Name })
		if o.Lock() || sends(o) || o.Kind == replay.KindSemaphore || other {
			guards[o.Name] = 1
			if o.Lock() && o.Away > 0 {
				guards[o.Name] = max(1, measure.Ratio(o.Away, timeWaiting(o, 1)))
			}
		}
	}
	f.waits(e, true, func(w profile.Waited) {
		total += int64(guards[w.Object] * float64(w.Time))
	})
	return total
}

// waits calls each with the waits in an entry and its callees, and on request in its callers.
func (f *Facts) waits(e *profile.Entry, callers bool, each func(profile.Waited)) {
	proc, _, _ := strings.Cut(e.Name, ": ")
	for i := range f.Entries {
		in := &f.Entries[i]
		if in.Kind == profile.KindProc && len(in.BlockedOn) > 0 &&
			(in.Name == proc || f.Calling(e.ID, in.ID) || callers && f.Calling(in.ID, e.ID)) {
			for _, w := range in.BlockedOn {
				each(w)
			}
		}
	}
}

// inTurn finds two parts that work one at a time because each waits for the other one. What they
// wait for is no conclusion then, nor is the work of one of them.
func (f *Facts) inTurn(chosen []*profile.Entry) *Item {
	waited := make([]int64, len(chosen))
	places := make([]string, len(chosen))
	for i, e := range chosen {
		most := int64(0)
		f.waits(e, false, func(w profile.Waited) {
			if j := slices.IndexFunc(f.Objects, func(o profile.Object) bool { return o.Name == w.Object }); j < 0 ||
				f.Objects[j].Kind == replay.KindWaitGroup {
				return
			}
			if waited[i] += w.Time; w.Time > most {
				most, places[i] = w.Time, w.Object
			}
		})
	}
	for i, a := range chosen {
		for j, b := range chosen[:i] {
			less := min(a.CallBusy, b.CallBusy)
			if waited[i] < less/2 || waited[j] < less/2 || measure.Ratio(less, f.Wall) < serialShare.value() {
				continue
			}
			where := places[i]
			if places[j] != places[i] {
				where += " and " + places[j]
			}
			s, t := about(b), about(a)
			it := &Item{ID: "turns", Claim: "two parts wait for each other in turn", Subject: s, Change: LargerBuffer,
				Evidence: []Fact{ns("work of the one", b.CallBusy), ns("work of the other", a.CallBusy),
					ns("waits of the one", waited[j]), ns("waits of the other", waited[i])},
				Text: fmt.Sprintf("let %s and %s work at the same time, with more room between them or more items under way: each waits for the other at %s, for %s and %s",
					at(&s), at(&t), where, measure.Time(waited[j]), measure.Time(waited[i]))}
			of := 100 * measure.Ratio(less, f.Wall)
			it.partly = true
			it.gives(f, of/2, 3*of/4, of)
			return it
		}
	}
	return nil
}
