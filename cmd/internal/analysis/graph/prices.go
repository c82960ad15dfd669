package graph

import "qinst.dev/cmd/internal/analysis/replay"

// pays returns what of a goroutine's work is its events' cost, in ns, and adds it to that of a context. An event is stamped first, so that its cost is behind
// it; what a piece of work is too short for is taken from the next one.
func (b *builder) pays(g *replay.G, work int64, at replay.ContextID) int64 {
	m := b.my(g)
	ns := min(int64(g.Paid-m.paid), work)
	if ns <= 0 {
		return 0
	}
	m.paid += float64(ns)
	for int(at) >= len(b.p.paid) {
		b.p.paid = append(b.p.paid, 0)
	}
	b.p.paid[at] += ns
	return ns
}

// Paid is what of the work in a context was for events, in ns, and all of that work.
func (p *Program) Paid(c replay.ContextID) (paid, work int64) {
	if int(c) < len(p.paid) {
		paid = p.paid[c]
	}
	if int(c) < len(p.work) {
		work = p.work[c]
	}
	return paid, work
}

// owes reports whether a goroutine's last piece of work was shorter than what its events before it cost.
func (b *builder) owes(g *replay.G, work int64) bool {
	return work > 0 && g.Paid-b.my(g).paid >= 1
}
