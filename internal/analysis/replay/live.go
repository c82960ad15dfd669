package replay

import "qinst.dev/internal/trace"

// live are the goroutines of a program, and those of them that keep a processor.
type live struct {
	gs      []*G                    // by slot
	running []*G                    // those that keep a processor, each at its busyAt
	shown   trace.Time              // the visitor has seen the segments of all running ones up to here
	ran     map[trace.ThreadID]bool // threads that have run a goroutine
}

// g is the goroutine of a slot, nil for none.
func (l *live) g(slot trace.Slot) *G {
	if slot == trace.NoSlot {
		return nil
	}
	return l.gs[slot]
}

// of returns the goroutine of a slot to be used for a new one, and makes it if necessary.
func (l *live) of(slot trace.Slot) *G {
	for int(slot) >= len(l.gs) {
		l.gs = append(l.gs, nil)
	}
	if l.gs[slot] == nil {
		l.gs[slot] = new(G)
	}
	return l.gs[slot]
}

// add adds a goroutine to the running ones.
func (l *live) add(g *G) {
	g.busyAt = len(l.running)
	l.running = append(l.running, g)
}

// remove removes one from them. The last one gets its place.
func (l *live) remove(g *G) {
	last := l.running[len(l.running)-1]
	l.running[g.busyAt] = last
	last.busyAt = g.busyAt
	l.running = l.running[:len(l.running)-1]
}

// Goroutines returns the live goroutines, and ended ones whose slot has not been reused.
func (l *live) Goroutines() []*G { return l.gs }

// Busy is how many processors of the scheduler have goroutines that do not spin. Some may be on
// threads without a processor of the machine, see [G.Keeps]: then the others have the run to
// themselves no more than if these worked. So normalized processor time is the same on a busy
// machine, and what that takes has a share of its own.
func (l *live) Busy() int { return len(l.running) }

// Ran reports whether a thread has run a goroutine so far. The runtime's monitor, for one, never
// does.
func (l *live) Ran(th trace.ThreadID) bool { return l.ran[th] }
