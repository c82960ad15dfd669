package spec

// Tags of the records that an instrumented program writes. Tags from
// FirstUserTag on are for records that users define.
const (
	TagClock     = 1
	TagProbes    = 2
	TagEvents    = 3
	TagCounts    = 4
	TagFunction  = 5
	TagReason    = 6
	TagFlush     = 7
	TagOSCPU     = 8
	TagThrottle  = 9
	TagProcess   = 10
	TagLimit     = 11
	TagEnd       = 12
	TagStack     = 13
	TagFrame     = 14
	TagCallee    = 15
	TagText      = 16
	TagState     = 17
	TagLevel     = 18
	TagSums      = 19
	TagTimes     = 20
	TagHistogram = 21
	TagReduced   = 22
	TagExtension = 23
	TagGoroutine = 24
	TagMemory    = 25
	TagPath      = 26
	TagMetrics   = 27
	TagBursts    = 28
	TagCode      = 29
	TagMachine   = 30
	TagSource    = 31
	TagPrice     = 32
	TagRatios    = 33

	FirstUserTag = 256
)

// MaxProbes is the number of dense probe indexes a program can have.
const MaxProbes = 1 << 20

// GoBits is the number of low bits of a goroutine word that hold the
// goroutine's id; the bits above hold the sequence number of the transition.
// 2^40 goroutines are a million a second for twelve days.
const GoBits = 40

// Event kinds: the variants of the packed block of an "events" record. The time of a scheduling
// event is taken in the same place as in Go's own execution tracer, and the names follow that
// tracer.
const (
	EvEnter     = 1
	EvExit      = 2
	EvUnwind    = 3
	EvTime      = 4
	EvGoroutine = 5
	EvGap       = 6
	EvLeave     = 7

	EvGoCreate        = 8
	EvGoStart         = 9
	EvGoPark          = 10
	EvGoStop          = 11
	EvGoEnd           = 12
	EvGoUnpark        = 13
	EvGoSwitch        = 14
	EvSyscallBegin    = 15
	EvSyscallEnd      = 16
	EvSyscallEndNoP   = 17
	EvGoCreateSyscall = 18
	EvGoEndSyscall    = 19
	EvProcStart       = 20
	EvProcStop        = 21
	EvProcSteal       = 22
	EvProcs           = 23
	EvSTWBegin        = 24
	EvSTWEnd          = 25
	EvGCBegin         = 26
	EvGCEnd           = 27
	EvAssistBegin     = 28
	EvAssistEnd       = 29
	EvGoWait          = 30
	EvGoUnparkBy      = 31
	EvSync            = 32
	EvSpinBegin       = 33
	EvSpinEnd         = 34
	EvRegionBegin     = 35
	EvRegionEnd       = 36
	EvGoName          = 37
	EvLabels          = 38
	EvRecord          = 39
	EvSample          = 40
	EvAlloc           = 41
	EvLook            = 42
	EvOff             = 43
	EvTaken           = 44
	EvOn              = 45
	EvChannel         = 46
	EvTimer           = 47
	EvFired           = 48
	EvTaskBegin       = 49
	EvTaskEnd         = 50
	EvSemaphore       = 51
	EvLate            = 52
	EvYields          = 53
	EvEnd             = 54
	EvWakeBegin       = 55
	EvWakeEnd         = 56
)

// Wake-up causes: the origin of a transition from waiting to runnable.
const (
	CauseGoroutine = 0 // the goroutine that runs on the thread
	CauseNetpoll   = 1
	CauseTimer     = 2
	CauseGC        = 3
	CauseScheduler = 4
)

// A timer that was late by LeastLate units of LateUnit ns or more has an event that says so.
const (
	LateUnit  = 1000
	LeastLate = 10
	MostLate  = 1<<24 - 1
)

// Stop reasons of a "go stop" event.
const (
	StopSched   = 0 // runtime.Gosched and the like
	StopPreempt = 1
)

// AllThreads is the thread of an "on" event if the system's records before it were lost.
const AllThreads = 1<<24 - 1

// Kinds of points in a "probes" record.
const (
	PointProc = "proc"
	PointCall = "call"
	PointGo   = "go"
	PointLoop = "loop"
	PointSync = "sync"
	PointSite = "site"
	PointFunc = "func"

	PointRecord = "record" // a kind of record that the program defines
)

// ReasonBurst is why a point's level changed that is traced in bursts alone.
const ReasonBurst = "burst"

// Operations of points of kind sync.
const (
	OpLock      = "lock" // of a sync.Mutex, a sync.RWMutex, or through an interface
	OpUnlock    = "unlock"
	OpRLock     = "rlock"
	OpRUnlock   = "runlock"
	OpTryLock   = "trylock" // that succeeded
	OpTryRLock  = "tryrlock"
	OpAdd       = "add" // of a sync.WaitGroup
	OpDone      = "done"
	OpWait      = "wait" // of a sync.WaitGroup, over
	OpCondWait  = "cond wait"
	OpSignal    = "signal"
	OpBroadcast = "broadcast"
	OpOnce      = "once"
	OpSend      = "send"
	OpReceive   = "receive"
	OpClose     = "close"
	OpDefault   = "default" // of a select, chosen
	OpSelect    = "select"  // a site only: the chosen channel has an operation of its own
	OpAcquire   = "acquire" // of a semaphore.Weighted of golang.org/x/sync, that succeeded; its number is the amount
	OpRelease   = "release"
)

