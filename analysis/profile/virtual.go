package profile

import "qinst.dev/trace"

// Programs whose processors are tokens (testdata/workloads/cpu) sleep where they would
// compute, so that any number of processors can be had on a small machine. Read with
// virtual processors a goroutine runs on one while it is in a region "vcpu", and is ready
// while it is in a region "vready"; what else it does takes no time of a processor, and
// what it waits for in those regions is the token.
type virtual struct{ procs int }

// in is where a goroutine is among the two regions.
type in struct{ run, wait int }

// virtualState is what a goroutine does as such a program means it.
func (b *builder) virtualState(g *gor, real trace.State) trace.State {
	switch {
	case b.virtual == nil || real == trace.None || g.system && !real.Busy():
		return real
	case g.virtual.run > 0:
		return trace.Running
	case g.virtual.wait > 0:
		return trace.Runnable
	}
	return trace.Waiting
}

// virtualRegion follows the two regions.
func (b *builder) virtualRegion(slot int32, now int64, name string, d int) {
	g := &b.gs[slot]
	switch {
	case b.virtual == nil:
		return
	case name == "vcpu":
		g.virtual.run += d
	case name == "vready":
		g.virtual.wait += d
	default:
		return
	}
	b.turn(slot, now, b.virtualState(g, g.real), g.spins)
}

// token reports whether a goroutine's wait is for a token, or for the end of a time in
// which it has one.
func (g *gor) token() bool { return g.virtual.run+g.virtual.wait > 0 }
