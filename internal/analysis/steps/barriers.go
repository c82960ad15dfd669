package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A barrier that a program makes of a condition, or of a channel that is closed, has no operation
// of its own: the last goroutine to arrive ends the others' waits. In a computed run another one
// may come last. Then the one that did in the recorded run waits for that before it ends the waits,
// and before it takes the lock for that.
//
// A goroutine that ends many waits may also be a master, which waits for nobody. A barrier's waits
// are begun and ended in one procedure, which both goroutines have entered: what else they do is in
// the procedure that started them.

// barriers finds what may be crossings of barriers.
type barriers struct {
	*tape
	list []crossing
	gs   bySlot[int] // the last one that a goroutine made, and 1
}

// crossing is one that may be.
type crossing struct {
	Crossing
	proc trace.PointID // in which the waits were ended
	same bool          // and all begun
}

// begin notes that a goroutine is created.
func (x *barriers) begin(slot trace.Slot) { *x.gs.of(slot) = 0 }

// ends notes that a goroutine ended a wait, for a condition or by closing a channel. locked and
// closed are the steps in which it took the lock that it took last and holds, and closed a channel;
// 0: there is none.
func (x *barriers) ends(g, by *replay.G, w *replay.Wait, take, give, locked, closed StepID) {
	last, at := x.gs.of(by.Slot), StepID(0)
	proc := x.r.Contexts.Node(by.Context).Proc
	if c := *last - 1; c >= 0 && x.p.Step(x.list[c].Gives[len(x.list[c].Gives)-1]).Next == give {
		// nothing came between
		c := &x.list[c]
		c.Takes, c.Gives, c.same = append(c.Takes, take), append(c.Gives, give), c.same && w.In == proc &&
			g.Context != g.Base
		return
	}
	switch {
	case x.r.T.Reason(w.Reason) == "sync.Cond.Wait":
		if at = give; locked != 0 {
			at = locked
		}
	case closed != 0 && x.p.Step(closed).Next == give:
		at = closed
	default:
		return
	}
	same := w.In == proc && by.Context != by.Base && g.Context != g.Base
	x.list = append(x.list, crossing{Crossing{at, []StepID{take}, []StepID{give}}, proc, same})
	*last = len(x.list)
}

// straight reports whether a goroutine goes from one step to another without a wait but the first
// one, and soon. Of a lock that it seems to have held longer some operations were not seen.
func (x *barriers) straight(from, to StepID) bool {
	const soon = 8
	for n := 0; n < soon && from != to; n++ {
		if from = x.p.Step(from).Next; from == 0 || from != to && x.p.Step(from).Kind == Take ||
			x.p.Step(from).Kind == Delay {
			return false
		}
	}
	return from == to
}

// finish keeps what are crossings of barriers: as many goroutines come there each time.
func (x *barriers) finish() {
	type kind struct {
		proc trace.PointID
		n    int
	}
	times := map[kind]int{}
	for _, c := range x.list {
		if c.same {
			times[kind{c.proc, len(c.Takes)}]++
		}
	}
	for _, c := range x.list {
		if c.same && times[kind{c.proc, len(c.Takes)}] > 1 && x.straight(c.At, c.Gives[0]) {
			x.p.Crossings = append(x.p.Crossings, c.Crossing)
		}
	}
	x.list = nil
}
