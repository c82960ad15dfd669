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

// state is that of a goroutine in these regions.
func (t tokens) state() trace.State {
	switch {
	case t.run > 0:
		return trace.Running
	case t.ready > 0:
		return trace.Runnable
	}
	return trace.Waiting
}

// count counts a region that begins or ends, by d, and reports whether it is one of the two.
func (t *tokens) count(region string, d int) bool {
	switch region {
	case VirtualRun:
		t.run += d
	case VirtualReady:
		t.ready += d
	default:
		return false
	}
	return true
}

// virtualState returns the state of a goroutine as the simulated program has it.
func (r *Replay) virtualState(g *G, real trace.State) trace.State {
	switch {
	case r.options.VirtualProcs == 0 || real == trace.None || g.System && !real.Busy():
		return real
	}
	return g.virtual.state()
}

// virtualRegion follows the two regions.
func (r *Replay) virtualRegion(g *G, now trace.Time, name string, d int) {
	if r.Virtual() && g.virtual.count(name, d) {
		r.turn(g, now, r.virtualState(g, g.real), g.Spins)
	}
}

// Virtual reports whether the program's processors are tokens.
func (r *Replay) Virtual() bool { return r.options.VirtualProcs > 0 }