// Flags of points in a "probes" record.
const (
	FlagDeferExit = 1 << 0 // the exit is the function's first defer
	FlagLateDefer = 1 << 1 // deferred calls run after the exit and are charged to the caller
	FlagDeferred  = 1 << 2 // a call made by a defer statement
	FlagDynamic   = 1 << 3 // a call whose callee is known at run time only
	FlagSpin      = 1 << 4 // a loop that only reads shared state until it changes
	FlagForced    = 1 << 5 // probed by directive, against the rules about size
	// a sync operation whose name is that of a parameter, pointer or interface: the object may have
	// a better name elsewhere
	FlagWeakName = 1 << 6
)

// FlagDerived marks a function that is inlined, and the calls in it that it makes exactly once
// per call: they have no counter.
const FlagDerived = 1 << 7

// FlagInLine marks a call that is counted by an increment in line, which costs one part in
// InLineParts of a probe that counts; also an operation on a synchronization object that is counted
// so while it is not traced.
const (
	FlagInLine  = 1 << 8
	InLineParts = 6
)

// Levels of procedures, as instrumented code tests them: it runs as it was written; so, but its
// entries are counted in line; with its body with probes, where hits are counted in line and no
// probe is called; or with probes.
const (
	ProcPlain   = 0
	ProcEntered = 1
	ProcCounted = 2
	ProcProbed  = 3
)

// TwinListed is a bit of the third word of each entry of a package's table of twins, above the
// point. It is always set: the word is not 0, so that the table has all of its bytes in the object
// file.
const TwinListed = 1 << 29

// FlagSmall marks a procedure that is only counted: its time is in its callers' lines.
const FlagSmall = 1 << 9

// FlagSummed marks a small procedure without a counter: its hits are those of the calls in its
// package that name it.
const FlagSummed = 1 << 11

// FlagUnseen marks a site at which an operation has no probe, in a package that has probes: what is
// known of its object is not all.
const FlagUnseen = 1 << 12

// FlagPolls marks a function with a loop that ends when another goroutine wants it to: each
// iteration asks, by a channel or a context without waiting, or by a variable that others write.
const FlagPolls = 1 << 13

// FlagTimed marks a function with a loop that ends when a time is over, and not by what it has
// done.
const FlagTimed = 1 << 14

// FlagServes marks a procedure that a server calls for each request, or that is a test or a
// benchmark: users ask about its activations, so that these have events of their own as long as
// they are not too many.
const FlagServes = 1 << 15

// FlagAsks marks an operation on a channel in a select with a default, in a loop that does nothing
// else until one of its channels has something, and is its procedure's only one: it waits, though
// it works.
const FlagAsks = 1 << 16

// FlagPaced marks a function that sleeps until a time that it computes from the clock, as a limiter
// of a rate does: it sleeps less if there was more to do before.
const FlagPaced = 1 << 17

// FlagFills marks a call whose result its function keeps where it has looked before, in vain, and
// returns: the function remembers, and this is what it does where it does not.
const FlagFills = 1 << 18

// FlagChained marks a function that computes what it keeps from what it has kept, by other calls or
// in a loop: each call needs the one before.
const FlagChained = 1 << 19

// FlagStrides marks a function with a loop within another one that goes through memory across: each
// iteration touches another cache line, and with the loops exchanged it would go along.
const FlagStrides = 1 << 20

// FlagNeighbors marks a function with a loop that writes to an element of a slice that only its
// goroutine writes to, shorter than a cache line: others may write to its neighbors.
const FlagNeighbors = 1 << 21

// FlagTwice marks a procedure whose text stands twice: the entries that its ledgers' slots have are
// those of activations without probes, unless all hits are counted in line. Of one with operations
// on synchronization objects hits may be counted in line for a part of the run, so that only a
// "bursts" record has these activations.
//
// A loop with it has a body that stands twice where its procedure has probes. It has a word in
// ledgers, which [UnitWord] marks in a table's list of words: the iterations with probes. Those
// without are where a call has the hits of other callees, as far as they have been added: when
// iterations have probes again, and at the loop's exit, which adds a [LoopEnd], too.
//
// A small procedure with it has such a word, too: the activations with probes. Its slot has all.
//
// A go statement with it is in a procedure with a twin, and the only one there on its line: where
// it has a counter, that has the executions without probes, too.
const (
	FlagTwice = 1 << 10
	UnitWord  = 1 << 31
	LoopEnd   = 1 << 48
)

// NoTrips marks an unknown number of iterations in a "leave" event.
const NoTrips = 1<<64 - 1

func arg(name, unit, doc string) BitField {
	return BitField{Name: name, Bit: 0, Width: 24, Unit: unit, Doc: doc}
}

var goWord = []BitField{
	{Name: "g", Word: 1, Bit: 0, Width: GoBits, Unit: Go, Doc: "goroutine"},
	{Name: "seq", Word: 1, Bit: GoBits, Width: 64 - GoBits,
		Doc: "number of this transition of the goroutine, modulo 2^24"},
}

func variant(kind int, name string, words int, doc string, fields []BitField) Variant {
	return Variant{Kind: kind, Name: name, Words: words, Doc: doc, Fields: fields}
}

func field(name, typ, unit, doc string) Field {
	return Field{Name: name, Type: typ, Unit: unit, Doc: doc}
}

func record(tag uint32, name, doc string, fields []Field, layout *Layout) Record {
	return Record{Tag: tag, Name: name, Doc: doc, Fields: fields, Layout: layout}
}

// object is a word with an address and a number.
func object(name, doc string) []BitField {
	return []BitField{
		{Name: "object", Word: 1, Bit: 0, Width: AddressBits, Unit: Address, Doc: "lower bits of the address; 0: none"},
		{Name: name, Word: 1, Bit: AddressBits, Width: 64 - AddressBits, Doc: doc},
	}
}

