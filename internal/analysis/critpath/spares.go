package critpath

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// spares returns an upper bound for the gain of doing away with the waits for objects of a name. It
// is the difference between the run and one without those waits, in which all other waits and all
// work last as they did. That run has no waits for processors from the first of those waits
// onwards, since work that had to wait is done earlier. Helpers that a ticker wakes until they are
// stopped delay nothing in it. Waits for objects without a known operation are left out as well if
// they may be for an object of that name, as for one that has none itself. There is no such bound,
// and the result is the whole run, if much of the work is in loops that the clock or another
// goroutine ends: they do less in a shorter run.
func (b *builder) spares(w *walker) func(string, bool) int64 {
	known, joined := map[string]int64{}, map[steps.StepID][]steps.StepID(nil)
	_, share := b.p.Endless()
	open := share > mostOpen
	return func(object string, others bool) int64 {
		if ns, ok := known[object]; ok {
			return ns
		}
		name := trace.NoPoint
		for i := range b.p.Objects {
			if at := b.p.Objects[i].Name; at != trace.NoPoint && b.r.T.Points[at].Name == object {
				name = b.p.NamedBy(at)
			}
		}
		if known[object] = b.res.T; (name != trace.NoPoint || others) && !open {
			if joined == nil {
				joined = joins(w)
			}
			known[object] = max(0, b.res.T-int64(newEarliest(w, joined, name, others).run()))
		}
		return known[object]
	}
}

// mostOpen is the largest share of all work in loops that end with the run, with which their
// lengths are taken for those of any run.
const mostOpen = 0.05

// earliest computes when each step is over at the earliest.
type earliest struct {
	*walker
	joined  map[steps.StepID][]steps.StepID
	without trace.PointID
	others  bool                  // objects without a name may be of this one
	stops   map[steps.StepID]bool // with which helpers find that they are stopped
	since   trace.Time            // when the first of these waits began
	over    []trace.Time          // by step: 1 more than it is; 0 if it is not known yet, or asked
	todo    []steps.StepID
}

func newEarliest(w *walker, joined map[steps.StepID][]steps.StepID, without trace.PointID, others bool) *earliest {
	x := &earliest{walker: w, joined: joined, without: without, others: others, since: w.p.End + 1,
		stops: map[steps.StepID]bool{}, over: steps.MakeLarge[trace.Time](w.p.Steps.Len())}
	for _, i := range w.p.Idle {
		if i.Ends {
			x.stops[i.Next] = true
		}
	}
	for id := range steps.StepID(w.p.Steps.Len()) {
		if s := w.p.Step(id); id != 0 && s.Kind == steps.Take && x.sparing(s) {
			x.since = min(x.since, w.begin(id)+trace.Time(s.Work))
		}
	}
	return x
}

// run is the length of the run.
func (x *earliest) run() trace.Time {
	last := x.last()
	if last == 0 {
		return x.p.End
	}
	x.todo = append(x.todo, last)
	for len(x.todo) > 0 {
		id := x.todo[len(x.todo)-1]
		if x.over[id] == 0 {
			x.over[id] = asked
		}
		if x.over[id] > 0 || !x.needs(x.follows(id)) && !x.needs(x.gaveTo(id)) && !x.needsAny(x.joined[id]) {
			x.todo = x.todo[:len(x.todo)-1]
			if x.over[id] <= 0 {
				x.over[id] = x.ends(id) + 1
			}
		}
	}
	return x.over[last] - 1
}

// asked is of steps that others need: in damaged files they may need each other.
const asked = -1

// needs lets a step be computed before, and reports whether it has to be.
func (x *earliest) needs(id steps.StepID) bool {
	if id == 0 || x.over[id] != 0 {
		return false
	}
	x.todo = append(x.todo, id)
	return true
}

// needsAny does so for several.
func (x *earliest) needsAny(list []steps.StepID) (need bool) {
	for _, id := range list {
		need = x.needs(id) || need
	}
	return need
}

