package sim

import (
	"math/rand/v2"

	"qinst.dev/internal/analysis/steps"
)

// simulation is the state of a run of a program. Its methods are in the files of the layers after
// this one; see the comment of the package.
type simulation struct {
	p       *steps.Program
	o       Options
	gs      []goroutine
	objects []object
	tokens  []tokenState
	clock
	trail
	wrote []float64 // by token from [steps.Waits.FirstWrite] on, when it was given
	queues
	team
	sched *scheduler // of policy Go
	rec   *recorder
	*barriers
	idlers *idlers // nil: the program has none
	// goOn is the method steps, for files that steps.go uses: it lets a goroutine that has a
	// processor take its steps, up to the next work or wait.
	goOn func(steps.G)
}

// clock is the time, with the work and delays that are under way.
type clock struct {
	v, t   instant // virtual and real time
	work   queue   // by virtual time
	delays queue   // by real time
	n      int     // goroutines that run
	procs  float64
}

// trail is the record of a run.
type trail struct {
	run   Run
	node  nodeID   // the one at hand
	needs []nodeID // that the goroutine woken next also waited for
	// main has returned, and the run is over with it, or with the last request
	returned, over bool
}

// queues are those of goroutines that do not run.
type queues struct {
	blocked []steps.G // goroutines that wait, in order; some do no longer
	// processors, under list scheduling: since when they are idle; the one that is last is taken
	// first
	idle  []float64
	ready []steps.G            // under list scheduling
	lines map[steps.G][]queued // goroutines that wait for another one's processor, by that
	turns *turns               // nil: no operation waits for its turn
}

// turns is the state of [Turns] in a run.
type turns struct {
	*Turns
	next  []int32          // by object
	later map[turn]steps.G // goroutines that wait for their turn
}

type turn struct {
	obj steps.ObjectID
	at  int32
}

// queued is a goroutine in a processor's queue, in a step.
type queued struct {
	g    steps.G
	step steps.StepID
}

// team is the progress of a pool's workers.
type team struct {
	jobs    int       // that one of them does or has done
	surplus []steps.G // workers without any
}

// scheduler is the state of Go's scheduler; scheduler.go describes how it decides.
type scheduler struct {
	s      *simulation
	procs  []processor
	at     int32 // the processor on which something happens, -1: none
	global []steps.G
	// their timers are due: the next processor that looks for a goroutine runs them first
	due []steps.G
	// the network has something for them: a processor finds out when there is nothing else to run
	arrived []steps.G
	timer   bool    // what happens is the end of a timer
	polled  bool    // or of a wait for the network
	late    float64 // how much later than this an idle processor finds out, in ns
	queued  int     // goroutines that are ready, in all queues and places
	rand    *rand.Rand
	waking  bool    // a processor is being woken, or holds off: no other one is woken meanwhile
	from    nodeID  // the node with which that began
	looks   float64 // how long it takes
	monitor
}

// monitor is that of the runtime, which looks every 10 ms at which goroutine runs.
type monitor struct {
	tick   float64 // ns after which it looks again
	phase  float64 // when it looks first
	slices int     // that goroutines have had
}

// processor is one of the scheduler's processors.
type processor struct {
	g     steps.G // that it runs; NoG: none
	next  steps.G // NoG: none
	queue []steps.G
	since float64 // the goroutine's time began,
	until float64 // and ends
	freed float64 // when it became idle, if it is
	// the goroutine that was next on another processor when this one began to hold off from taking
	// it; NoG: none
	seen steps.G
}

// barriers is the state of a program's barriers: see [steps.Crossing].
type barriers struct {
	at        map[steps.StepID]int32 // crossing, by the step in which a goroutine waits for all to arrive
	takes     map[steps.StepID]int32 // by that of a wait
	gives     map[steps.StepID]int32 // by that of its end
	came      [][]arrival            // by crossing, in their order
	waits     []steps.G              // the goroutine that ends the waits, once all have begun
	left      []int                  // of its waits, how many are ended
	crossings []steps.Crossing
}

// arrival is that of a goroutine which waits, and where.
type arrival struct {
	g    steps.G
	take steps.StepID
}

// idlers are the goroutines whose wait for a timer may end earlier, by what would end it.
type idlers struct {
	by map[steps.Token]steps.G      // by token
	on map[steps.ObjectID][]steps.G // by channel
}

// recorder writes a log. A nil one does not.
type recorder struct {
	*Log
	s     *simulation
	last  uint64
	hand  steps.G // the goroutine that acts; NoG: none does
	gs    []recorded
	procs []bool // that have a goroutine, under list scheduling
}

// recorded is the state of a goroutine in the log.
type recorded struct {
	state state
	seq   uint32
	woken uint32
	ready uint64
	by    steps.G
	first steps.StepID // that it came to since it has run
	call  bool         // it waits in a system call
}

type state uint8

const (
	unborn state = iota
	runnable
	running
	waiting
)
