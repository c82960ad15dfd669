package steps

import (
	"slices"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// A select that waits for a timer and for other goroutines goes on with the first event. A helper
// that acts on every tick until it is stopped does not make the run longer: the number of ticks
// follows from its length. One that takes jobs, and looks after something when none has come for a
// while, goes on with the next job as soon as there is one. So a computed run does not wait for a
// timer that came first in the recorded run, if the next event is there already.

// idlers are the goroutines that wait so.
type idlers struct {
	*tape
	gs bySlot[[]idles]
}

// idles are the waits of a goroutine at one place.
type idles struct {
	stack trace.StackID // 0: it has only found what it waits for there already
	in    trace.PointID
	ticks []StepID   // waits for timers, and ticks that were there, since something else ended one
	told  []StepID   // those before that
	last  StepID     // what they would have been ended by
	chans []ObjectID // whose operations ended others
	found StepID     // the last operation there that did not wait, except on timers' channels
}

// begin notes that a goroutine is created.
func (x *idlers) begin(slot trace.Slot) {
	list := x.gs.of(slot)
	*list = (*list)[:0]
}

// ended notes that a goroutine's last step is the end of a wait in a select, or for a timer's
// channel, and by what.
func (x *idlers) ended(g *replay.G, w *replay.Wait, by replay.Waker) {
	timer, reason := by.G == nil && by.Cause == trace.WakeTimer, x.r.T.Reason(w.Reason)
	if selects := strings.HasPrefix(reason, "select"); !timer && (by.G == nil || !selects) || !selects &&
		!strings.HasPrefix(reason, "chan") {
		return
	}
	list, last := x.gs.of(g.Slot), x.my(g).last
	i := slices.IndexFunc(*list, func(x idles) bool {
		return (x.stack == w.Stack || x.stack == 0) && x.in == w.In
	})
	if i < 0 {
		i = len(*list)
		*list = append(*list, idles{in: w.In})
	}
	at := &(*list)[i]
	at.stack = w.Stack
	if timer {
		at.ticks = append(at.ticks, last)
		return
	}
	if id := x.p.Step(last).Obj; id != 0 && !slices.Contains(at.chans, id) {
		at.chans = append(at.chans, id)
	}
	x.first(at, last)
}

// operated notes an operation on a channel that did not wait.
func (x *idlers) operated(slot trace.Slot, id ObjectID, step StepID, point trace.PointID) {
	list := x.gs.of(slot)
	in, tick := x.r.T.Points[point].Owner, ticker(x.r.T, point)
	if tick && !slices.ContainsFunc(*list, func(x idles) bool { return x.in == in }) {
		*list = append(*list, idles{in: in})
	}
	for i := range *list {
		switch at := &(*list)[i]; {
		case slices.Contains(at.chans, id):
			x.first(at, step)
		case at.in == in && tick:
			at.ticks = append(at.ticks, step)
		case at.in == in && !strings.HasPrefix(x.r.T.Points[point].Name, "time."):
			at.found = step
		}
	}
}

// first notes what would have ended waits for timers, had it come before.
func (x *idlers) first(at *idles, by StepID) {
	for _, id := range at.ticks {
		x.idles(id, Idle{Next: by})
	}
	if at.told, at.last = at.told[:0], by; len(at.ticks) > 0 {
		at.told, at.ticks = at.ticks, at.told
	}
}

func (x *idlers) idles(id StepID, i Idle) {
	if x.p.Idle == nil {
		x.p.Idle = map[StepID]Idle{}
	}
	x.p.Idle[id] = i
}

// leaves is called at the end of a goroutine: the event that ended its last wait in a select may
// have stopped it, or a closed channel that it found after its last tick.
func (x *idlers) leaves(slot trace.Slot) {
	list := *x.gs.of(slot)
	for i := range list {
		at := &list[i]
		if n := len(at.ticks); n > 0 && at.found > at.ticks[n-1] &&
			x.p.Objects[x.p.Step(at.found).Obj].ops[Send] == 0 {
			x.first(at, at.found)
		}
		if len(at.ticks) == 0 {
			for _, id := range at.told {
				x.idles(id, Idle{at.last, true})
			}
		}
	}
}

// ticks reports whether a wait for a timer was one for a ticker: after a select the receive shows
// that.
func (x *idlers) ticks(id StepID) bool {
	s := x.p.Step(id)
	if x.p.Objects[s.Obj].seen.paces {
		return true
	}
	for s.Op != Receive && s.Next != 0 && x.p.Step(s.Next).Kind != Delay {
		s = x.p.Step(s.Next)
	}
	return s.Op == Receive && ticker(x.r.T, s.Point())
}

// stays is called at the end of the trace for a goroutine that has not ended, and did not have to:
// the end of the program comes first for it.
func (x *idlers) stays(g *replay.G) {
	if x.p.Last < 0 || x.p.Last == x.my(g).n {
		return
	}
	for _, at := range *x.gs.of(g.Slot) {
		for _, id := range at.ticks {
			if x.ticks(id) {
				x.idles(id, Idle{Ends: true})
			}
		}
	}
}

// held finds the waits of other goroutines for a lock while a helper held it that a timer had
// woken.
func (x *idlers) held() {
	if x.p.Idle == nil {
		return
	}
	x.p.Held = map[Token]Tick{}
	for g := range x.p.Gs {
		t := Tick{G: G(g)}
		for id := x.p.Gs[g].First; id != 0; id = x.p.Step(id).Next {
			s := x.p.Step(id)
			if _, idle := x.p.Idle[id]; idle {
				t.Step = id
			} else if s.Kind == Give && t.Step != 0 && x.p.Objects[s.Obj].locks() > 0 {
				x.p.Held[s.Token()] = t
			}
		}
	}
}
