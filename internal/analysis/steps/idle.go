package steps

import (
	"slices"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A select that waits for a timer and for others goes on with what comes first. A helper that does something with every tick until it is told to end
// makes no run last: how many ticks there are follows from how long it lasts. One that takes jobs, and looks after something when none has come for a while, goes
// on with the next job as soon as there is one. So a timer that came first in the recorded run is not waited for, in a computed one, where what came next
// is there already.

// Idle is of a wait for a timer what ends it if it comes first.
type Idle struct {
	Next StepID // the goroutine's next wait in the same select that was not for a timer, or operation on a channel of it; 0: the end of the program
	Ends bool   // the goroutine does nothing in that select behind it: what it would do with the timer is left out
}

// Tick is such a wait.
type Tick struct {
	G    int32
	Step StepID
}

// idles is what is known of the waits of a goroutine at one place.
type idles struct {
	stack trace.StackID
	in    trace.PointID
	ticks []StepID   // waits for timers since somebody else ended one
	told  []StepID   // those before that
	last  StepID     // what they would have been ended by
	chans []ObjectID // whose operations ended others
}

// ended notes that a goroutine's last step is the end of a wait in a select, or for a timer's channel, and by what.
func (b *builder) ended(m *mine, w *replay.Wait, by replay.Waker) {
	timer, reason := by.G == nil && by.Cause == trace.WakeTimer, b.r.T.Reason(w.Reason)
	if selects := strings.HasPrefix(reason, "select"); !timer && (by.G == nil || !selects) || !selects && !strings.HasPrefix(reason, "chan") {
		return
	}
	i := slices.IndexFunc(m.idles, func(x idles) bool { return x.stack == w.Stack && x.in == w.In })
	if i < 0 {
		i = len(m.idles)
		m.idles = append(m.idles, idles{stack: w.Stack, in: w.In})
	}
	x := &m.idles[i]
	if timer {
		x.ticks = append(x.ticks, m.last)
		return
	}
	if id := b.p.Step(m.last).Obj; id != 0 && !slices.Contains(x.chans, id) {
		x.chans = append(x.chans, id)
	}
	b.first(x, m.last)
}

// operated notes an operation on a channel that did not wait.
func (b *builder) operated(m *mine, id ObjectID, at StepID) {
	for i := range m.idles {
		if x := &m.idles[i]; slices.Contains(x.chans, id) {
			b.first(x, at)
		}
	}
}

// first notes what would have ended waits for timers, had it come before.
func (b *builder) first(x *idles, by StepID) {
	for _, id := range x.ticks {
		b.idles(id, Idle{Next: by})
	}
	if x.told, x.last = x.told[:0], by; len(x.ticks) > 0 {
		x.told, x.ticks = x.ticks, x.told
	}
}

func (b *builder) idles(id StepID, x Idle) {
	if b.p.Idle == nil {
		b.p.Idle = map[StepID]Idle{}
	}
	b.p.Idle[id] = x
}

// leavesIdle is called at the end of a goroutine: what ended waits in a select last may have told it to end.
func (b *builder) leavesIdle(m *mine) {
	for i := range m.idles {
		if x := &m.idles[i]; len(x.ticks) == 0 {
			for _, id := range x.told {
				b.idles(id, Idle{x.last, true})
			}
		}
	}
}

// ticks reports whether a wait for a timer was one for a ticker: of a select the receive behind it tells.
func (p *Program) ticks(id StepID) bool {
	s := p.Step(id)
	for !p.Objects[s.Obj].Ticks && s.Next != 0 && p.Step(s.Next).Kind != Delay && s.Op != Receive {
		s = p.Step(s.Next)
	}
	return p.Objects[s.Obj].Ticks
}

// staysIdle is called at the end of the trace for a goroutine that has not ended, and did not have to: the end of the program comes first for it.
func (b *builder) staysIdle(m *mine) {
	if b.p.Last < 0 || b.p.Last == m.n {
		return
	}
	for i := range m.idles {
		for _, id := range m.idles[i].ticks {
			if b.p.ticks(id) {
				b.idles(id, Idle{Ends: true})
			}
		}
	}
}

// ticks finds for what others waited that had come for a lock while a helper had it that had been woken by a timer.
func (b *builder) ticks() {
	if b.p.Idle == nil {
		return
	}
	b.p.Held = map[uint32]Tick{}
	for g := range b.p.Gs {
		t := Tick{G: int32(g)}
		for id := b.p.Gs[g].First; id != 0; id = b.p.Step(id).Next {
			s := b.p.Step(id)
			if _, idle := b.p.Idle[id]; idle {
				t.Step = id
			} else if s.Kind == Give && t.Step != 0 && b.p.Objects[s.Obj].locks() > 0 {
				b.p.Held[s.Arg] = t
			}
		}
	}
}