// AddressBits is the number of bits of an address that events carry.
const AddressBits = 48

// Events is the layout of a thread's event blocks.
var Events = Layout{
	Delta: "ticks",
	Variants: []Variant{
		variant(EvEnter, "enter", 1, "procedure or loop entered; a loop that spins: its second iteration begun",
			[]BitField{arg("probe", Probe, "procedure or loop")}),
		variant(EvExit, "exit", 1, "procedure left; an exit by defer closes what a panic left open below it, too",
			[]BitField{arg("probe", Probe, "procedure")}),
		variant(EvUnwind, "unwind", 1, "a recovered panic, or Goexit, closed every procedure deeper than depth",
			[]BitField{arg("depth", "", "procedures that stay open")}),
		variant(EvTime, "time", 2, "absolute time; the next entry counts from it",
			[]BitField{{Name: "ticks", Word: 1, Width: 64, Unit: Ticks, Doc: "clock"}}),
		variant(EvGoroutine, "goroutine", 2, "the goroutine that runs on the thread from here on, where no scheduling event said so", goWord),
		variant(EvGap, "gap", 3, "events of this thread were lost before this one", []BitField{
			{Name: "from", Word: 1, Width: 64, Unit: Ticks, Doc: "time of the first lost event"},
			{Name: "lost", Word: 2, Width: 64, Doc: "number of lost events"}}),
		variant(EvLeave, "leave", 2, "loop left", []BitField{
			arg("probe", Probe, "loop"),
			{Name: "trips", Word: 1, Width: 64, Doc: "iterations begun; 18446744073709551615: not known"}}),

		variant(EvGoCreate, "go create", 3, "the running goroutine (none: the runtime) created g, runnable; blocked=1: waiting", append([]BitField{
			{Name: "blocked", Bit: 0, Width: 1, Doc: "1 if created waiting"},
			{Name: "path", Bit: 1, Width: 23, Doc: "of the running goroutine, if events do not tell all of it; see \"path\" records"},
			{Name: "pc", Word: 2, Width: 64, Unit: PC, Doc: "start function, see \"function\" records"}}, goWord...)),
		variant(EvGoStart, "go start", 2, "g runs on this thread", goWord),
		variant(EvGoPark, "go park", 1, "the running goroutine waits",
			[]BitField{arg("reason", "", "see \"reason\" records")}),
		variant(EvGoStop, "go stop", 1, "the running goroutine is runnable again",
			[]BitField{arg("why", "", "0 it yielded, 1 it was preempted")}),
		variant(EvGoEnd, "go end", 1, "the running goroutine ended", nil),
		variant(EvGoUnpark, "go unpark", 2, "g became runnable",
			append([]BitField{arg("cause", "", "0 by the running goroutine, 1 network poller, 2 timer, 3 garbage collector, 4 scheduler")}, goWord...)),
		variant(EvGoSwitch, "go switch", 2, "coroutine switch: the running goroutine waits (ends=1: ended), g runs",
			append([]BitField{arg("ends", "", "1 if the running goroutine ended")}, goWord...)),
		variant(EvSyscallBegin, "syscall begin", 1, "the running goroutine enters a system call, keeping its processor",
			[]BitField{arg("end", "", "of a connection, to which it writes, see \"end\" events; 0: it does not, or that is not known")}),
		variant(EvSyscallEnd, "syscall end", 1, "it left the call and still has its processor",
			[]BitField{arg("stack", "", "in which it made the call, if that was long, see \"stack\" records; 0: not known")}),
		variant(EvSyscallEndNoP, "syscall end blocked", 1, "it left the call without a processor: runnable",
			[]BitField{arg("stack", "", "in which it made the call, see \"stack\" records; 0: not known")}),
		variant(EvGoCreateSyscall, "go create syscall", 2,
			"g appeared on this thread, in a system call (a call from C)", goWord),
		variant(EvGoEndSyscall, "go end syscall", 1, "the goroutine of a call from C ended, in a system call", nil),
		variant(EvProcStart, "proc start", 1, "this thread took a processor", []BitField{arg("p", Proc, "processor")}),
		variant(EvProcStop, "proc stop", 1, "this thread gave its processor up",
			[]BitField{arg("p", Proc, "processor")}),
		variant(EvProcSteal, "proc steal", 1, "the processor was taken from a thread in a system call",
			[]BitField{arg("p", Proc, "processor")}),
		variant(EvProcs, "procs", 1, "GOMAXPROCS", []BitField{arg("n", "", "processors")}),
		variant(EvSTWBegin, "stw begin", 1, "the running goroutine asks the world to stop",
			[]BitField{arg("reason", "", "runtime's reason")}),
		variant(EvSTWEnd, "stw end", 1, "the world goes on", nil),
		variant(EvGCBegin, "gc begin", 1, "a garbage collection cycle begins", nil),
		variant(EvGCEnd, "gc end", 1, "its mark phase is over", nil),
		variant(EvAssistBegin, "assist begin", 1, "the running goroutine helps the collector", nil),
		variant(EvAssistEnd, "assist end", 1, "it goes on", nil),
		variant(EvGoWait, "go wait", 2, "the running goroutine waits for an object, in a stack", append([]BitField{
			arg("reason", "", "see \"reason\" records")}, object("stack", "see \"stack\" records; 0: not known")...)),
		variant(EvGoUnparkBy, "go unpark by", 3, "g, which waited in a select, became runnable by a channel",
			append([]BitField{
				arg("cause", "", "as in \"go unpark\""),
				{Name: "object", Word: 2, Width: 64, Unit: Address, Doc: "channel"}}, goWord...)),
		variant(EvSync, "sync", 2, "operation on a synchronization object: behind what may wait, in front of what others wait for", append([]BitField{
			arg("probe", Probe, "operation")}, object("queue",
			"waiting goroutines, readers, counter, or length of the channel, as far as it shows; at most 65535")...)),
		variant(EvSpinBegin, "spin begin", 1, "the running goroutine spins for a mutex", nil),
		variant(EvSpinEnd, "spin end", 1, "it does not any more", nil),
		variant(EvRegionBegin, "region begin", 1, "the running goroutine begins a region of its work",
			[]BitField{arg("text", "", "its name, see \"text\" records")}),
		variant(EvRegionEnd, "region end", 1, "it ends the last one of that name",
			[]BitField{arg("text", "", "its name; 0: the last one, whatever its name")}),
		variant(EvGoName, "go name", 1, "the running goroutine gets a name",
			[]BitField{arg("text", "", "see \"text\" records")}),
		variant(EvLabels, "labels", 1, "the running goroutine gets labels; those that it starts have them too",
			[]BitField{arg("text", "", "key=value,...; 0: none")}),
		{Kind: EvRecord, Name: "record", Words: 2,
			Doc: "the running goroutine emitted a record, which follows as a packet", Fields: []BitField{
				arg("probe", Probe, "the record's kind"),
				{Name: "size", Word: 1, Width: 32, Unit: Byte, Doc: "length of the packet"}}, Tail: "size"},
		variant(EvSample, "sample", 2, "a thread ran a goroutine, or was in a system call with it, when this one, a sampler, looked", []BitField{
			arg("thread", Thr, "that was looked at"),
			{Name: "path", Word: 1, Width: 32, Doc: "where the goroutine was, from where it started; see \"path\" records"},
			{Name: "weight", Word: 1, Bit: 32, Width: 31, Unit: Us, Doc: "mean time between looks at that time"},
			{Name: "first", Word: 1, Bit: 63, Width: 1, Doc: "1: the first sample of a look"}}),
		variant(EvAlloc, "allocate", 2, "the running goroutine took memory of the heap, chosen at random by bytes",
			[]BitField{
				{Name: "bytes", Word: 1, Width: AddressBits, Unit: Byte, Doc: "that the event stands for"},
				{Name: "stack", Word: 1, Bit: AddressBits, Width: 64 - AddressBits,
					Doc: "see \"stack\" records; 0: not known"}}),
		variant(EvLook, "look", 3, "as a sample, and the thread told where in the text it was", []BitField{
			arg("thread", Thr, "that was looked at"),
			{Name: "path", Word: 1, Width: 32, Doc: "as in a sample"},
			{Name: "weight", Word: 1, Bit: 32, Width: 31, Unit: Us, Doc: "mean time between looks at that time"},
			{Name: "first", Word: 1, Bit: 63, Width: 1, Doc: "1: the first sample of a look"},
			{Name: "code", Word: 2, Width: 64, Doc: "calls, and the line that ran; see \"code\" records; 0: not known"}}),
		variant(EvOff, "off", 1, "a thread lost its processor, as the operating system tells: it waits for something",
			[]BitField{arg("thread", Thr, "which")}),
		variant(EvTaken, "taken", 1, "a thread lost its processor, and goes on as soon as it gets one",
			[]BitField{arg("thread", Thr, "which")}),
		variant(EvOn, "on", 2, "a thread got a processor of the machine", []BitField{
			arg("thread", Thr, "which; 16777215: the system's records of a processor were lost before"),
			{Name: "cpu", Word: 1, Width: 32, Doc: "the machine's number of the processor"},
			{Name: "tid", Word: 1, Bit: 32, Width: 32, Doc: "the operating system's thread id"}}),
		variant(EvChannel, "channel", 2, "the running goroutine is the first one of which an operation on this channel is an event; what was at the address before is no more", []BitField{
			arg("capacity", "", "of its buffer; 16777215: as many or more"),
			{Name: "address", Word: 1, Width: AddressBits, Doc: "of the channel"}}),
		variant(EvSemaphore, "semaphore", 2, "the running goroutine operates on a semaphore, and tells its size",
			[]BitField{
				arg("size", "", "of which goroutines acquire parts; 16777215: as much or more"),
				{Name: "address", Word: 1, Width: AddressBits, Doc: "of the semaphore"}}),
		variant(EvLate, "late", 1, "the timer was late that makes the goroutine of this thread's next \"go unpark\" runnable: no processor looked for it earlier", []BitField{
			arg("by", "", "microseconds; 16777215: as many or more")}),
		variant(EvYields, "yields", 1, "the running goroutine yields some times in a row, and the scheduler lets it go on each time", []BitField{
			arg("n", "", "how often; 0: nothing happened, the word was needed meanwhile")}),
		variant(EvEnd, "end", 3, "the running goroutine uses an end of a connection for the first time", []BitField{
			arg("end", "", "its number"),
			{Name: "address", Word: 1, Width: AddressBits, Doc: "what goroutines wait for that read from it"},
			{Name: "key", Word: 2, Width: 64, Doc: "of the connection; that of the other end differs in the lowest bit"}}),
		variant(EvWakeBegin, "wake begin", 1, "the running goroutine wakes a thread, for an idle processor", nil),
		variant(EvWakeEnd, "wake end", 1, "it goes on", nil),
		variant(EvTaskBegin, "task begin", 2, "the running goroutine begins a task of runtime/trace", []BitField{
			arg("text", "", "its name, see \"text\" records"),
			{Name: "task", Word: 1, Width: 64, Doc: "its number"}}),
		variant(EvTaskEnd, "task end", 2, "the running goroutine ends a task, which another one may have begun",
			[]BitField{
				{Name: "task", Word: 1, Width: 64, Doc: "its number"}}),
		variant(EvTimer, "timer", 2, "the running goroutine sets a timer that will start a goroutine, unless it is stopped or set again before", []BitField{
			{Name: "address", Word: 1, Width: AddressBits, Doc: "of the timer"}}),
		variant(EvFired, "fired", 2, "a timer starts the goroutine of the thread's next event", []BitField{
			{Name: "address", Word: 1, Width: AddressBits, Doc: "of the timer"}}),
	},
}

