package trace

// GoID is a goroutine's number in the program. 0 is no goroutine.
type GoID uint64

// State is what a goroutine does.
type State uint8

// The states of a goroutine. Running and Syscall occupy a processor: a
// goroutine in a system call counts as busy until its processor is taken.
const (
	None     State = iota // not yet created, or ended
	Runnable              // could run, has no processor
	Running
	Waiting // for the reason in Event.Arg
	Syscall // in a system call, its processor still its own
	Blocked // in a system call, without a processor
	NumStates
)

// Busy reports whether the state occupies a processor.
func (s State) Busy() bool { return s == Running || s == Syscall }

func (s State) String() string {
	if s >= NumStates {
		return "invalid"
	}
	return [NumStates]string{"none", "runnable", "running", "waiting", "syscall", "blocked in syscall"}[s]
}

// Kind says what an event is.
type Kind uint8

// Kinds of events. A procedure here is one or a loop; see [Point]. A goroutine's
// life is Create, Change ..., and a Change to None.
const (
	Create   Kind = iota + 1 // G appears in state To
	Change                   // G goes from state From to state To
	Enter                    // G enters procedure Arg
	Exit                     // G leaves procedure Arg, the last that it entered and has not left
	Procs                    // GOMAXPROCS is Arg from here on
	Mark                     // a note of the runtime: Arg is the spec.Ev kind (collector, stop of the world)
	Gap                      // Arg events of Thread are missing before this point
	Sync                     // G operates on object Obj at point Arg; Aux is the queue there
	Spin                     // G begins (Arg 1) or ends (0) to spin for a mutex
	Region                   // G begins (Aux 1) or ends (Aux 0) the region of text Arg; 0 ends the last one
	Named                    // G is called text Arg from here on
	Labeled                  // G's labels are text Arg from here on; G has its creator's before
	Trips                    // the loop that G leaves with its next event made Arg iterations
	Record                   // G emits a record of the kind of point Arg; see [Trace.Record]
	Sample                   // a sampler found G on a processor or in a system call, at path Arg of [Trace.Paths]; Aux us are the mean time between its looks, Obj is 1 for the first sample of a look. No slot: nobody was there
	Searched                 // Thread had a processor and no goroutine for the last Arg ns: it looked for work, or switched
)

// Cause says why an Exit or a Change is there, beyond the normal case.
type Cause uint8

// Causes. A Change from Waiting to Runnable has one of the Wake causes, whose
// order is that of spec's wake-up causes.
const (
	ByCode        Cause = iota // the program did it; a wake-up: by goroutine By
	WakeNetpoll                // woken by the network poller
	WakeTimer                  // woken by a timer
	WakeGC                     // woken by the garbage collector
	WakeScheduler              // woken by the scheduler
	ByPanic                    // Exit: a recovered panic or Goexit closed the procedure
	ByEnd                      // Exit: the goroutine ended inside the procedure
	ByRepair                   // not in the file: needed to make the stream consistent
	Preempted                  // Change from Running to Runnable against the goroutine's will
)

// SwitchReason is the reason of a wait that a coroutine switch began; the
// runtime records no code for it.
const SwitchReason = 1<<24 - 1

// NoSlot is the slot of no goroutine.
const NoSlot = -1

// AtPoint reports whether the event is one at the point Arg.
func (e *Event) AtPoint() bool {
	return e.Kind == Enter || e.Kind == Exit || e.Kind == Sync || e.Kind == Record
}

// Event is one step of one goroutine.
type Event struct {
	Time   int64  // ns since the trace began
	G      GoID   // whose event it is; 0 for Procs and Gap
	Obj    uint64 // Record: where it is. Address of the object of a Sync, or that a Change to Waiting is for, or a Change from Waiting by; 0 if not known
	Arg    uint64 // see Kind. Create: pc of the start function. Change to Waiting: reason code
	Slot   int32  // G's dense number: free to be another goroutine's after G ended
	By     int32  // slot of the goroutine that created or woke G, NoSlot if none did
	Thread int32  // dense number of the thread that recorded it
	Aux    uint32 // Sync: see there. Change to Waiting: number of the stack in [Trace.Stacks], 0 if not known. Create: path of By in [Trace.Paths], 0 if events tell all of it
	Kind   Kind
	From   State
	To     State
	Cause  Cause
}
