package steps

import (
	"math"
	"math/bits"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Whoever makes a goroutine ready while a processor is idle wakes a thread for that, with a system
// call, and some time later the thread has the processor. Both take longer the longer the processor
// has been idle: it sleeps more deeply, and a virtual one has to be woken by its host.

// Wake is what it takes to wake a thread, in ns.
type Wake struct {
	Call int64 // the thread that does it
	Late int64 // since that begins, until the other one has its processor
}

// Wakes are the means of many, by how long processors had been idle: of each class up to twice as
// long as of the one before, from a microsecond on.
type Wakes []Wake

// Of is what it takes after some ns. There must be one.
func (w Wakes) Of(idle float64) Wake {
	return w[min(bits.Len64(uint64(max(idle, 0)/1000)), len(w)-1)]
}

// wakened sums up how threads were woken, by class.
type wakened [wakeClasses]struct{ call, late, n int64 }

const (
	wakeClasses = 16
	leastWakes  = 10   // for means
	leastClass  = 5    // of a class
	usualLate   = 5000 // ns that the thread takes after the call
	mostWake    = 1e9  // ns: a damaged file may have any number
)

func (w *wakened) note(x trace.Wakening) {
	c := &w[min(bits.Len64(uint64(max(x.Idle, 0)/1000)), wakeClasses-1)]
	c.call, c.late, c.n = c.call+min(int64(x.Call), mostWake), c.late+min(int64(x.Late), mostWake), c.n+1
}

// wakes are the means. A class of which there are few has those of the nearest one, at first of one
// with less idle time. nil: there were too few.
func (w *wakened) wakes() (list Wakes) {
	n := int64(0)
	for _, c := range w {
		n += c.n
	}
	if n < leastWakes {
		return nil
	}
	list = make(Wakes, wakeClasses)
	known := false
	for i, c := range w {
		switch {
		case c.n >= leastClass:
			if list[i] = (Wake{c.call / c.n, c.late / c.n}); !known {
				for k := range i {
					list[k] = list[i]
				}
			}
			known = true
		case i > 0:
			list[i] = list[i-1]
		}
	}
	if !known {
		return nil
	}
	return list
}

// attrWake is the attribute of what it took to wake a thread when the program started, in ns.
const attrWake = "wake_ns"

// measured are those of a trace with too few: as measured when the program started, and what the
// thread usually takes after the call. nil: that was not measured.
func measured(t *trace.Tables) Wakes {
	if ns := t.Int(attrWake); ns > 0 && ns < mostWake {
		return Wakes{{ns, ns + usualLate}}
	}
	return nil
}

// wakingUnit is that of [Step.Waking], in ns.
const wakingUnit = 64

// wakes notes what of a step's work was waking threads.
func (s *Step) wakes(r *replay.Replay, parts []Part) {
	if s.Kind == Ready {
		return
	}
	ns := int64(0)
	for _, part := range parts {
		if r.Contexts.Node(part.Context).Proc == r.System.Waking {
			ns += part.Ns
		}
	}
	s.slept = uint16(min(ns/wakingUnit, math.MaxUint16))
}

// Waking is what of the work was waking threads for idle processors, in ns: on one processor it
// would not have been. What comes before a Ready is not known.
func (s *Step) Waking() int64 {
	if s.Kind == Ready {
		return 0
	}
	return int64(s.slept) * wakingUnit
}
