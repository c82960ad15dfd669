package steps

import "qinst.dev/internal/analysis/replay"

// pays takes what a goroutine's events cost from a part of what it works. An event is stamped first, so that its cost is behind it; what a piece
// of work is too short for is taken from the next one.
func (b *builder) pays(g *replay.G, work int64, part int) (ns int64) {
	m := b.my(g)
	if ns = min(int64(g.Paid-m.paid), work); ns <= 0 {
		return 0
	}
	m.paid += float64(ns)
	for part >= len(m.pays) {
		m.pays = append(m.pays, 0)
	}
	m.pays[part] += ns
	at := m.work[part].Context
	for int(at) >= len(b.p.paid) {
		b.p.paid = append(b.p.paid, 0)
	}
	b.p.paid[at] += ns
	return ns
}

// owes reports whether a goroutine's last piece of work was shorter than what its events before it cost.
func (b *builder) owes(g *replay.G, work int64) bool {
	return work > 0 && g.Paid-b.my(g).paid >= 1
}

// keepPaid keeps what a step's parts were for events, which begin at a place of a list of parts.
func (p *Program) keepPaid(s *Step, pays []int64) {
	if len(pays) == 0 {
		return
	}
	list, at := s.parts>>partsShift, s.parts&(1<<partsShift-1)
	for int(list) >= len(p.pays) {
		p.pays = append(p.pays, nil)
	}
	own := p.pays[list]
	if own == nil {
		own = make([]int64, 0, 1<<partsShift)
	}
	own = own[:at] // what lies between is 0: nothing was ever put there
	p.pays[list] = append(own, pays[:min(len(pays), int(s.n))]...)
}

// PaidOf is what a step's i-th part was for events, in ns.
func (p *Program) PaidOf(id StepID, i int) int64 {
	s := p.Step(id)
	list, at := int(s.parts>>partsShift), int(s.parts&(1<<partsShift-1))+i
	if list >= len(p.pays) || at >= len(p.pays[list]) {
		return 0
	}
	return p.pays[list][at]
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
