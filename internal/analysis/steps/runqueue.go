package steps

import (
	"math"

	"qinst.dev/internal/trace"
)

// Go's scheduler puts who is woken into the queue of the processor on which it was woken. An idle processor would have to wake up to take it from there, which
// takes longer than most that is done before it in that queue. So a goroutine may wait for others although a processor is idle, and it waits shorter if they work
// less.

// mostBehind is how many goroutines are looked at that had a processor before another one, and handOver how long it may be nobody's between two, in ns.
const (
	mostBehind = 16
	handOver   = 3000
)

// had are those who had a processor of the scheduler last, in a ring.
type had struct {
	list [mostBehind]struct {
		n           int // in Program.Gs
		began, left trace.Time
	}
	n int // so far
}

// leaves notes that a goroutine leaves its processor.
func (b *builder) leaves(m *mine, now trace.Time) {
	if m.proc < 0 || b.virtual > 0 {
		return
	}
	for int(m.proc) >= len(b.had) {
		b.had = append(b.had, had{})
	}
	h := &b.had[m.proc]
	x := &h.list[h.n%mostBehind]
	x.n, x.began, x.left = m.n, m.began, now
	h.n++
}

// slept is how long the processor that a goroutine gets now had been idle when that could run, as [Step.Slept] is.
func (b *builder) slept(m *mine) uint16 {
	idle := m.seen
	if m.proc < 0 {
		return 0
	}
	if int(m.proc) < len(b.had) && b.had[m.proc].n > 0 {
		h := &b.had[m.proc]
		idle -= h.list[(h.n-1)%mostBehind].left
	}
	if idle < 0 {
		return 0
	}
	return uint16(min(idle/1000+1, math.MaxUint16))
}

// behind finds who had the processor, when a goroutine became ready, that it gets now, if that was never idle since but another one was. What it waited
// behind the last one is a hand-over.
func (b *builder) behind(m *mine, now trace.Time, s *Step) {
	if s.Wait == 0 || m.proc < 0 || int(m.proc) >= len(b.had) {
		return
	}
	h, next := &b.had[m.proc], now
	for i := h.n - 1; i >= 0 && i > h.n-mostBehind; i-- {
		x := &h.list[i%mostBehind]
		if x.n == m.n || x.left < m.seen || next-x.left > handOver {
			return
		}
		if next = x.began; x.began <= m.seen {
			s.Point = trace.PointID(x.n + 1)
			s.Wait = min(s.Wait, int64(now-h.list[(h.n-1)%mostBehind].left))
			return
		}
	}
}
