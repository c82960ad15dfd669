package steps

import (
	"qinst.dev/internal/trace"
)

// Step is work and its end: an action of the goroutine, or a wait.
type Step struct {
	At     trace.Time // when it was over, as recorded
	Work   int64      // ns of a processor's time, before
	number int64      // see Lasts, Transit, Dones and Amount
	ref    uint32     // see Started, Token and Cause
	Obj    ObjectID
	Next   StepID // of the same goroutine
	parts  place  // of its work
	n      uint16 // how many parts
	slept  uint16 // see Slept and Waking
	point  trace.PointID
	// in the computed run the goroutine goes on after [Goroutine.Told] as soon as this was given;
	// 0: see there
	Until Token
	Kind  Kind
	Op    Op
	Proc  int16 // processor that the goroutine got at the end of a Ready, or had while it worked; -1: not known
}

// place is where the parts of a step's work begin: the number of a list, and the index in that.
// Those of one step are in one list.
type place uint32

const placeShift = 12

func (at place) list() int  { return int(at >> placeShift) }
func (at place) index() int { return int(at & (1<<placeShift - 1)) }

// Kind is the kind of a step's end.
type Kind uint8

// Kinds.
const (
	End     Kind = iota // the goroutine
	Start               // it starts another one
	Give                // it ends a wait
	Take                // it waits until another one ends that
	Delay               // it waits for something that no goroutine does
	Ready               // it waits for a processor
	Operate             // an operation that neither waited nor ended a wait
	Cut                 // the trace ends
)

// Cause is why a goroutine is delayed.
type Cause uint32

// Causes.
const (
	Timer Cause = iota
	Network
	Call    // a system call, without a processor
	Unknown // the runtime gives no reason
	WakeUp  // it could run, and a processor was idle
	OffCPU  // the operating system had taken its processor
	NumCauses
)

func (c Cause) String() string {
	return [NumCauses]string{"timer", "network or pipe", "system call", "unknown", "wake-up", "off-cpu"}[c]
}

// Started is the goroutine that a Start starts.
func (s *Step) Started() G { return G(s.ref) }

// Token is that of a Give or a Take; 0: no goroutine gives it.
func (s *Step) Token() Token { return Token(s.ref) }

// Cause is why a Delay or a Ready takes time.
func (s *Step) Cause() Cause { return Cause(s.ref) }

// Waits reports whether a step is a wait for a cause outside of the program.
func (s *Step) Waits(c Cause) bool { return s.Kind == Delay && s.Cause() == c }

// Lasts is how long a Delay takes, in ns, and of a Ready the part in which a processor was idle: on
// any machine the program waits that long.
func (s *Step) Lasts() int64 { return s.number }

// Transit is how long it takes, in ns, from the call of the goroutine that writes to the end of the
// Take that reads; see [Program.Reads].
func (s *Step) Transit() int64 { return s.number }

// Dones is how many operations Done come before a Join.
func (s *Step) Dones() int { return int(s.number) }

// Amount is that of an Acquire or a Release.
func (s *Step) Amount() int64 { return s.number }

// Slept is how long the processor that a goroutine got with a Ready had been idle when the
// goroutine could run, in us; ok is false if it was in use.
func (s *Step) Slept() (us uint64, ok bool) {
	return uint64(s.slept) - 1, s.Kind == Ready && s.slept > 0
}

// Point is the operation, or the innermost procedure of a wait.
func (s *Step) Point() trace.PointID {
	if s.Kind == Ready {
		return trace.NoPoint
	}
	return s.point
}

// After is the goroutine that had the processor, when this one became ready, in whose queue this
// one waited in a Ready although another processor was idle; NoG: none.
func (s *Step) After() G {
	if s.Kind != Ready {
		return NoG
	}
	return G(s.point) - 1
}

// Starts is the step of a goroutine that starts another one.
func Starts(g G) Step { return Step{Kind: Start, ref: uint32(g)} }

// Gives is that of one that gives a token.
func Gives(t Token) Step { return Step{Kind: Give, ref: uint32(t)} }

// Takes is that of one that waits for a token.
func Takes(t Token) Step { return Step{Kind: Take, ref: uint32(t)} }

// Delays is that of one that waits for something outside of the program, for some ns.
func Delays(c Cause, ns int64) Step { return Step{Kind: Delay, ref: uint32(c), number: ns} }

func readies(c Cause, idle int64) Step { return Step{Kind: Ready, ref: uint32(c), number: idle} }

// SetTransit sets what [Step.Transit] returns.
func (s *Step) SetTransit(ns int64) { s.number = ns }

// SetDones sets what [Step.Dones] returns.
func (s *Step) SetDones(n int) { s.number = int64(n) }

// SetAmount sets what [Step.Amount] returns.
func (s *Step) SetAmount(n int64) { s.number = n }
