package trace

// The numbers of a trace have types of their own, because a stack taken for a path, or a slot for
// a goroutine, is an index that exists and means something else.
type (
	// Time is a moment, in ns since the trace began. Durations are int64, in ns.
	Time int64
	// GoID is a goroutine's number in the program. 0 is no goroutine.
	GoID uint64
	// Slot is the dense number of a live goroutine: it is another one's after that has ended.
	Slot int32
	// PointID is the dense number of a probe point: an index of [Program.Points].
	PointID int32
	// StackID is the number of a stack: an index of [Program.Stacks]. 0 is an unknown stack.
	StackID uint32
	// PathID is the number of a path: an index of [Program.Paths]. 0 is where a goroutine started.
	PathID int32
	// CodeID is the number of a code: an index of [Program.Codes]. 0 is where a goroutine started.
	CodeID int32
	// TextID is the number of a text of the program's: a key of [Program.Texts]. 0 is no text.
	TextID uint64
	// ReasonID is the code of a wait's reason: a key of [Tables.Reasons].
	ReasonID uint64
	// ThreadID is the dense number of a thread: another one's after that has exited.
	ThreadID int32
	// ProcID is the number of a processor of Go's scheduler. -1 is no processor.
	ProcID int32
	// Address identifies a synchronization object while it lives. 0 is unknown.
	Address uint64
)

// NoSlot is the slot of no goroutine.
const NoSlot Slot = -1

// NoPoint is the point of no procedure or loop.
const NoPoint PointID = -1

// NoReason is no code of a wait's reason.
const NoReason ReasonID = 1<<64 - 1

// SwitchReason is the reason of a wait begun by a coroutine switch, for which the runtime records
// no code.
const SwitchReason ReasonID = 1<<24 - 1

// StoppedReason is the reason of a goroutine that was stopped so that its stack could be scanned,
// where the file has another one.
const StoppedReason ReasonID = 1<<24 - 2