// Paths is the layout of the nodes of "path" records.
var Paths = Layout{Variants: []Variant{variant(-1, "path", 1, "a path of procedures and loops", []BitField{
	{Name: "from", Width: 32, Doc: "path that leads there; 0: where the goroutine started"},
	{Name: "probe", Bit: 32, Width: 24, Unit: Probe, Doc: "procedure or loop that it leads into"},
	{Name: "untraced", Bit: 63, Width: 1, Doc: "1: no event told of the entry"},
})}}

// Codes is the layout of the nodes of "code" records.
var Codes = Layout{Variants: []Variant{variant(-1, "code", 2,
	"a line of the program's text, and the calls that lead to it", []BitField{
		{Name: "from", Width: 32, Doc: "code of the call; 0: a goroutine started here"},
		{Name: "line", Bit: 32, Width: 30, Doc: "line in the function"},
		{Name: "plain", Bit: 62, Width: 1, Doc: "1: the function's probes are in another text"},
		{Name: "function", Word: 1, Width: 63, Unit: PC,
			Doc: "entry of the function, see \"function\" records; 0: calls that are not known"},
		{Name: "inlined", Word: 1, Bit: 63, Width: 1,
			Doc: "1: other functions are inlined there; \"function\" is the return address, see \"frame\" records"},
		{Name: "atomic", Bit: 63, Width: 1, Doc: "1: what ran is an atomic operation on memory"},
	})}}

