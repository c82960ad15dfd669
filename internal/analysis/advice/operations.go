package advice

import (
	"fmt"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
)

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
	if most == nil || measure.Ratio(all, p.Busy) < syncShare.value() ||
		most.Name == "select" && len(f.asking()) > 0 { // they are the spinning of a loop
		return nil
	}
	return []Item{{ID: "many-operations", Claim: "operations on synchronization objects take long by themselves",
		Subject: aboutObject(most),
		Evidence: []Fact{ns("operations by themselves", all), share("of busy time", measure.Ratio(all, p.Busy)),
			count("operations", most.Ops)},
		Text: fmt.Sprintf("synchronize less often: operations take about %s by themselves, without waiting (%s of busy), most of it in %s operations on %s. Larger pieces of work need fewer of them",
			measure.Time(all), measure.Percent(all, p.Busy), usedTimes(most, 1), most.Name)}}
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
				if l.Line == o.Line && e.File == o.File && l.SelfNPT > most.SelfNPT && !f.startsTiny(e) &&
					!computes(e, &l) {
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
	times := usedTimes(object, 2)
	low, high := measure.Percent(most.SelfNPTs.Low, f.Wall), measure.Percent(most.SelfNPTs.High, f.Wall)
	text := fmt.Sprintf("use %s less often, or do without it, as with a copy for each goroutine or an atomic pointer: to take and give it back, %s times, takes %s to %s of the run",
		at(&s), times, low, high)
	if object.Kind == replay.KindChannel {
		text = fmt.Sprintf("hand over several items at a time at %s: %s hand-overs take %s to %s of the run", at(&s), times, low, high)
	}
	return &Item{ID: "many-operations", Claim: "operations on synchronization objects take long by themselves", Subject: s,
		WhatIf: fmt.Sprintf("self:%s=-%.0f%%", in.Name, 100*measure.Ratio(most.SelfNPT, in.SelfNPT)), partly: true,
		upTo: fmt.Sprintf("self:%s=-100%%", in.Name), // what is beside the lock waits for its cache line, too
		Evidence: []Fact{ns("operations in their line", most.SelfNPT), ns("at least", most.SelfNPTs.Low),
			count("operations", object.Ops)},
		Text: text}
}

// computes reports whether a line's time is mostly that of something else than an operation: what
// is sent may be computed in the same line.
func computes(e *profile.Entry, l *profile.LineTime) bool {
	share := 0.
	for i := range e.Callees {
		c := &e.Callees[i]
		if pkg := names.PackageOf(c.Name); c.Line == l.Line && pkg != "runtime" && pkg != "sync" &&
			pkg != "sync/atomic" && pkg != "internal/sync" {
			share += c.Share
		}
	}
	return 2*share*float64(e.SelfNPT) > float64(l.SelfNPT)
}

// manyOps is from how many operations on their own time matters.
const manyOps = 10_000
