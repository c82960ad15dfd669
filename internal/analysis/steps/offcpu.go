package steps

import (
	"math"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A system that does not report when it takes a thread's processor still reports, some times a
// second, the thread's processor time. The part that its goroutine lacks is subtracted
// proportionally from its long pieces of work, and each then ends with a wait for the processor: a
// short one would be long, had its thread been taken off. How long the thread of a short one waited
// to be woken is in its readings, too.
const leastTaken = 1e6 // ns: the system seldom gives a processor away for less

// offCPU takes the time in which threads had no processor out of work.
type offCPU struct {
	*tape
	guesses bool            // the system did not always report when it took processors away
	lacked  int64           // ns so far that it took then
	got     bySlot[float64] // [replay.G.Got] of each goroutine at its last step
}

// begin notes that a goroutine is created.
func (x *offCPU) begin(slot trace.Slot) { *x.got.of(slot) = 0 }

// taken is the time that the system took from a goroutine with this apparent work, in ns, since its
// last step.
func (x *offCPU) taken(g *replay.G, work int64) int64 {
	last := x.got.of(g.Slot)
	got := g.Got - *last
	*last = g.Got
	if work < leastTaken {
		return 0
	}
	return work - min(work, int64(math.Round(got)))
}

// takeOff ends a goroutine's work so far with a wait for the processor that the system took, if it
// took it.
func (x *offCPU) takeOff(g *replay.G, now trace.Time) {
	m, work := x.my(g), int64(0)
	for _, part := range m.parts {
		work += part.Ns
	}
	off := x.taken(g, work)
	if off == 0 {
		return
	}
	kept := float64(work-off) / float64(work)
	for i := range m.parts {
		part := &m.parts[i]
		ns := int64(math.Round(kept * float64(part.Ns)))
		x.lacked += part.Ns - ns
		x.p.spent[part.Context] -= part.Ns - ns
		part.Ns = ns
	}
	x.p.OffCPU += off
	x.add(g, now, readies(OffCPU, 0))
}
