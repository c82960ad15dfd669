package critpath

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A goroutine that asks another one of the program, waits for the answer, and then sleeps is a
// client: its pause is the load that the rest of the program has, and no part of the work. Of two
// that take turns, the one that handles requests is no client.

// mostBefore is how many steps of a goroutine before a sleep, or before an answer, are looked at.
const mostBefore = 64

// pauses are, by place, the sleeps and how many of them follow an answer.
func (b *builder) pauses(w *walker) map[Place]Pauses {
	found, serves := map[Place]Pauses{}, map[string]bool{"net/rpc.(*service).call": true, "net/http.(*conn).serve": true}
	for i := range b.r.T.Points {
		if p := &b.r.T.Points[i]; p.Flags&spec.FlagServes != 0 {
			serves[p.Name] = true
		}
	}
	for id := range steps.StepID(b.p.Steps.Len()) {
		s := b.p.Step(id)
		if id == 0 || !s.Waits(steps.Timer) {
			continue
		}
		f := b.p.WaitedAt(id)
		at := Place{f.Function, f.File, f.Line}
		x := found[at]
		x.All++
		if !b.within(id, serves) && w.answered(id) {
			x.Answered++
		}
		found[at] = x
	}
	return found
}

// within reports whether a goroutine waits within one of some functions.
func (b *builder) within(id steps.StepID, functions map[string]bool) bool {
	stack, ok := b.p.StackOf(id)
	return ok && int(stack) < len(b.r.T.Stacks) && slices.ContainsFunc(b.r.T.Stacks[stack],
		func(f trace.Frame) bool { return functions[f.Function] })
}

// answered reports whether a goroutine had an answer since it slept last.
func (w *walker) answered(id steps.StepID) bool {
	g := w.owner[id]
	for range mostBefore {
		if id = w.before[id]; id == 0 || w.p.Step(id).Waits(steps.Timer) {
			return false
		}
		s := w.p.Step(id)
		if by := w.giver(s); by != 0 && w.owner[by] != g && w.asked(by, g, s.Obj) {
			return true
		}
	}
	return false
}

// asked reports whether the last wait of a goroutine before a step was for another one, and not for
// an object.
func (w *walker) asked(id steps.StepID, g steps.G, but steps.ObjectID) bool {
	for range mostBefore {
		if id = w.before[id]; id == 0 {
			return false
		}
		s := w.p.Step(id)
		if by := w.giver(s); by != 0 && (s.Obj == 0 || s.Obj != but) {
			return w.owner[by] == g
		}
	}
	return false
}

// giver is the step that ended a wait; 0: none did.
func (w *walker) giver(s *steps.Step) steps.StepID {
	if s.Kind != steps.Take || s.Token() == 0 {
		return 0
	}
	return w.gives[s.Token()]
}