// Counts is the layout of the exact totals.
var Counts = Layout{
	Variants: []Variant{variant(-1, "count", 3, "exact totals of one point over all threads", []BitField{
		{Name: "probe", Word: 0, Width: 32, Unit: Probe, Doc: "point"},
		{Name: "hits", Word: 1, Width: 64, Doc: "times the point was reached"},
		{Name: "traced", Word: 2, Width: 64, Doc: "times it wrote an event; hits - traced were counted only"},
	})},
}

// Sums, Times, Reduced and Buckets are the layouts for points without events, and for events that
// were dropped.
var (
	Sums = Layout{Variants: []Variant{variant(-1, "sum", 4, "what one point that is not traced counted", []BitField{
		{Name: "probe", Word: 0, Width: 32, Unit: Probe, Doc: "point"},
		{Name: "level", Word: 0, Bit: 32, Width: 8, Doc: "1 count, 2 time"},
		{Name: "hits", Word: 1, Width: 64, Doc: "times the point was reached"},
		{Name: "timed", Word: 2, Width: 64, Doc: "of these, how many were timed, and ended"},
		{Name: "took", Word: 3, Width: 64, Unit: Ticks, Doc: "how long those took"},
	})}}
	Times = Layout{Variants: []Variant{variant(-1, "time", 5, "exact totals of one timed point over all threads",
		[]BitField{
			{Name: "probe", Word: 0, Width: 32, Unit: Probe, Doc: "point"},
			{Name: "timed", Word: 1, Width: 64, Doc: "activations"},
			{Name: "took", Word: 2, Width: 64, Unit: Ticks, Doc: "how long they took, with what they called"},
			{Name: "least", Word: 3, Width: 64, Unit: Ticks, Doc: "the shortest"},
			{Name: "most", Word: 4, Width: 64, Unit: Ticks, Doc: "the longest"},
		})}}
	Reduced = Layout{Variants: []Variant{variant(-1, "reduced", 2, "what extensions took from one point", []BitField{
		{Name: "probe", Word: 0, Width: 32, Unit: Probe, Doc: "point"},
		{Name: "dropped", Word: 1, Width: 64, Doc: "activations, operations or records that were traced and are not in the file"},
	})}}
	Buckets = Layout{Variants: []Variant{variant(-1, "bucket", 2, "activations of one length", []BitField{
		{Name: "bucket", Word: 0, Width: 8, Doc: "0: 0 ticks; n: 2^(n-1) to 2^n - 1"},
		{Name: "timed", Word: 1, Width: 64, Doc: "activations"},
	})}}
)

// Bursts is the layout of what bursts found: for each procedure that also ran without probes, and
// each call and loop in it. A loop that went on without probes stands for the procedure of what is
// in it, and its iterations for activations. Sums of squares and products are over bursts, since
// activations of one burst are alike.
var Bursts = Layout{Variants: []Variant{variant(-1, "burst", 5, "what bursts found at one point", []BitField{
	{Name: "probe", Word: 0, Width: 32, Unit: Probe,
		Doc: "procedure, a loop that went on without probes, or a point in one of these"},
	{Name: "plain", Word: 1, Width: 64, Doc: "of a procedure: activations without probes, in the whole run, of a loop: iterations; with the highest bit if there were more that nobody counted; else 0"},
	{Name: "hits", Word: 2, Width: 64, Doc: "in bursts; if plain is not 0: activations or iterations with probes"},
	{Name: "squares", Word: 3, Width: 64, Doc: "sum over bursts of the square of the burst's hits"},
	{Name: "products", Word: 4, Width: 64, Doc: "sum over bursts of the product of the burst's hits and of its activations of the procedure, or iterations of the loop; if plain is not 0: number of bursts that found one, or hits of an earlier one"},
})}}

