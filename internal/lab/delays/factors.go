package delays

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/ratecontrol"
	"qinst.dev/sddf/spec"
)

// Constructs.
const (
	procedure = "procedure"
	loop      = "loop"
	hold      = "hold"
)

// The smallest shares of processor time of a candidate: of its own, or with its callees.
const (
	leastOwn   = 0.01
	leastAll   = 0.05
	leastTold  = 0.1  // of its own, if it is none
	sameAmount = 0.02 // two procedures that call each other once have nearly the same time

	// The loops of a procedure that is called seldom, and runs for long, are better factors, if
	// they have this number of iterations per call.
	fewCalls = 16
	manyTurn = 10
)

// delayable reports whether hits of a point can take longer: its probe is called.
func delayable(p *trace.Point) bool {
	switch p.Kind {
	case spec.PointProc, spec.PointLoop:
		return !p.Small() && p.Flags&spec.FlagSummed == 0
	case spec.PointSync:
		return true
	}
	return false
}

func takes(p *trace.Point) bool {
	return p.Kind == spec.PointSync && slices.Contains([]string{spec.OpLock, spec.OpRLock, spec.OpTryLock,
		spec.OpTryRLock}, p.Op)
}

// found are a program's parts as a run shows them.
type found struct {
	t     *trace.Tables
	p     *profile.Profile
	trips map[string]uint64 // by id, of a loop: iterations of those that were traced
	busy  map[string]int64  // by id: processor time of all visits, in ns; see [profile.Entry.CallBusy]
	// by id, where samples divided that: the ends of its interval, as shares of it
	about map[string][2]float64

	barriers []barrier // those with most waits first
}

// look profiles a run on a number of virtual processors, 0 for real ones.
func look(source *trace.Trace, virtual int) (*found, error) {
	p, err := profile.NewWithin(source, profile.Within{Procs: virtual})
	if err != nil {
		return nil, err
	}
	f := &found{t: source.Tables(), p: p, trips: map[string]uint64{}, busy: map[string]int64{},
		about: map[string][2]float64{}}
	for i := range p.Entries {
		e := &p.Entries[i]
		f.busy[e.ID] = e.CallBusy
		if at := e.NPTs; at != nil && e.NPT > 0 {
			f.about[e.ID] = [2]float64{float64(at.Low) / float64(e.NPT), float64(at.High) / float64(e.NPT)}
		}
		if e.Kind == profile.KindLoop {
			f.trips[e.ID] = e.Trips
		}
	}
	return f, nil
}

// candidates are the parts of a program that the run shows to matter: locks for which goroutines
// waited longest, and procedures with most processor time, of their own or with callees. Those that
// are called once are left out, since the run takes as much longer as they do, and one of two of
// which one does little but call the other. Loops are of procedures that are called seldom.
func (f *found) candidates(most int) (list []delays.Factor) {
	for i := range f.p.Objects {
		if o := &f.p.Objects[i]; o.Wait > 0 && len(list) < most/3 {
			if x := f.named("hold:" + o.Name); x != nil {
				list = append(list, *x)
			}
		}
	}
	entries := slices.Clone(f.p.Entries)
	slices.SortStableFunc(entries, func(a, b profile.Entry) int {
		return cmp.Compare(b.CallBusy+b.SelfBusy, a.CallBusy+a.SelfBusy)
	})
	for i := range entries {
		e := &entries[i]
		all := float64(f.p.Busy)
		if float64(e.SelfBusy) < leastOwn*all && float64(e.CallBusy) < leastAll*all || len(list) == most {
			continue
		}
		x := f.often(e)
		if x == nil {
			continue
		}
		same := slices.IndexFunc(list, func(y delays.Factor) bool {
			ns := f.busy[y.ID]
			return y.Construct != hold && y.Visits == x.Visits &&
				math.Abs(float64(ns-e.CallBusy)) < sameAmount*float64(ns) &&
				(f.p.Calling(y.ID, x.ID) || f.p.Calling(x.ID, y.ID))
		})
		switch {
		case same < 0:
			list = append(list, *x)
		case list[same].Construct == loop && x.Construct == procedure: // what a loop calls each time has a name
			list[same] = *x
		default:
			continue
		}
	}
	return list
}

// leftOut says which procedures have much of the processor time of their own and yet no delays,
// because they are called once and no loop of theirs is in the list, and in which packages without
// probes there is much that was not delayed.
func (f *found) leftOut(list []delays.Factor) (notes []string) {
	for _, b := range profile.BlindSpots(f.t, f.p) {
		root, _, _ := strings.Cut(b.Package, "/")
		if strings.Contains(root, ".") && float64(b.Time) >= leastTold*float64(f.p.Wall) { // Go's own are not changed
			notes = append(notes, fmt.Sprintf("nothing in %s was delayed, which has no probes: %s. A build with -include=%s gives it some", b.Package, b.Why, b.Package))
		}
	}
	for i := range f.p.Entries {
		e := &f.p.Entries[i]
		share := float64(e.SelfBusy) / float64(max(1, f.p.Busy))
		owns := func(x delays.Factor) bool { return x.ID == e.ID || strings.HasPrefix(x.Name, e.Name+": ") }
		if e.Kind == profile.KindProc && share >= leastTold && e.Calls == 1 && !slices.ContainsFunc(list, owns) {
			notes = append(notes, fmt.Sprintf("%s itself has about %.0f %% of the processor time, and was not delayed: it is called once, and its loops have no probes. What it calls can be delayed, if a build with -factors=NAME gives it a probe", e.Name, 100*share))
		}
	}
	return notes
}

