package critpath

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

const (
	// delayedFrom is the least share of the run that the waits for an object take, if they are
	// followed.
	delayedFrom = 0.05
	// mostFollowed is how many waits for an object are followed, at regular distances.
	mostFollowed = 1000
	// mostBack is how many steps of a goroutine are looked at for one wait of another.
	mostBack = 256
)

// link identifies delays that are added up: the waits of a procedure for an object, and the waits
// that prolong them.
type link struct {
	object, by, next trace.PointID
	cause            steps.Cause
	place            trace.Frame
}

// delayed finds the delayed waits of a program, longest first. Waits are looked at as they were, on
// the critical path or not.
func (b *builder) delayed(w *walker) (list []Delayed) {
	type waits struct{ ns, n int64 }
	of := map[trace.PointID]*waits{}
	each := func(f func(id steps.StepID, name trace.PointID, from trace.Time)) {
		for id := range steps.StepID(b.p.Steps.Len()) {
			s := b.p.Step(id)
			if id == 0 || s.Kind != steps.Take || s.Obj == 0 || s.Token() == 0 ||
				w.gives[s.Token()] == 0 {
				continue
			}
			if name := b.p.Objects[s.Obj].Name; name != trace.NoPoint {
				f(id, b.p.NamedBy(name), w.begin(id)+trace.Time(s.Work))
			}
		}
	}
	each(func(id steps.StepID, name trace.PointID, from trace.Time) {
		x := of[name]
		if x == nil {
			x = &waits{}
			of[name] = x
		}
		x.ns, x.n = x.ns+int64(b.p.Step(id).At-from), x.n+1
	})
	links, seen := map[link]int64{}, map[trace.PointID]int64{}
	each(func(id steps.StepID, name trace.PointID, from trace.Time) {
		every := of[name].n/mostFollowed + 1
		if seen[name]++; measure.Ratio(of[name].ns, b.res.T) < delayedFrom || seen[name]%every != 0 {
			return
		}
		l := link{object: name, by: b.owner(b.p.Step(id).Point()), next: trace.NoPoint}
		b.givers(w, w.gives[b.p.Step(id).Token()], from, l, func(l link, ns trace.Time) {
			links[l] += every * int64(ns)
		})
	})
	for l, ns := range links {
		c := Delayed{Object: b.r.T.Points[l.object].Name, Ns: ns}
		if l.by >= 0 {
			c.By = b.r.T.NameOf(l.by)
		}
		if l.next >= 0 {
			c.Next = b.r.T.Points[l.next].Name
		} else {
			c.Kind, c.Place = "wait:"+l.cause.String(), Place{l.place.Function, l.place.File, l.place.Line}
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y Delayed) int {
		return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Object, y.Object), cmp.Compare(x.By, y.By),
			cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Line, y.Line),
			cmp.Compare(x.Next, y.Next))
	})
	return list
}

// givers calls f for the waits since a time of the goroutine whose step ended another one's.
func (b *builder) givers(w *walker, give steps.StepID, since trace.Time, l link,
	f func(link, trace.Time)) {
	id := w.before[give]
	for range mostBack {
		if id == 0 || b.p.Step(id).At <= since {
			return
		}
		s := b.p.Step(id)
		worked := max(since, w.begin(id)+trace.Time(s.Work))
		switch {
		case s.At <= worked:
		case s.Kind == steps.Take && s.Obj != 0 && b.p.Objects[s.Obj].Name != trace.NoPoint:
			to := l
			to.next = b.p.NamedBy(b.p.Objects[s.Obj].Name)
			f(to, s.At-worked)
		case s.Kind == steps.Delay && s.Cause() <= steps.Call:
			to := l
			to.cause = s.Cause()
			to.place = b.waitsAt(waiting(worked, s.At, id, s.Cause()), w.owner[id])
			f(to, s.At-worked)
		}
		id = w.before[id]
	}
}

// owner is the procedure of an operation.
func (b *builder) owner(at trace.PointID) trace.PointID {
	if at >= 0 && b.r.T.Points[at].Kind == spec.PointSync {
		return b.r.T.Points[at].Owner
	}
	return at
}
