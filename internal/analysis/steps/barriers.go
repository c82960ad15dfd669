package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A barrier that a program makes of a condition, or of a channel that is closed, has no operation of its own: whoever comes last ends the others' waits. In a
// computed run another one may come last. Then the one that did in the recorded run waits for that before it ends the waits, and before it takes the lock for that.
//
// Somebody who ends many waits may also be a master, who waits for nobody. A barrier's waits are begun and ended in one procedure, which both
// goroutines have entered: what else they do is in the procedure that started them.

// Crossing is the end of several waits by one goroutine that waits for all of these to have begun.
type Crossing struct {
	At    StepID   // where it does
	Takes []StepID // the waits
	Gives []StepID // their ends
}

// crossing is one that may be.
type crossing struct {
	Crossing
	proc trace.PointID // in which the waits were ended
	same bool          // and all begun
}

// crosses notes that a goroutine ended a wait, for a condition or by closing a channel.
func (b *builder) crosses(g, by *replay.G, w *replay.Wait, take, give StepID) {
	y, at := b.my(by), StepID(0)
	proc := b.r.Contexts.Node(by.Context).Proc
	if c := y.crossing - 1; c >= 0 && b.p.Step(b.crossings[c].Gives[len(b.crossings[c].Gives)-1]).Next == give { // nothing came between
		x := &b.crossings[c]
		x.Takes, x.Gives, x.same = append(x.Takes, take), append(x.Gives, give), x.same && w.In == proc && g.Context != g.Base
		return
	}
	switch {
	case b.r.T.Reason(w.Reason) == "sync.Cond.Wait":
		if at = give; len(y.holds) > 0 {
			at = y.holds[len(y.holds)-1].step
		}
	case y.closes != 0 && b.p.Step(y.closes).Next == give:
		at = y.closes
	default:
		return
	}
	b.crossings = append(b.crossings, crossing{Crossing{at, []StepID{take}, []StepID{give}}, proc, w.In == proc && by.Context != by.Base && g.Context != g.Base})
	y.crossing = len(b.crossings)
}

// straight reports whether a goroutine goes from one step to another without a wait but the first one, and soon. Of a lock that it
// seems to have held longer some operations were not seen.
func (b *builder) straight(from, to StepID) bool {
	const soon = 8
	for n := 0; n < soon && from != to; n++ {
		if from = b.p.Step(from).Next; from == 0 || from != to && b.p.Step(from).Kind == Take || b.p.Step(from).Kind == Delay {
			return false
		}
	}
	return from == to
}

// barriers keeps what are crossings of barriers: as many goroutines come there each time.
func (b *builder) barriers() {
	type kind struct {
		proc trace.PointID
		n    int
	}
	times := map[kind]int{}
	for _, c := range b.crossings {
		if c.same {
			times[kind{c.proc, len(c.Takes)}]++
		}
	}
	for _, c := range b.crossings {
		if c.same && times[kind{c.proc, len(c.Takes)}] > 1 && b.straight(c.At, c.Gives[0]) {
			b.p.Crossings = append(b.p.Crossings, c.Crossing)
		}
	}
	b.crossings = nil
}
