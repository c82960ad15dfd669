package sim

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// block notes that a goroutine waits.
func (s *simulation) block(g steps.G) bool {
	s.gs[g].waits, s.gs[g].at, s.gs[g].blocked = true, s.node, s.t
	s.blocked = append(s.blocked, g)
	if len(s.blocked) > 2*len(s.gs)+64 {
		s.stillBlocked()
	}
	return false
}

// stillBlocked leaves each goroutine that waits in the list once, where it last began: two that
// hand over to each other are there each time.
func (s *simulation) stillBlocked() {
	first := len(s.blocked)
	for _, g := range slices.Backward(s.blocked) {
		if x := &s.gs[g]; x.waits && !x.listed {
			x.listed = true
			first--
			s.blocked[first] = g
		}
	}
	s.blocked = s.blocked[:copy(s.blocked, s.blocked[first:])]
	for _, g := range s.blocked {
		s.gs[g].listed = false
	}
}

// delay lets a goroutine wait for a time.
func (s *simulation) delay(g steps.G, ns float64) {
	s.gs[g].from = s.node
	s.delays.push(entry{instant{s.t.at + ns, s.t.d}, ns, actor(g)})
}

// stand are the objects that goroutines wait for operations on when none of them goes on. The first
// is that of the wait that ended first in the recorded run: all that was done before its end has
// been done now, so that its operations cannot be all.
func (s *simulation) stand(gs []steps.G) (list []steps.ObjectID) {
	var waits []*steps.Step
	for _, g := range gs {
		if step := s.p.Step(s.gs[g].step); s.gs[g].waits && s.free(step) {
			waits = append(waits, step)
		}
	}
	slices.SortStableFunc(waits, func(a, b *steps.Step) int { return cmp.Compare(a.At, b.At) })
	seen := map[steps.ObjectID]bool{}
	for _, step := range waits {
		if !seen[step.Obj] {
			seen[step.Obj] = true
			list = append(list, step.Obj)
		}
	}
	return list
}

// free reports whether a step is an operation on a channel for which operations decide who goes on.
func (s *simulation) free(step *steps.Step) bool {
	return step.Op != steps.NoOp && s.p.Objects[step.Obj].Free && (step.Kind != steps.Take || step.Token() != 0)
}

// forget takes a goroutine from the queue that it is in.
func (s *simulation) forget(g steps.G) {
	step := s.p.Step(s.gs[g].step)
	if step.Kind == steps.Take {
		for at := &s.tokens[step.Token()]; at.waited(); at = &s.gs[at.waiter()].also {
			if at.waiter() == g {
				*at = s.gs[g].also
				break
			}
		}
	}
	o := &s.objects[step.Obj]
	if len(o.parts) > 0 {
		o = &o.parts[o.has[g]]
	}
	for _, q := range []*[]waiter{&o.queue, &o.senders} {
		for i, w := range *q {
			if w.g == g {
				*q = append((*q)[:i], (*q)[i+1:]...)
				break
			}
		}
	}
}
