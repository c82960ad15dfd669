package critpath

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// spares returns by how much the run would be shorter at most without the waits for objects of a
// name. It is the difference of two runs in which all else takes as long as it did, and each wait
// ends when it is ended: one with those waits, and one without. In that nobody waits for processors
// any more, from the first of those waits on: what was done after them is done before. Who waits
// for an object of which no operation was seen may wait for this one, unless all of that name are
// known.
func (b *builder) spares(w *walker) func(string, bool) int64 {
	known, whole, joined := map[string]int64{}, trace.Time(-1), map[steps.StepID][]steps.StepID(nil)
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
		if known[object] = b.res.T; name != trace.NoPoint {
			if whole < 0 {
				joined = joins(w)
				whole = newEarliest(w, joined, trace.NoPoint, false).run()
			}
			known[object] = max(0, int64(whole-newEarliest(w, joined, name, others).run()))
		}
		return known[object]
	}
}

// earliest computes when each step is over at the earliest.
type earliest struct {
	*walker
	joined  map[steps.StepID][]steps.StepID
	without trace.PointID
	others  bool         // objects without a name may be of this one
	since   trace.Time   // when the first of these waits began
	over    []trace.Time // by step: 1 more than it is; 0 if it is not known yet, or asked
	todo    []steps.StepID
}

func newEarliest(w *walker, joined map[steps.StepID][]steps.StepID, without trace.PointID, others bool) *earliest {
	x := &earliest{walker: w, joined: joined, without: without, others: others, since: w.p.End + 1,
		over: steps.MakeLarge[trace.Time](w.p.Steps.Len())}
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

// gaveTo is the step that ended the wait of one; 0: none did, or it is left out.
func (x *earliest) gaveTo(id steps.StepID) steps.StepID {
	s := x.p.Step(id)
	if s.Kind != steps.Take || s.Token() == 0 || x.sparing(s) {
		return 0
	}
	return x.after(id, x.gives[s.Token()])
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
	if x.without == trace.NoPoint {
		return false
	}
	if s.Obj == 0 {
		return x.others
	}
	name := x.p.Objects[s.Obj].Name
	if name == trace.NoPoint {
		return x.others
	}
	return x.p.NamedBy(name) == x.without
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
	switch {
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
