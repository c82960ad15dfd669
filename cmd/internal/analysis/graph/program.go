package graph

import (
	"qinst.dev/cmd/internal/analysis/replay"
	"qinst.dev/cmd/internal/trace"
)

// Program is what the goroutines of a run did.
type Program struct {
	R       *replay.Replay // names, contexts and sets
	Procs   int            // GOMAXPROCS, its maximum
	End     trace.Time     // of the traced time
	Last    int            // the goroutine with whose last step the run ends; -1: it ends when nothing is left to do
	Gs      []Goroutine
	Steps   []Step // of all goroutines, in the order of the run; the first one is none's
	Parts   []Part // of all steps' work
	Objects []Object
	Tokens  int // numbers of tokens are below it

	Operations int // on objects
}

// Goroutine is one of them.
type Goroutine struct {
	ID      trace.GoID
	First   StepID
	By      int        // who started it; -1: not known, it begins at Created
	Created trace.Time // as recorded
	Context replay.ContextID
	Done    ObjectID // the WaitGroup that its end is an operation on, 0: none
	System  bool
}

// StepID is an index of [Program.Steps]. 0 is none.
type StepID uint32

// Step is work and what ends it: something that the goroutine does, or a wait.
type Step struct {
	At    trace.Time // when it was over, as recorded
	Work  int64      // ns of a processor's time, before
	Wait  int64      // ns; of a Delay and of a Ready as far as a processor was idle: the program waits that long on any machine
	Arg   uint32     // Start: the goroutine; Give, Take: the token; Delay: a [Cause]
	Obj   ObjectID
	Next  StepID        // of the same goroutine
	parts uint32        // first one in Program.Parts; the next step's first one is behind the last
	Point trace.PointID // of the operation, or the innermost procedure of a wait
	Need  uint32        // of a Join: operations Done before it
	Kind  Kind
	Op    Op
}

// Kind is what ends a step.
type Kind uint8

// Kinds.
const (
	End     Kind = iota // the goroutine
	Start               // it starts another one
	Give                // it ends a wait
	Take                // it waits until somebody ends that
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
	Unknown // the runtime does not tell
	WakeUp  // it could run, and a processor was idle
	Off     // the operating system had taken its processor
	NumCauses
)

func (c Cause) String() string {
	return [NumCauses]string{"timer", "network", "system call", "unknown", "wake-up", "off-cpu"}[c]
}

// Op is an operation on an object.
type Op uint8

// Operations. Those that Take, or follow a Take on their object, began with that wait.
const (
	NoOp Op = iota
	Lock
	Unlock
	RLock
	RUnlock
	Send
	Receive
	Close
	Add
	Done
	Join // WaitGroup.Wait
	NumOps
)

// ObjectID is an index of [Program.Objects]. 0 is none.
type ObjectID uint32

// Object is what goroutines synchronize by.
type Object struct {
	Address trace.Address
	Name    trace.PointID // the operation whose name it has, NoPoint if none was seen
	Free    bool          // operations decide who waits; else tokens
	Cap     int           // of a channel, -1: unlimited as far as is known

	ops    [NumOps]int64
	unfit  bool     // an operation was not seen
	told   bool     // its capacity is that of an event
	silent bool     // a wait for it ended without one
	goes   bool     // a WaitGroup whose goroutines its method Go starts
	joins  []StepID // that no later Done followed
	queue  int      // longest that was seen
	full   bool     // a sender waited
}

// Part is a part of a step's work, in one context.
type Part struct {
	Ns      int64
	Context replay.ContextID
}

// PartsOf returns the parts of a step's work.
func (p *Program) PartsOf(s StepID) []Part {
	end := uint32(len(p.Parts))
	if int(s)+1 < len(p.Steps) {
		end = p.Steps[s+1].parts
	}
	return p.Parts[p.Steps[s].parts:end]
}
