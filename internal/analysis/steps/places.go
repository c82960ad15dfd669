package steps

import (
	"cmp"
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// NamedBy returns the first operation of the same name: several ones on an object, and several
// objects, have one.
func (p *Program) NamedBy(op trace.PointID) trace.PointID {
	if p.named == nil {
		p.named = map[string]trace.PointID{}
	}
	name := p.R.T.Points[op].Name
	first, ok := p.named[name]
	if !ok {
		p.named[name] = op
		return op
	}
	return first
}

// SleptAt is the place of a delay that a timer ended: in the user's own code, if its stack is known
// and has some, or else the procedure that waited, or set the timer, without a line unless one call
// alone can have set it. It is empty if neither is known.
func (p *Program) SleptAt(step StepID) trace.Frame {
	stack, waited := p.SleptIn(step)
	if waited {
		if f := p.R.Names.Own(stack); f.Function != "" {
			return f
		}
	}
	proc := p.Step(step).Point()
	if proc < 0 || int(proc) >= len(p.R.T.Points) {
		return trace.Frame{}
	}
	at := trace.Frame{Function: p.R.T.Points[proc].Name}
	if call := p.setter(proc); !waited && call != nil {
		at.File, at.Line = call.File, call.Line
	}
	return at
}

// SleptIn is the stack of a wait that a timer ended, or a goroutine that one started.
func (p *Program) SleptIn(step StepID) (stack trace.StackID, ok bool) {
	if !p.sorted {
		slices.SortFunc(p.slept, func(a, b sleep) int { return cmp.Compare(a.step, b.step) })
		p.sorted = true
	}
	i, ok := slices.BinarySearchFunc(p.slept, step, func(s sleep, id StepID) int { return cmp.Compare(s.step, id) })
	if !ok {
		return 0, false
	}
	return p.slept[i].stack, true
}

// setsTimers are the functions that set a timer that starts a goroutine. Their stacks are not
// recorded.
var setsTimers = map[string]bool{
	"time.AfterFunc": true, "time.(*Timer).Reset": true, "context.WithTimeout": true, "context.WithTimeoutCause": true,
	"context.WithDeadline": true, "context.WithDeadlineCause": true,
}

// setter is the only call in a procedure that may have set a timer; nil: there is none, or several.
func (p *Program) setter(proc trace.PointID) *trace.Point {
	if p.setters == nil {
		p.setters = map[trace.PointID]*trace.Point{}
		for i := range p.R.T.Points {
			pt := &p.R.T.Points[i]
			if pt.Kind != spec.PointCall || !setsTimers[pt.Name] {
				continue
			}
			if _, several := p.setters[pt.Owner]; several {
				pt = nil
			}
			p.setters[p.R.T.Points[i].Owner] = pt
		}
	}
	return p.setters[proc]
}
