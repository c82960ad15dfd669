package graph

import "qinst.dev/cmd/internal/trace"

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
