package trace

// State is the state of a goroutine.
type State uint8

// The states of a goroutine. Running and Syscall occupy a processor: a goroutine in a system call
// counts as busy until its processor is taken, or the system reports that its thread waits.
const (
	None     State = iota // not yet created, or ended
	Runnable              // could run, has no processor
	Running
	Waiting // see [Event.Wait]
	Syscall // in a system call, its processor still its own
	Blocked // in a system call, without a processor
	OffCPU  // it runs, but the operating system has taken the processor from its thread: [Event.Off]
	NumStates
)

// Busy reports whether the state occupies a processor.
func (s State) Busy() bool { return s == Running || s == Syscall }

func (s State) String() string {
	if s >= NumStates {
		return "invalid"
	}
	return [NumStates]string{"none", "runnable", "running", "waiting", "syscall", "blocked in syscall", "off-CPU"}[s]
}

// Kind is the kind of an event.
type Kind uint8

// Kinds of events, each with the method that returns its data. A procedure here is a procedure or
// a loop; see [Point]. A goroutine's life is Create, Change ..., and a Change to None.
const (
	Create    Kind = iota + 1 // G appears in state To: [Event.Creation]
	Change                    // G goes from state From to state To: [Event.Wait], [Event.Woken]
	Enter                     // G enters a procedure: [Event.Point]
	Exit                      // G leaves the procedure that it entered last and has not left: [Event.Point]
	Procs                     // GOMAXPROCS after this: [Event.Count]
	Mark                      // a note of the runtime about the collector or a stop of the world: [Event.Mark]
	Gap                       // events of Thread are missing before this one: [Event.Count]
	Sync                      // G operates on an object: [Event.Sync]
	Spin                      // G begins or ends to spin for a mutex: [Event.Begins]
	Region                    // G begins or ends a region: [Event.Begins], [Event.Text], 0 for the last one
	Named                     // G has a name after this: [Event.Text]
	Labeled                   // G has labels after this, and its creator's before: [Event.Text]
	Trips                     // the iterations of the loop that G leaves with its next event: [Event.Count]
	Record                    // G emits a record of the program's own: [Event.Point], [Trace.Record]
	Sample                    // a sampler found G on a processor or in a system call, or none: [Event.Sample]
	Searched                  // Thread had a processor and no goroutine until now: [Event.Count] ns
	Alloc                     // G took memory of the heap, and this stands for many: [Event.Alloc]
	Channel                   // G is about to operate on a new channel: [Event.Channel]
	Semaphore                 // G operates on a semaphore, and tells its size: [Event.Channel]
	Timer                     // G sets a timer that will start a goroutine: [Event.Timer]
	Task                      // G begins or ends a task of the program's: [Event.Begins], [Event.Text], [Event.Task]
	Yields                    // G has yielded some times and gone on each time: [Event.Yields]
	Joined                    // G uses an end of a connection for the first time: [Event.Joined]
	Fired                     // G, which was created by the event before, was started by a timer: [Event.Timer]
	Woke                      // Thread has a processor for which another one woke it: [Event.Woke]
)

// Cause is the cause of an Exit or a Change other than the normal one.
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

// Event is one step of one goroutine. It is flat, and its words have a different meaning for each
// kind, because reading is bound by memory. So the words must be reached through methods only.
// The result of a method for another kind of event is meaningless.
type Event struct {
	Time   Time
	G      GoID // goroutine of the event; 0 for Procs, Gap, Searched and Woke
	obj    uint64
	arg    uint64
	Slot   Slot     // G's
	By     Slot     // of the goroutine that created or woke G, NoSlot if none did
	Thread ThreadID // that recorded it
	aux    uint32
	Kind   Kind
	From   State
	To     State
	Cause  Cause
}

// AtPoint reports whether the event has a [Event.Point].
func (e *Event) AtPoint() bool {
	return e.Kind == Enter || e.Kind == Exit || e.Kind == Sync || e.Kind == Record
}

// Point is the point of an Enter, Exit, Sync or Record.
func (e *Event) Point() PointID { return PointID(e.arg) }

// Count returns the number in a Procs, Gap, Trips or Searched.
func (e *Event) Count() uint64 { return e.arg }

// Yields is how often a goroutine has yielded in a row, after that. States do not show of it: it
// is taken to run meanwhile.
func (e *Event) Yields() uint64 { return e.arg }

