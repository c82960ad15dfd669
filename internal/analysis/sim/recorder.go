package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

func newRecorder(s *simulation) *recorder {
	l := s.o.Log
	if l == nil {
		return nil
	}
	n := s.p.Steps.Len()
	*l = Log{Done: make([]uint64, n), Next: make([]steps.StepID, n), Gs: make([]Life, len(s.p.Gs))}
	for id := range l.Next {
		l.Next[id] = s.p.Step(steps.StepID(id)).Next
	}
	for i := range l.Gs {
		l.Gs[i].First = s.p.Gs[i].First
	}
	return &recorder{Log: l, s: s, hand: -1, gs: make([]recorded, len(s.p.Gs)),
		procs: make([]bool, min(int(s.procs), len(s.p.Gs)+1))}
}

// stamp is the time, later than all before.
func (r *recorder) stamp() uint64 {
	r.last = max(r.last+1, uint64(min(r.s.t.at*Grain, mostStamp)))
	return r.last
}

// acts makes a goroutine the one that acts, and returns who did before.
func (r *recorder) acts(g steps.G) (before steps.G) {
	if r != nil {
		before, r.hand = r.hand, g
	}
	return before
}

// came notes that a goroutine came to the end of its step.
func (r *recorder) came(g steps.G) {
	if r == nil {
		return
	}
	at := r.s.gs[g].step
	if r.Done[at] == 0 {
		r.Done[at] = r.stamp()
	}
	if x := &r.gs[g]; x.first == 0 {
		x.first = at
	}
}

// leftOut notes that a goroutine leaves out the steps up to one.
func (r *recorder) leftOut(from, to steps.StepID) {
	if r == nil {
		return
	}
	for id := from; id != 0 && id != to; id = r.Next[id] {
		r.Done[id] = r.stamp()
	}
}

// could notes that a goroutine could run, and by whom, if it could not before.
func (r *recorder) could(g steps.G) {
	if r == nil {
		return
	}
	x := &r.gs[g]
	switch x.state {
	case unborn:
		x.ready, x.seq, x.woken, x.by = r.stamp(), 1, 0, -1
		r.Gs[g].Created = x.ready
	case waiting:
		x.ready, x.woken, x.by = r.stamp(), 0, -1
		if x.call {
			break
		}
		x.seq++
		x.woken = x.seq
		if x.by = r.hand; x.by >= 0 {
			w := &r.Gs[x.by]
			w.Wakes = append(w.Wakes, Waking{x.ready, r.s.gs[x.by].step, g, x.seq})
		}
	}
	x.state = runnable
}

// runs notes that a goroutine has a processor.
func (r *recorder) runs(g steps.G) {
	if r == nil {
		return
	}
	x, proc := &r.gs[g], r.s.gs[g].proc
	if r.s.sched == nil {
		proc = int32(max(0, slices.Index(r.procs, false)))
		r.procs[proc], r.s.gs[g].proc = true, proc
	}
	x.seq++
	x.state, x.first = running, 0
	l := &r.Gs[g]
	l.Stays = append(l.Stays, Stay{Ready: x.ready, From: r.stamp(), By: x.by, Woken: x.woken, Seq: x.seq,
		Proc: int16(proc)})
}

// left notes that a goroutine leaves its processor, within its step or after it.
func (r *recorder) left(g steps.G, within bool) {
	if r == nil {
		return
	}
	x, l, at := &r.gs[g], &r.Gs[g], r.s.gs[g].step
	n := len(l.Stays) - 1
	step, stay := r.s.p.Step(at), &l.Stays[n]
	if r.s.sched == nil {
		r.procs[stay.Proc] = false
	}
	if x.state = waiting; within || step.Kind == steps.Ready {
		x.state = runnable
	}
	x.call = step.Kind == steps.Delay && step.Cause() == steps.Call
	if begins := n == 0 && step.Kind == steps.Delay && !x.call; !within && x.first == at && r.s.length(at) == 0 &&
		(begins || step.Kind == steps.Ready) {
		l.Stays, x.seq = l.Stays[:n], x.seq-1 // it did nothing: it goes on to wait
		l.Waits = l.Waits || begins
		return
	}
	stay.Until, stay.At, stay.Within = r.stamp(), at, within
	x.ready, x.woken, x.by = stay.Until, 0, -1
}
