package sim

import "qinst.dev/internal/analysis/steps"

// Grain is the resolution of stamps of a [Log], in parts of a nanosecond.
const Grain = 16

const mostStamp = 1 << 61 // files may say that a run took years

// Log is the course of a computed run: when each goroutine ran, on which processor, and which one
// made it ready. Stamps are times in parts of a nanosecond, see [Grain]; they are unique, so that
// they define the order, too. Sharing has no log, because its goroutines have parts of processors.
type Log struct {
	Done []uint64       // by step: when its goroutine came to its end; 0: never
	Next []steps.StepID // by step
	Gs   []Life         // by goroutine
	End  uint64
}

// Life is the course of a goroutine in a computed run.
type Life struct {
	First   steps.StepID
	Created uint64 // 0: never
	Waits   bool   // it began with a wait
	Stays   []Stay
	Wakes   []Waking // of others, by it
}

// Stay is a stay of a goroutine on a processor.
type Stay struct {
	Ready, From, Until uint64 // when it could run, ran, and did no longer; 0: it did to the end
	At                 steps.StepID
	By                 steps.G // the goroutine that made it ready; NoG: none did
	Woken, Seq         uint32  // numbers of its transitions to ready, 0 if it had none of that kind, and to running
	Proc               int16
	Within             bool // it left its processor within the step At, and not after it
}

// Waking is a goroutine that another one made ready, in a step of that one's.
type Waking struct {
	At   uint64
	Step steps.StepID
	G    steps.G
	Seq  uint32
}
