package critpath

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// stretch is a piece of the path: work of a step, or a delay.
type stretch struct {
	from, to trace.Time
	step     steps.StepID // 0: none
	delay    bool
	cause    steps.Cause
	// of a wait with which a goroutine began: the wait of another one, which it then ended, by
	// which the path came to it
	via steps.StepID
}

func working(from, to trace.Time, step steps.StepID) stretch {
	return stretch{from: from, to: to, step: step}
}

func waiting(from, to trace.Time, step steps.StepID, cause steps.Cause) stretch {
	return stretch{from: from, to: to, step: step, delay: true, cause: cause}
}

// walker goes back over a run as it was.
type walker struct {
	p      *steps.Program
	before []steps.StepID    // of the same goroutine, by step
	owner  []steps.G         // by step
	gives  []steps.StepID    // by token
	starts []steps.StepID    // by goroutine
	left   map[int16][]leave // by processor
	// by step, whether the last wait of its goroutine was for a timer that something else could
	// have ended; nil: there are none
	ticked []bool
}

// leave is where a goroutine left its processor: at the end of the work of a step.
type leave struct {
	at   trace.Time
	step steps.StepID
}

func newWalker(p *steps.Program) *walker {
	n := p.Steps.Len()
	w := &walker{p: p, before: steps.MakeLarge[steps.StepID](n), owner: steps.MakeLarge[steps.G](n),
		gives: make([]steps.StepID, p.Tokens), starts: make([]steps.StepID, len(p.Gs)), left: map[int16][]leave{}}
	if len(p.Idle) > 0 {
		w.ticked = make([]bool, p.Steps.Len())
	}
	for g := range p.Gs {
		last, at, proc := steps.StepID(0), p.Gs[g].Created, int16(unknownProc)
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			w.before[id], w.owner[id] = last, steps.G(g)
			if w.ticked != nil {
				w.ticked[id] = w.ticks(id, last)
			}
			switch s.Kind {
			case steps.Give:
				w.gives[s.Token()] = id
			case steps.Start:
				w.starts[s.Started()] = id
			case steps.Take, steps.Delay, steps.End, steps.Ready:
				// A goroutine that waits twice in turn, or is ready at once, leaves no processor.
				// Real ones are left even after no time.
				if s.Work > 0 || s.Kind != steps.Ready && !p.R.Virtual() {
					w.left[proc] = append(w.left[proc], leave{at + trace.Time(s.Work), id})
				}
			}
			last, at, proc = id, s.At, s.Proc
		}
	}
	for _, left := range w.left {
		slices.SortFunc(left, func(a, b leave) int {
			return cmp.Or(cmp.Compare(a.at, b.at),
				cmp.Compare(a.step, b.step))
		})
	}
	return w
}

// unknownProc is a processor that is not in the trace.
const unknownProc = -1

// ticks reports whether the last wait of a goroutine, up to a step, is one that
// [steps.Program.Idle] has.
func (w *walker) ticks(id, before steps.StepID) bool {
	if s := w.p.Step(id); s.Kind == steps.Take || s.Kind == steps.Delay && s.Cause() <= steps.Network {
		_, idle := w.p.Idle[id]
		return idle
	}
	return w.ticked[before]
}

// begin is when a step's work began.
func (w *walker) begin(id steps.StepID) trace.Time {
	if b := w.before[id]; b != 0 {
		return w.p.Step(b).At
	}
	return w.p.Gs[w.owner[id]].Created
}
