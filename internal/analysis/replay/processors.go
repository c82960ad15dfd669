package replay

import (
	"maps"

	"qinst.dev/internal/trace"
)

// Processors are those of the scheduler. Their number may change during a run.
type Processors struct {
	Procs int // GOMAXPROCS now, 0 before the first event that has it

	since  trace.Time         // Procs is in force since then
	lasted map[int]trace.Time // how long each number was in force, without the time since then
}

// setProcs processes the number that an event reports. Every stop of the world reports it, and it
// is usually the same as before.
func (p *Processors) setProcs(n int, now trace.Time) {
	if n != p.Procs {
		p.lasted = p.until(now)
		p.Procs, p.since = n, now
	}
}

// until returns how long each number was in force up to a time.
func (p *Processors) until(now trace.Time) map[int]trace.Time {
	lasted := maps.Clone(p.lasted)
	if lasted == nil {
		lasted = map[int]trace.Time{}
	}
	if p.Procs > 0 {
		lasted[p.Procs] += now - p.since
	}
	return lasted
}

// ProcsFor is how long GOMAXPROCS had each value until end, in ns; nil: it had only one.
func (p *Processors) ProcsFor(end trace.Time) map[int]int64 {
	lasted := p.until(end)
	if len(lasted) < 2 {
		return nil
	}
	ns := map[int]int64{}
	for n, t := range lasted {
		ns[n] = int64(t)
	}
	return ns
}

// MostProcs is the GOMAXPROCS that was in force for most of the time until end, the larger one of
// two: a program may set it when it starts.
func (p *Processors) MostProcs(end trace.Time) (most int) {
	lasted := p.until(end)
	for n, t := range lasted {
		if t > lasted[most] || t == lasted[most] && n > most {
			most = n
		}
	}
	return most
}