// Allocated is memory that a goroutine took.
type Allocated struct {
	Bytes uint64 // that it stands for
	Stack StackID
}

// Alloc returns the data of an Alloc.
func (e *Event) Alloc() Allocated { return Allocated{e.arg, StackID(e.aux)} }

// Channel returns the address and the capacity of a new channel, or the size of a semaphore.
func (e *Event) Channel() (Address, int) { return Address(e.obj), int(e.arg) }

// Timer returns the address of a timer.
func (e *Event) Timer() Address { return Address(e.obj) }

// Mark returns the kind of entry that a Mark stands for: spec.EvGCBegin and others.
func (e *Event) Mark() uint64 { return e.arg }

// Wakening is that of a thread for an idle processor.
type Wakening struct {
	Call Time // what that took the thread that did it, ns
	Late Time // since it had begun, when the other one had the processor
	Idle Time // for how long that had been idle before
}

// Woke returns the data of a Woke.
func (e *Event) Woke() Wakening { return Wakening{Time(e.obj), Time(e.arg), Time(e.aux) * 1000} }

// Text is the text of a Region, Named or Labeled, or of a Task that begins.
func (e *Event) Text() TextID { return TextID(e.arg) }

// Task is the number of a Task.
func (e *Event) Task() uint64 { return e.obj }

// Begins reports whether a Region, Spin or Task begins; else it ends.
func (e *Event) Begins() bool { return e.aux == 1 }

// Creation is how a goroutine came to be.
type Creation struct {
	Start uint64 // pc of the function that it starts in; see [Program.Function]
	Path  PathID // of the creator, if events do not show all of it
}

// Creation returns the data of a Create.
func (e *Event) Creation() Creation { return Creation{e.arg, PathID(e.aux)} }

// Waits is the object of a wait, the reason and the stack.
type Waits struct {
	Reason ReasonID
	Stack  StackID // in which it waits
	Object Address
}

// Wait returns the data of a Change to Waiting.
func (e *Event) Wait() Waits { return Waits{ReasonID(e.arg), StackID(e.aux), Address(e.obj)} }

// CalledIn is the stack of the system call that ends, by a Change from Syscall or Blocked, 0 if it
// is not known.
func (e *Event) CalledIn() StackID { return StackID(e.obj) }

// Proc is the processor on which G runs after a Change to Running, but for one from OffCPU; -1:
// not known.
func (e *Event) Proc() int { return int(e.aux) - 1 }

// Late is by how many ns a timer was late that ended a wait, by a Change to Runnable: it was due
// earlier, and no processor looked.
func (e *Event) Late() int64 { return int64(e.arg) }

// Woken returns the object by which a Change ends a wait, if only the end of the wait determines
// it, as in a select.
func (e *Event) Woken() Address { return Address(e.obj) }

// EndID is the number of an end of a connection, 0: none.
type EndID uint32

// ConnectionEnd is an end of a connection, or of a pipe.
type ConnectionEnd struct {
	ID      EndID
	Address Address // what goroutines wait for that read from it
	Key     uint64  // that of the other end differs in the lowest bit
}

// Joined returns the data of a Joined.
func (e *Event) Joined() ConnectionEnd { return ConnectionEnd{EndID(e.aux), Address(e.obj), e.arg} }

// WritesTo is the end to which the goroutine of a Change to Syscall writes, 0: it does not, or that
// is not known.
func (e *Event) WritesTo() EndID { return EndID(e.arg) }

// Operation is one on a synchronization object.
type Operation struct {
	Point  PointID
	Object Address
	Queue  int // goroutines, readers, a counter or a length that it saw
}

// Sync returns the data of a Sync.
func (e *Event) Sync() Operation { return Operation{PointID(e.arg), Address(e.obj), int(e.aux)} }

// Sampled is a sample of one goroutine.
type Sampled struct {
	Path  PathID // of the goroutine, from where it started
	Code  CodeID // where it was in the program's text, 0 if that is not known
	Gap   int64  // us on average between its looks
	First bool   // the first sample of a look
}

// Sample returns the data of a Sample. Without a slot no goroutine was on a processor.
func (e *Event) Sample() Sampled {
	return Sampled{PathID(e.arg & (1<<32 - 1)), CodeID(e.arg >> 32), int64(e.aux), e.obj != 0}
}
