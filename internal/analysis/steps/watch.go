package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Watcher is shown what goroutines do, and in which steps. A trace that is read again has the same steps, but the last ones may not be complete.
type Watcher interface {
	// Reads is called first, with the program as far as it is read.
	Reads(p *Program)
	// Worked is called for work of the n-th goroutine behind its last step, of which some ns were for events.
	Worked(n int, at replay.ContextID, from, to trace.Time, paid int64)
	// Event is called behind each event, with its goroutine, and that which made or woke this one.
	Event(e *trace.Event, g, by Place)
}

// Place is where a goroutine is.
type Place struct {
	N    int    // in Program.Gs; -1: there is none
	Last StepID // that it has done
}

// shown shows an event to who watches, and first what its goroutine has worked up to that.
func (b *builder) shown(e *trace.Event) {
	b.watch.Event(e, b.place(e.Slot, e.Time), b.place(e.By, e.Time))
}

// place is where the goroutine of a slot is.
func (b *builder) place(slot trace.Slot, now trace.Time) Place {
	if slot == trace.NoSlot {
		return Place{N: -1}
	}
	if g := b.r.Goroutines()[slot]; g.State != trace.None {
		b.r.Settle(g, now)
	}
	m := &b.gs[slot]
	return Place{m.n, m.last}
}
