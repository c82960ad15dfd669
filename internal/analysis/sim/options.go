package sim

import "qinst.dev/internal/analysis/steps"

// Policy is how goroutines get processors.
type Policy string

// Policies.
const (
	Sharing Policy = "ps"   // all that could run share them evenly
	List    Policy = "fifo" // each keeps one until it waits; the one that could run first is next
	Go      Policy = "go"   // as Go's scheduler does; see scheduler
)

// Policies are all of them.
var Policies = []Policy{Sharing, List, Go}

// Exit is the order in which goroutines leave a barrier.
type Exit string

// Orders.
const (
	ExitRecorded Exit = "recorded" // in which they left it in the recorded run
	ExitFIFO     Exit = "fifo"     // in which they came
	ExitReverse  Exit = "reverse"  // in which they came, the last one first
	ExitFixed    Exit = "fixed"    // of their creation
)

// Exits are all of them.
var Exits = []Exit{ExitRecorded, ExitFIFO, ExitReverse, ExitFixed}

// Options of a run.
type Options struct {
	Procs  int // 0: as many as goroutines
	Policy Policy
	Times
	Change
	Kept
	Watch *Watch // requests, to see how long they take; nil: none
	LIFO  bool   // of goroutines that wait for a channel the last one is served first
	Exit  Exit   // of barriers; empty: a goroutine that ends a wait need not wait for it
	Log   *Log   // to be written; nil: none
	Seed  uint64 // of Go's scheduler, which steals at random
	Keep  bool   // what weights and the path need
	// with Keep: what [Run.Slack] and [Run.Marked] need, of a run under Sharing with a processor
	// for each goroutine
	Order bool
}

// Times are how long work and waits take, if not as in the recorded run.
type Times struct {
	// Length gives the length of a step's work in ns.
	Length func(steps.StepID) float64
	// Delayed gives what a delay for a timer, the network or the system is multiplied by.
	Delayed func(steps.StepID) float64
	// HandOver gives the wake-up latency, in ns: from when a goroutine could run to when it does,
	// if a processor is idle, and has been for some ns (below 0: not known). It also gives the time
	// from a write to another goroutine of the process to the arrival of the data.
	HandOver func(id steps.StepID, idle float64) float64
	// Toward gives by how much the length of a step's work changes, to see how T does: see
	// [Run.Slope].
	Toward func(steps.StepID) float64
}

// Change is a change of the program.
type Change struct {
	// Split are locks of which there are Parts each: a goroutine that takes one gets the next of
	// these, in turn.
	Split map[steps.ObjectID]bool
	Parts int
	// Capped are channels and semaphores of another capacity, Cap. Of channels that lend their
	// items there are as many more of these.
	Capped  map[steps.ObjectID]bool
	Lends   map[steps.ObjectID]bool
	Cap     int
	Workers *Pool // more or fewer than there were; nil: as many
}

// Kept is what is supposed of objects that keep the order of the recorded run.
type Kept struct {
	Turns *Turns // in which operations come one after another; nil: only waits keep their order
	Loose bool   // nobody waits for those that anybody may release: locks and semaphores
}

// recorded reports whether nothing is different that could change what goroutines do.
func (c *Change) recorded() bool { return c.Workers == nil && len(c.Capped)+len(c.Split) == 0 }

// Outside reports whether a delay is one that the program asked for: for a timer, the network or
// the system.
func Outside(s *steps.Step) bool {
	c := s.Cause()
	return s.Kind == steps.Delay && (c == steps.Timer || c == steps.Network || c == steps.Call)
}
