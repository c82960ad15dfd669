package replay

import "qinst.dev/internal/trace"

// Stack is where a goroutine is in the program: its open procedures and loops, on top of the
// context in which it started.
type Stack struct {
	Context ContextID
	Base    ContextID // where it started

	frames []frame
	first  trace.PointID // the procedure that it entered first, NoPoint if none is known
	main   trace.PointID // main.main of the main goroutine, which ends the root "init"; else NoPoint
}

// frame is the state that an exit must restore.
type frame struct {
	context ContextID // that it was entered from
	spins   int32
	since   trace.Time
}

// Depth is how many procedures and loops the goroutine is in that it has entered itself.
func (s *Stack) Depth() int { return len(s.frames) }

// Throughout returns the context of the innermost activation in which the goroutine has been since
// a time, as far as events show: that in which it began, if there is none.
func (s *Stack) Throughout(since trace.Time) ContextID {
	at := s.Context
	for i := len(s.frames) - 1; i >= 0 && s.frames[i].since > since; i-- {
		at = s.frames[i].context
	}
	return at
}

// push enters a context. spins is the goroutine's [Status.Spins] outside of it.
func (s *Stack) push(to ContextID, spins int32, now trace.Time) {
	s.frames = append(s.frames, frame{s.Context, spins, now})
	s.Context = to
}

// pop returns to the context that the present one was entered from, and returns the number of spins
// there. It does nothing at the bottom of the stack.
func (s *Stack) pop() (spins int32, ok bool) {
	n := len(s.frames) - 1
	if n < 0 {
		return 0, false
	}
	f := s.frames[n]
	s.Context, s.frames = f.context, s.frames[:n]
	return f.spins, true
}

// move replaces the contexts of the stack, the outermost one first, but not Base.
func (s *Stack) move(to func(ContextID) ContextID) {
	for i := range s.frames {
		s.frames[i].context = to(s.frames[i].context)
	}
	s.Context = to(s.Context)
}