// Uncounted is the bit that says of a procedure's activations, or a loop's iterations, without
// probes that some were not counted.
const Uncounted = 1 << 63

// Ratios is the layout of what bursts found of procedures whose entries were else not counted. Each
// is related to another procedure, its yardstick, whose entries always are.
var Ratios = Layout{Variants: []Variant{variant(-1, "ratio", 9, "entries of a procedure that are counted in bursts alone, and of its yardstick", []BitField{
	{Name: "probe", Word: 0, Width: 32, Unit: Probe, Doc: "the procedure"},
	{Name: "yardstick", Word: 0, Bit: 32, Width: 32, Unit: Probe, Doc: "a procedure whose entries are always counted"},
	{Name: "before", Word: 1, Width: 64, Doc: "entries of the yardstick before those of the procedure were no more counted"},
	{Name: "bursts", Word: 2, Width: 64, Doc: "since then that found an entry of either"},
	{Name: "hits", Word: 3, Width: 64, Doc: "entries of the procedure in these bursts"},
	{Name: "squares", Word: 4, Width: 64, Doc: "sum over bursts of the square of these"},
	{Name: "yards", Word: 5, Width: 64, Doc: "entries of the yardstick in these bursts"},
	{Name: "yardsquares", Word: 6, Width: 64, Doc: "sum over bursts of the square of these"},
	{Name: "products", Word: 7, Width: 64, Doc: "sum over bursts of the product of both"},
	{Name: "counted", Word: 8, Width: 64, Doc: "entries of the procedure before they were no more counted"},
})}}

