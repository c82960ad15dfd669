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
	name := p.R.T.Points[op].Name
	first, ok := p.named[name]
	if !ok {
		p.named[name] = op
		return op
	}
	return first
}

// WaitedAt is the place of a delay that a timer, the network or a system call ended: in the user's
// own code, if its stack is known and has some. Of a timer it is else the procedure that waited, or
// set it, without a line unless one call alone can have set it. It is empty if neither is known.
func (p *Program) WaitedAt(step StepID) trace.Frame {
	stack, waited := p.StackOf(step)
	s := p.Step(step)
	outside := s.Waits(Network) || s.Waits(Call) // where libraries wait for what comes
	if waited {
		if f := p.R.Names.Own(stack); f.Function != "" && (!outside || p.R.Names.HasProbes(&f)) {
			return f
		}
	}
	if outside {
		return trace.Frame{}
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

// StackOf is the stack of a wait that a timer, or a goroutine that one started, the network or a
// system call ended.
func (p *Program) StackOf(step StepID) (stack trace.StackID, ok bool) {
	w := p.wait(step)
	return w.stack, w.step != 0
}

// Again reports whether a step waits in a system call in which one before it waits.
func (p *Program) Again(step StepID) bool { return p.wait(step).again }

// wait is the wait of a step; the zero one: it is none, or without a stack.
func (p *Program) wait(step StepID) wait {
	i, ok := slices.BinarySearchFunc(p.waits, step, func(s wait, id StepID) int { return cmp.Compare(s.step, id) })
	if !ok {
		return wait{}
	}
	return p.waits[i]
}

// sortWaits puts them in order of their steps.
func (p *Program) sortWaits() {
	slices.SortFunc(p.waits, func(a, b wait) int { return cmp.Compare(a.step, b.step) })
}

// setsTimers are the functions that set a timer that starts a goroutine. Their stacks are not
// recorded.
var setsTimers = map[string]bool{
	"time.AfterFunc": true, "time.(*Timer).Reset": true, "context.WithTimeout": true, "context.WithTimeoutCause": true,
	"context.WithDeadline": true, "context.WithDeadlineCause": true,
}

// setter is the only call in a procedure that may have set a timer; nil: there is none, or several.
func (p *Program) setter(proc trace.PointID) *trace.Point {
	return p.setters[proc]
}

// findSetters finds the calls that may set a timer, by the procedure that they are in.
func (p *Program) findSetters() {
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
