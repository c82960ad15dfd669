package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// timers makes the steps that set timers, and those of goroutines that the runtime starts by
// itself.
type timers struct {
	*stepper
	armed   map[trace.Address]armed // those that are set
	cycle   Token                   // that a goroutine gave when it began or ended the collector's last cycle, 0: none
	cycleAt trace.Time              // when that was
}

// armed is where a timer was set.
type armed struct {
	by   G
	step StepID
	proc trace.PointID // in which it was set
}

// set notes that a goroutine sets a timer that will start another one.
func (x *timers) set(g *replay.G, e *trace.Event) {
	x.r.Settle(g, e.Time)
	x.armed[e.Timer()] = armed{x.my(g).n, x.step(g, e.Time, Step{Kind: Operate}), x.r.Contexts.Node(g.Context).Proc}
}

// fire lets a goroutine be started by the one that set the timer, and begin with the wait for it.
func (x *timers) fire(g *replay.G, e *trace.Event) {
	at, ok := x.armed[e.Timer()]
	if !ok {
		return
	}
	delete(x.armed, e.Timer()) // a ticker's function would have to be set again
	n := x.my(g).n
	gr, s := &x.p.Gs[n], x.p.Step(at.step)
	s.Kind, s.ref = Start, uint32(n)
	gr.By, gr.Created = at.by, s.At
	wait := Delays(Timer, int64(e.Time-s.At))
	wait.point = at.proc
	x.step(g, e.Time, wait)
}

// collect lets the runtime's own goroutines follow the program into the next cycle of the
// collector, which begins where a goroutine allocates what makes the heap large enough. Nobody is
// known to wake them.
func (x *timers) collect(g *replay.G, now trace.Time) {
	x.r.Settle(g, now)
	x.cycle, x.cycleAt = x.token(), now
	x.step(g, now, Gives(x.cycle))
}
