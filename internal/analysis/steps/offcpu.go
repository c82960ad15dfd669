package steps

import (
	"math"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A system that does not tell when it takes a thread's processor still tells, some times a second, how long the thread has had one. What its goroutine
// lacks of that is taken evenly out of its long pieces of work, each of which then ends with a wait for the processor: a short one would
// be long, had its thread been taken off. How long the thread of a short one waited to be woken is in its readings, too.
const leastTaken = 1e6 // ns: the system seldom gives a processor away for less

// taken is what the system took from a goroutine that seems to have worked so long, in ns, since its last step.
func (b *builder) taken(g *replay.G, work int64) int64 {
	m := b.my(g)
	got := g.Got - m.got
	m.got = g.Got
	if work < leastTaken {
		return 0
	}
	return work - min(work, int64(math.Round(got)))
}

// takeOff ends a goroutine's work so far with a wait for the processor that the system took, if it took it.
func (b *builder) takeOff(g *replay.G, now trace.Time) {
	m, work := b.my(g), int64(0)
	for _, part := range m.work {
		work += part.Ns
	}
	off := b.taken(g, work)
	if off == 0 {
		return
	}
	kept := float64(work-off) / float64(work)
	for i := range m.work {
		part := &m.work[i]
		ns := int64(math.Round(kept * float64(part.Ns)))
		b.lacked += part.Ns - ns
		b.p.work[part.Context] -= part.Ns - ns
		part.Ns = ns
	}
	b.p.Off += off
	b.add(g, now, Step{Kind: Ready, Arg: uint32(Off)})
}
