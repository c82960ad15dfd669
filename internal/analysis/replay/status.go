package replay

import "qinst.dev/internal/trace"

// Status is whether a goroutine works, and if not, why.
type Status struct {
	State   trace.State // with virtual processors that of the simulated program
	Spins   int32       // open loops that spin, and mutexes that it spins for
	Locking bool        // it spins for a mutex

	real    trace.State // as events have it
	virtual tokens
	busyAt  int // index in live.running while it keeps a processor
}

// Busy reports whether the goroutine works on a processor. Spinning is no work: while one
// goroutine spins, the others have the run to themselves.
func (s *Status) Busy() bool { return s.State.Busy() && s.Spins == 0 }

// Keeps reports whether the goroutine is busy, or would be if the operating system had not taken
// its thread's processor. It keeps a processor of the scheduler all the same, which no other
// goroutine can use.
func (s *Status) Keeps() bool { return keeps(s.State, s.Spins) }

func keeps(s trace.State, spins int32) bool { return (s.Busy() || s == trace.OffCPU) && spins == 0 }

// HasToken reports whether the goroutine has a token, or waits for one: a wait is for the token
// then, or for the end of the time in which it has one. What the goroutine operates on meanwhile
// stands for a processor.
func (s *Status) HasToken() bool { return s.virtual.run+s.virtual.ready > 0 }
