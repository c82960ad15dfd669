package steps

import (
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

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
	Acquire
	Release
	NumOps
)

func (o Op) String() string {
	return [NumOps]string{"", "lock", "unlock", "rlock", "runlock", "send", "receive", "close", "add", "done", "wait",
		"acquire", "release"}[o]
}

// opOf are operations by the names that points have for them. Locks are followed as the replay
// holds them, which knows of those without a probe too.
var opOf = map[string]Op{
	spec.OpAcquire: Acquire, spec.OpRelease: Release,
	spec.OpSend: Send, spec.OpReceive: Receive, spec.OpClose: Close, spec.OpAdd: Add, spec.OpDone: Done,
	spec.OpWait: Join,
}

// waits and gives report whether an operation may wait, and whether it stands before what it ends
// waits with.
func (o Op) waits() bool {
	return o == Lock || o == RLock || o == Send || o == Receive || o == Join || o == Acquire
}
func (o Op) gives() bool {
	return o == Unlock || o == RUnlock || o == Close || o == Add || o == Done || o == Release
}

// mostAmount is the amount of an operation on a semaphore that is as much or more.
const mostAmount = 1<<16 - 1

// Object is a lock, channel, WaitGroup or semaphore.
type Object struct {
	Address trace.Address
	Name    trace.PointID   // the operation whose name it has, NoPoint if none was seen
	Also    []trace.PointID // others, if it has several names, and this one
	Free    bool            // operations decide who waits; else tokens
	// a [time.Ticker]'s channel, or a place where goroutines sleep until a time of the clock: what
	// is waited for comes when it came, whatever was done before
	Ticks bool
	Cap   int // of a channel or semaphore, -1: unlimited as far as is known
	Held  int // what a channel held before its first operation in the trace

	ops  [NumOps]int64
	seen seen
}

// seen is the evidence of the trace about an object's operations.
type seen struct {
	unfit   bool     // too few were seen
	paces   bool     // see [spec.FlagPaced]
	counted bool     // of a WaitGroup: some that add or are done were only counted, and not found
	missed  int64    // how many were not: a few of those of a lock
	handed  bool     // of a mutex: goroutines gave it back that had not taken it
	cap     bool     // its capacity is that of an event
	silent  bool     // a wait for it ended without an operation
	goes    bool     // a WaitGroup whose goroutines its method Go starts
	joins   []StepID // that no later Done followed
	queue   int      // longest
	full    bool     // a sender waited
	lengths int      // of a channel's queue: how many were looked at
	least   int      // and what the channel held before, at least, by these
}

// firstLengths is how many of a channel's operations tell what it held before. Each reads the
// length a moment after the operation itself, when others may have sent or received.
const firstLengths = 16

// length notes the length of a channel's queue after one more operation.
func (o *Object) length(n int, op Op) {
	if o.seen.lengths == firstLengths {
		return
	}
	before := n - int(o.ops[Send]-o.ops[Receive])
	if op == Send {
		before--
	} else {
		before++
	}
	if o.seen.lengths++; o.seen.lengths == 1 || before < o.seen.least {
		o.seen.least = before
	}
}

// held is what a channel held before its first operation. Of few operations the order may be
// another one than that of their events: then only what was received and never sent was there.
func (o *Object) held() int {
	if o.seen.lengths < firstLengths/4 && o.ops[Receive] <= o.ops[Send] {
		return 0
	}
	n := max(0, o.seen.least)
	if o.Cap >= 0 {
		n = min(n, o.Cap)
	}
	return n
}

// Times is how often an operation was seen.
func (o *Object) Times(op Op) int64 { return o.ops[op] }

// Names are the operations with its names: none if no operation was seen.
func (o *Object) Names() []trace.PointID {
	if o.Name == trace.NoPoint || len(o.Also) > 0 {
		return o.Also
	}
	return []trace.PointID{o.Name}
}

// Shared reports whether it is a lock that several goroutines may read by.
func (o *Object) Shared() bool { return o.ops[RLock] > 0 }

// IsKept reports whether it is an object of the program whose operations were seen in part, so that
// the order of the run decides who waits for it.
func (o *Object) IsKept() bool { return !o.Free && o.Name != trace.NoPoint && o.operated() }

// AnyReleases reports whether it is a lock or semaphore: who takes it may do so after any of those
// that release it.
func (o *Object) AnyReleases() bool { return o.locks()+o.ops[Acquire]+o.ops[Release] > 0 }

// locks is how many operations there were that locks have.
func (o *Object) locks() int64 { return o.ops[Lock] + o.ops[Unlock] + o.ops[RLock] + o.ops[RUnlock] }

// operated reports whether an operation was seen that goroutines may wait for.
func (o *Object) operated() bool {
	return slices.ContainsFunc(o.ops[:], func(n int64) bool { return n > 0 })
}

// onlyClosed reports whether it is a channel of which nothing but its close was seen.
func (o *Object) onlyClosed() bool {
	return o.ops[Close] > 0 && o.ops[Send]+o.ops[Receive] == 0 && !o.seen.cap
}

// agrees reports whether operations are of one kind of object, and consistent in number.
func (o *Object) agrees() bool {
	n := &o.ops
	locks := o.locks()
	channels := n[Send] + n[Receive] + n[Close]
	groups := n[Add] + n[Done] + n[Join]
	semaphores := n[Acquire] + n[Release]
	switch {
	case semaphores > 0:
		return locks+channels+groups == 0 && o.seen.cap
	case locks > 0:
		return channels+groups == 0 && n[Unlock] <= n[Lock] && n[RUnlock] <= n[RLock]
	case channels > 0:
		return groups == 0 && (n[Receive] <= n[Send]+int64(o.Held) || n[Close] > 0)
	}
	return groups > 0
}

// Of some locks a few operations have no event: those at the moment when the level changes. Other
// waits for the lock do not depend on them, so that the rest need not be given up for them. The
// n-th send pairs with the n-th receive, and every Done counts: of channels and WaitGroups all
// operations are needed.

// mostMissed is the share of a lock's operations that may have no event.
const mostMissed = 0.02

// few reports whether of a point's hits so few have no event.
func few(t *trace.Tables, id trace.PointID) bool {
	p := &t.Points[id]
	return float64(p.Degraded()) <= mostMissed*float64(p.Hits) && t.Hits(id).Exact()
}

// complete reports whether what was seen of an object is enough to decide who waits for it.
func (o *Object) complete() bool {
	if o.seen.unfit || o.seen.counted || !o.agrees() {
		return false
	}
	if o.locks() > 0 {
		return float64(o.seen.missed) <= mostMissed*float64(o.locks())
	}
	return o.seen.missed == 0 && (!o.seen.silent || o.seen.goes)
}