// often is the factor of a procedure that is called more than once, or of a loop that turns often
// in each call of a procedure that is called seldom; nil if the entry is neither.
func (f *found) often(e *profile.Entry) *delays.Factor {
	if e.Kind != profile.KindProc && e.Kind != profile.KindLoop {
		return nil
	}
	if x := f.named("id:" + e.ID); x != nil && x.Visits >= 2 && (e.Kind == profile.KindProc || f.lasts(x)) {
		return x
	}
	return nil
}

// lasts reports whether a loop turns often in each call of its procedure, which is called seldom.
func (f *found) lasts(x *delays.Factor) bool {
	i := slices.IndexFunc(f.t.Points, func(p trace.Point) bool { return fmt.Sprintf("%016x", p.ID) == x.ID })
	owner := f.t.Points[i].Owner
	if owner == trace.NoPoint {
		return false
	}
	calls := float64(f.t.Points[owner].Hits)
	return calls < fewCalls && x.Visits >= manyTurn*calls
}

// shown is the factor of a rule, or of a name as tables have it: of a loop with its procedure, of a
// lock without "hold:".
func (f *found) shown(rule string) *delays.Factor {
	if x := f.named("hold:" + rule); x != nil && !slices.ContainsFunc(f.t.Points,
		func(p trace.Point) bool { return p.Kind != spec.PointSync && is(&p, "", rule) }) {
		return x
	}
	if x := f.named(rule); x != nil {
		return x
	}
	return f.meantFactor(rule)
}

// meantFactor is the factor that a name means as tables have it, nil if it means none.
func (f *found) meantFactor(text string) *delays.Factor {
	kind, _, _ := strings.Cut(text, ":")
	rules := map[string]string{}
	for i := range f.t.Points {
		p := &f.t.Points[i]
		if !delayable(p) || p.Hits == 0 || kind == hold && !takes(p) || kind == loop && p.Kind != spec.PointLoop {
			continue
		}
		rule := p.Name
		switch {
		case takes(p):
			rule = "hold:" + p.Name
		case p.Kind == spec.PointSync:
			continue
		case p.Kind == spec.PointLoop:
			rule = fmt.Sprintf("id:%016x", p.ID)
		}
		rules[f.t.NameOf(trace.PointID(i))] = rule
	}
	name, err := names.Find(text, "part of the program", slices.Sorted(maps.Keys(rules)))
	if err != nil {
		return nil
	}
	return f.named(rules[name])
}

// named is the factor of a rule about points, nil if it is about none that was reached and can be
// delayed.
func (f *found) named(rule string) (x *delays.Factor) {
	kind, pattern, ok := strings.Cut(rule, ":")
	if !ok {
		kind, pattern = "", rule
	}
	for i := range f.t.Points {
		pt := &f.t.Points[i]
		if !delayable(pt) || pt.Hits == 0 || !is(pt, kind, pattern) {
			continue
		}
		id := fmt.Sprintf("%016x", pt.ID)
		if x == nil {
			x = &delays.Factor{ID: id, Name: f.t.NameOf(trace.PointID(i)), Construct: construct(pt), File: pt.File,
				Line: pt.Line, Rule: rule}
		}
		n := float64(pt.Hits)
		if pt.Kind == spec.PointLoop && pt.Traced > 0 { // all have as many iterations as those that were traced
			n *= float64(f.trips[id]) / float64(pt.Traced)
		}
		x.Visits += n
		x.Takes += f.takes(pt, id)
	}
	if x != nil && x.Visits > 0 {
		x.Takes /= x.Visits
		if a, ok := f.about[x.ID]; ok && x.Construct != hold {
			x.TakesIn = &[2]float64{a[0] * x.Takes, a[1] * x.Takes}
		}
	}
	return x
}

// takes is the processor time of all visits of a point, in ns, or for how long its lock was held, 0
// if that is not known.
func (f *found) takes(p *trace.Point, id string) float64 {
	if takes(p) {
		for i := range f.p.Objects {
			if o := &f.p.Objects[i]; o.Name == p.Name && o.Holds > 0 {
				return float64(o.Hold) / float64(o.Holds) * float64(p.Hits)
			}
		}
		return 0
	}
	return float64(f.busy[id])
}

// is reports whether a rule is about a point, as the recorder understands it.
func is(p *trace.Point, kind, pattern string) bool {
	switch kind {
	case "id":
		return fmt.Sprintf("%016x", p.ID) == strings.ToLower(pattern)
	case "hold":
		if !takes(p) {
			return false
		}
	case "", p.Kind:
	default:
		return false
	}
	return ratecontrol.Matches(pattern, p.Name)
}

func construct(p *trace.Point) string {
	switch {
	case takes(p):
		return hold
	case p.Kind == spec.PointLoop:
		return loop
	case p.Kind == spec.PointProc:
		return procedure
	}
	return p.Op
}
