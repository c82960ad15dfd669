package replay

import "qinst.dev/internal/trace"

// Programs whose processors are tokens (testdata/workloads/cpu) sleep instead of computing, so
// that a small machine can simulate any number of processors. Read with virtual processors, a
// goroutine runs on one while it is in a region "vcpu", and is ready while it is in a region
// "vready". Outside of these regions it takes no processor time. A wait within them is a wait for
// the token.

// The two regions.
const (
	VirtualRun   = "vcpu"
	VirtualReady = "vready"
)

// tokens are how many of the two regions a goroutine is in.
type tokens struct{ run, ready int }

// virtualState returns the state of a goroutine as the simulated program has it.
func (r *Replay) virtualState(g *G, real trace.State) trace.State {
	switch {
	case r.options.VirtualProcs == 0 || real == trace.None || g.System && !real.Busy():
		return real
	case g.virtual.run > 0:
		return trace.Running
	case g.virtual.ready > 0:
		return trace.Runnable
	}
	return trace.Waiting
}

// virtualRegion follows the two regions.
func (r *Replay) virtualRegion(g *G, now trace.Time, name string, d int) {
	switch {
	case r.options.VirtualProcs == 0:
		return
	case name == VirtualRun:
		g.virtual.run += d
	case name == VirtualReady:
		g.virtual.ready += d
	default:
		return
	}
	r.turn(g, now, r.virtualState(g, g.real), g.Spins)
}

// token reports whether a goroutine's wait is for a token, or for the end of a time in
// which it has one.
func (g *G) token() bool { return g.virtual.run+g.virtual.ready > 0 }

// HasToken reports whether a goroutine has a token, or waits for one. What it operates on meanwhile
// stands for a processor.
func (g *G) HasToken() bool { return g.token() }

// Virtual reports whether the program's processors are tokens.
func (r *Replay) Virtual() bool { return r.options.VirtualProcs > 0 }