// joins are the steps that end a wait for a WaitGroup, all of them: those since the one before that
// is over, or is at the same time.
func joins(w *walker) map[steps.StepID][]steps.StepID {
	type group struct{ done, joins []steps.StepID }
	groups := map[steps.ObjectID]*group{}
	of := func(o steps.ObjectID) *group {
		if groups[o] == nil {
			groups[o] = &group{}
		}
		return groups[o]
	}
	for id := range steps.StepID(w.p.Steps.Len()) {
		switch s := w.p.Step(id); {
		case id == 0:
		case s.Op == steps.Done:
			of(s.Obj).done = append(of(s.Obj).done, id)
		case s.Op == steps.Join && s.Kind == steps.Take:
			of(s.Obj).joins = append(of(s.Obj).joins, id)
		case s.Kind == steps.End && w.p.Gs[w.owner[id]].Done != 0:
			o := of(w.p.Gs[w.owner[id]].Done)
			o.done = append(o.done, id)
		}
	}
	byTime := func(a, b steps.StepID) int { return cmp.Compare(w.p.Step(a).At, w.p.Step(b).At) }
	joined := map[steps.StepID][]steps.StepID{}
	for _, o := range groups {
		slices.SortFunc(o.done, byTime)
		slices.SortFunc(o.joins, byTime)
		from := 0
		for _, j := range o.joins {
			to := from
			for to < len(o.done) && w.p.Step(o.done[to]).At <= w.p.Step(j).At {
				to++
			}
			joined[j], from = o.done[from:to], to
		}
	}
	return joined
}

// follows is the step after which one comes: of its goroutine, or of the one that started that; 0:
// there is none.
func (x *earliest) follows(id steps.StepID) steps.StepID {
	if b := x.before[id]; b != 0 {
		return b
	}
	return x.after(id, x.starts[x.owner[id]])
}

// gaveTo is the step that ended the wait of one, or that stopped its goroutine; 0: none did, or it
// is left out.
func (x *earliest) gaveTo(id steps.StepID) steps.StepID {
	s := x.p.Step(id)
	if x.stopped(id) {
		return x.after(id, x.gives[s.Until])
	}
	if s.Kind != steps.Take || s.Token() == 0 || x.sparing(s) {
		return 0
	}
	return x.after(id, x.gives[s.Token()])
}

// stopped reports whether a goroutine works up to a step only because another one has not stopped
// it yet.
func (x *earliest) stopped(id steps.StepID) bool {
	s := x.p.Step(id)
	return s.Until != 0 && x.p.Gs[x.owner[id]].Told == id && x.gives[s.Until] != 0
}

// after is a step if it came before another one: those of damaged files would wait for each other.
func (x *earliest) after(id, by steps.StepID) steps.StepID {
	if by == 0 {
		return 0
	}
	if at, mine := x.p.Step(by).At, x.p.Step(id).At; at > mine || at == mine && x.owner[by] == x.owner[id] {
		return 0
	}
	return by
}

// sparing reports whether a wait is one that is left out.
func (x *earliest) sparing(s *steps.Step) bool {
	if s.Op == steps.Join && x.without == trace.NoPoint {
		return false // it is known what that is for
	}
	if s.Obj == 0 {
		return x.others
	}
	name := x.p.Objects[s.Obj].Name
	if name == trace.NoPoint {
		return x.others
	}
	return x.without != trace.NoPoint && x.p.NamedBy(name) == x.without
}

// ends is when a step is over, if those are over that it waits for.
func (x *earliest) ends(id steps.StepID) trace.Time {
	s, began := x.p.Step(id), x.begin(id)
	at := began
	if f := x.follows(id); f != 0 && x.over[f] > 0 {
		at += x.over[f] - 1 - x.p.Step(f).At
	}
	worked := began + trace.Time(s.Work)
	at += trace.Time(s.Work)
	if x.stops[id] { // what the helper did before is less, or nothing
		at = 0
	}
	_, idle := x.p.Idle[id]
	switch {
	case idle: // how often a helper is woken follows from the length of the run
		return 0
	case x.stopped(id) && x.gaveTo(id) != 0:
		return x.over[x.gaveTo(id)] - 1 + max(0, s.At-x.p.Step(x.gaveTo(id)).At)
	case s.Kind == steps.Take && x.sparing(s):
		return at
	case s.Kind == steps.Take && x.gaveTo(id) != 0:
		by := x.gaveTo(id)
		if x.over[by] <= 0 {
			return max(at, s.At)
		}
		for _, id := range x.joined[id] {
			at = max(at, x.over[id]-1)
		}
		return max(at, x.over[by]-1+s.At-x.p.Step(by).At)
	case s.Kind == steps.Ready && worked >= x.since:
		return at + trace.Time(s.Lasts()) // what is left is that a processor was idle
	case s.Kind == steps.Delay && x.p.Objects[s.Obj].Ticks:
		return max(at, s.At)
	}
	return at + max(0, s.At-worked)
}