// Records are the records of an instrumented program's file.
var Records = []Record{
	record(TagClock, "clock", "three clocks read together", []Field{
		field("ticks", U64, Ticks, "processor clock"),
		field("monotonic", I64, Ns, "CLOCK_MONOTONIC"),
		field("wall", I64, Ns, "since 1970-01-01 UTC"),
		field("next", U32, Ns, "until the next reading, as planned; 0: none is")}, nil),
	record(TagProbes, "probes", "the points of one package; columns, one element a point", []Field{
		field("base", U32, Probe, "dense index of the first point"),
		field("package", Str, "", "import path"),
		field("strings", "[]"+Str, "", "names, files and callees; element 0 is empty"),
		field("id", "[]"+U64, "", "stable identity: hash of (import path, function, kind, ordinal)"),
		field("kind", "[]"+Str, "", "proc, call, go, loop, sync, record (that the program defines); without probes: func, a function that has others; site, a place at which goroutines may wait"),
		field("name", "[]"+U32, "", "string: function for proc, callee for call and go (empty: known at run time only), head for loop, object for sync and site"),
		field("owner", "[]"+U32, "", "offset in this table of the procedure that contains the point; a proc: itself"),
		field("file", "[]"+U32, "", "string"),
		field("line", "[]"+U32, "", "line"),
		field("flags", "[]"+U32, "", "1 exit by defer, 2 deferred time charged to the caller, 4 call by defer, 8 dynamic callee, 16 spin loop, 32 probed by directive, 64 weak name, 128 in an inlined function, counted by that function's calls, 256 counted in line, 512 small procedure, only counted, 1024 procedure that may run without probes, loop that may go on without, 2048 small procedure that is counted where it is called, 4096 site with an operation that has no probe, 8192 function with a loop that others end, 16384 with one that the clock ends"),
		field("op", "[]"+U32, "", "string: operation of a sync point or a site, else empty"),
		field("leader", "[]"+U32, "", "offset in this table of the point whose count is this one's too, a call's or the procedure's; else the point's own"),
		field("loop", "[]"+U32, "", "offset in this table of the innermost loop around the point whose body stands twice; the point's own if there is none"),
		field("end", "[]"+U32, "", "line with a loop's end; 0: no loop")}, nil),
	record(TagEvents, "events", "a block of events of one thread; blocks of a thread are numbered from 0 without gaps",
		[]Field{
			field("thread", U32, Thr, "dense number"),
			field("tid", U32, "", "the operating system's thread id"),
			field("seq", U64, "", "number of the block"),
			field("ticks", U64, Ticks, "time from which the first entry counts"),
			field("g", U64, Go, "goroutine that runs on the thread at the start, 0 if none"),
			field("p", I32, Proc, "processor that the thread has at the start, -1 if none"),
			field("events", Packed, "", "entries")}, &Events),
	record(TagCounts, "counts", "exact totals since the start; a later record replaces an earlier one", []Field{
		field("ticks", U64, Ticks, "when"),
		field("counts", Packed, "", "points that were reached")}, &Counts),
	record(TagFunction, "function", "a function in which goroutines start", []Field{
		field("pc", U64, PC, "entry"),
		field("name", Str, "", "linker symbol"),
		field("file", Str, "", "file"),
		field("line", U32, "", "line")}, nil),
	record(TagReason, "reason", "meaning of the codes in \"go park\" events", []Field{
		field("code", U32, "", "code"),
		field("text", Str, "", "what the goroutine waits for")}, nil),
	record(TagFlush, "flush", "the writer's own cost: one run of the thread that writes this file", []Field{
		field("from", U64, Ticks, "begin"),
		field("to", U64, Ticks, "end"),
		field("bytes", U64, Byte, "written"),
		field("cpu", U64, Ns, "processor time used")}, nil),
	record(TagOSCPU, "oscpu", "what the operating system gave a thread, cumulative; a reading before the first clock is what came ahead of the trace", []Field{
		field("thread", U32, Thr, "dense number; 4294967295: the thread that writes this file"),
		field("tid", U32, "", "the operating system's thread id"),
		field("ticks", U64, Ticks, "when"),
		field("run", U64, Ns, "time on a processor"),
		field("wait", U64, Ns, "time runnable but not on a processor")}, nil),
	record(TagThrottle, "throttle", "what the process's control group lost to its quota, cumulative", []Field{
		field("ticks", U64, Ticks, "when"),
		field("throttled", U64, Ns, "time, with that of the groups around it"),
		field("group", U64, "", "which group: a hash of its path")}, nil),
	record(TagProcess, "process", "getrusage of the whole process", []Field{
		field("ticks", U64, Ticks, "when"),
		field("user", U64, Ns, "processor time in user mode"),
		field("system", U64, Ns, "processor time in the kernel"),
		field("maxrss", U64, Byte, "largest resident set"),
		field("collector", U64, Ns, "of the time, in mark workers and assists of the garbage collector, by their threads' clocks; all ones: not asked, because the system told of all switches, or not known"),
		field("looks", U64, Ns, "of the time, in telling samplers where a thread is; what the system took for that is estimated"),
		field("ended", U64, Ns, "of the time, in threads that have ended, as far as their records do not have it"),
		field("faults", U64, "", "how often a thread waited for a page that had to be read from a device"),
		field("calls", U64, "", "system calls without events, because those there were took more bytes than the rate allows; their threads kept their processors"),
		field("called", U64, Ticks, "time that these took")}, nil),
	record(TagLimit, "limit", "from here on points only count", []Field{
		field("ticks", U64, Ticks, "when"),
		field("bytes", U64, Byte, "written so far"),
		field("reason", Str, "", "which limit")}, nil),
	record(TagEnd, "end", "the program ended; the last record of a complete file", []Field{
		field("ticks", U64, Ticks, "when"),
		field("reason", Str, "", "exit, main returned, panic, fatal error, signal, exec"),
		field("status", I32, "", "exit status where it is known"),
		field("lost", U64, "", "events that no gap record tells of"),
		field("early", U64, "", "hits of points before their package was registered"),
		field("overflow", U64, "", "entries deeper than the profile stack"),
		field("unnamed", U64, "", "texts and stacks that found no room, and calls whose callee did not")}, nil),
	record(TagStack, "stack", "a stack that goroutines waited in", []Field{
		field("number", U32, "", "as in events"),
		field("pc", "[]"+U64, PC, "return addresses, innermost first")}, nil),
	record(TagFrame, "frame", "what a return address means; functions inlined there have a record each", []Field{
		field("pc", U64, PC, "return address"),
		field("level", U32, "", "0 is the innermost"),
		field("function", Str, "", "linker symbol"),
		field("file", Str, "", "file"),
		field("line", U32, "", "line")}, nil),
	record(TagCallee, "callee", "how often a call point whose callee is known at run time only called a function, on one thread; records of one point and function add up", []Field{
		field("probe", U32, Probe, "call point"),
		field("function", Str, "", "linker symbol"),
		field("hits", U64, "", "calls")}, nil),
	record(TagText, "text", "what programs say of themselves, by number", []Field{
		field("number", U32, "", "as in events"),
		field("text", Str, "", "text")}, nil),
	record(TagState, "state", "what a goroutine did when the stream began, if that is a part of another", []Field{
		field("g", U64, Go, "goroutine; 0: none, of a thread"),
		field("seq", U32, "", "number of its last transition"),
		field("state", U8, "", "1 runnable, 2 running, 3 waiting, 4 in a system call, 5 likewise without a processor, 6 running, but the operating system has taken its thread's processor"),
		field("thread", U32, Thr, "on which it runs or is in a system call"),
		field("p", I32, Proc, "processor that the thread has, -1 if none"),
		field("pc", U64, PC, "start function"),
		field("reason", U32, "", "of the wait; 6: 2, or 4 if it is in a system call, and 256 if another thread got the processor; 5: likewise, if its thread waits there"),
		field("object", U64, Address, "that it waits for; with such a reason: the ticks at which its thread lost the processor"),
		field("stack", U32, "", "in which it waits"),
		field("probes", "[]"+U32, Probe, "procedures and loops that it is in, outermost first"),
		field("name", U32, "", "text: its name"),
		field("labels", U32, "", "text: its labels"),
		field("regions", "[]"+U32, "", "texts: the regions that it is in, the last begun last"),
		field("tid", U32, "", "of the thread: the operating system's id")}, nil),
	record(TagLevel, "level", "from here on more, or less, of a point is recorded", []Field{
		field("ticks", U64, Ticks, "when"),
		field("probe", U32, Probe, "point"),
		field("old", U8, "", "0 off, 1 count, 2 time, 3 trace"),
		field("new", U8, "", "likewise"),
		field("rate", F64, "", "hits a second, before"),
		field("reason", Str, "", "rule, rate, budget, below its limits; burst: for a millisecond, or back")}, nil),
	record(TagSums, "sums", "what the points that are not traced counted in a period", []Field{
		field("from", U64, Ticks, "begin"),
		field("to", U64, Ticks, "end"),
		field("sums", Packed, "", "points that were reached")}, &Sums),
	record(TagTimes, "times", "exact totals of the points that were timed; a later record replaces an earlier one",
		[]Field{
			field("ticks", U64, Ticks, "when"),
			field("times", Packed, "", "points")}, &Times),
	record(TagHistogram, "histogram", "how long the timed activations of a point took; a later record replaces an earlier one", []Field{
		field("ticks", U64, Ticks, "when"),
		field("probe", U32, Probe, "point"),
		field("buckets", Packed, "", "lengths that there were")}, &Buckets),
	record(TagReduced, "reduced", "what extensions took out, since the start; a later record replaces an earlier one",
		[]Field{
			field("ticks", U64, Ticks, "when"),
			field("reduced", Packed, "", "points that lost events")}, &Reduced),
	record(TagExtension, "extension", "what an extension did, since the start; a later record of one name replaces an earlier one", []Field{
		field("name", Str, "", "name"),
		field("seen", U64, "", "events that it was shown"),
		field("dropped", U64, "", "of these it dropped"),
		field("emitted", U64, "", "records that it made"),
		field("took", U64, Ns, "time that it worked in the program"),
		field("failed", Str, "", "why it works no more; empty: it does")}, nil),
	record(TagGoroutine, "goroutine", "a goroutine that is there when a flight recorder's file is written", []Field{
		field("g", U64, Go, "goroutine"),
		field("pc", U64, PC, "start function")}, nil),
	record(TagMemory, "memory", "what the tool used of the program's memory, and what found no room there", []Field{
		field("ticks", U64, Ticks, "when"),
		field("limit", U64, Byte, "what it may use"),
		field("events", U64, Byte, "for events on their way to the file"),
		field("counts", U64, Byte, "for counts"),
		field("stacks", U64, Byte, "for goroutines' profile stacks"),
		field("tables", U64, Byte, "for tables that are not in the file yet"),
		field("pageless", U64, "", "hits that were counted in cells of all threads, and not traced"),
		field("stackless", U64, "", "hits that were counted, and not traced, since their goroutine got no stack"),
		field("unlisted", U64, "", "times that rate control had no room for a point: its hits count"),
		field("unowned", U64, "", "times that a thread or goroutine found no ledger of its own: hits of calls may be off by one each"),
		field("ringless", U64, "", "ledgers, or parts of them, that found no room: if the program is killed their counts are lost")}, nil),
	record(TagPath, "path", "where in the program samples were taken", []Field{
		field("first", U32, "", "number of the first path, from 1"),
		field("n", U32, "", "how many follow"),
		field("paths", Packed, "", "paths")}, &Paths),
	record(TagMetrics, "metrics", "what the runtime says of itself, some times a second", []Field{
		field("ticks", U64, Ticks, "when"),
		field("heap", U64, Byte, "that the collector considers live, or was allocated since"),
		field("goal", U64, Byte, "heap size at which the collector's next cycle is to end"),
		field("cycles", U64, "", "of the collector that are complete"),
		field("objects", U64, "", "that were allocated from the heap; exact where no thread allocates meanwhile, as at the end")}, nil),
	record(TagBursts, "bursts", "what short times of probes found of procedures that else run without, counting their entries; a later record replaces an earlier one", []Field{
		field("ticks", U64, Ticks, "when"),
		field("n", U64, "", "bursts"),
		field("found", Packed, "", "points")}, &Bursts),
	record(TagRatios, "ratios", "how often procedures were entered whose entries are only counted in bursts, per entry of others; a later record replaces an earlier one", []Field{
		field("ticks", U64, Ticks, "when"),
		field("found", Packed, "", "procedures")}, &Ratios),
	record(TagCode, "code", "where in the program's text samples were taken", []Field{
		field("first", U32, "", "number of the first code, from 1"),
		field("n", U32, "", "how many follow"),
		field("codes", Packed, "", "codes")}, &Codes),
	record(TagMachine, "machine", "what the machine did beside the program, cumulative", []Field{
		field("ticks", U64, Ticks, "when"),
		field("steal", I64, Ns, "time that a host took from the machine's processors; -1: not known"),
		field("pressure", I64, Ns, "time in which some thread of the control group, or else of the machine, waited for a processor; -1: not known")}, nil),
	record(TagSource, "source", "whether the operating system tells something; a later record of one name replaces an earlier one, but for one that began at another time: then it told twice", []Field{
		field("name", Str, "", "switches: of threads, as they happen; schedstat: the times of threads; throttling; machine"),
		field("ticks", U64, Ticks, "up to which it did"),
		field("errno", U32, "", "0: it does; 4294967295: it was not asked; 4294967294: it is not asked for the time being, because that cost too much; 4294967293: its file says nothing, or is not there; else the error"),
		field("lost", U64, "", "what it had no room for"),
		field("from", U64, Ticks, "since when it did; 0: the beginning")}, nil),
	record(TagPrice, "price", "what events cost, as some of them found that timed themselves: from when their time is taken to when they are done, and a reading of the clock; a later record of one kind replaces an earlier one", []Field{
		field("kind", Str, "", "call: entries and exits; operation: on objects; scheduling; other; extra: how much longer an event took because QINST=extra= said so; clock: a reading of the clock, in the fastest loop of such, without squares; collector: a reading of a thread's clock, where the collector began or ended work and the system does not tell of switches: all of them, without squares"),
		field("n", U64, "", "events that timed themselves"),
		field("took", U64, Ticks, "sum of their times"),
		field("squares", F64, "", "sum of the squares of these")}, nil),
}
