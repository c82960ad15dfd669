package sim

import (
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// object is a lock, channel or WaitGroup. Waiting goroutines are served in the order of their
// arrival.
type object struct {
	at      [steps.NumOps]trace.Time // of the last operation, in the recorded run
	queue   []waiter                 // for a lock, or to receive, or for the end of all
	senders []waiter
	cap     int
	sent    int // sends that began, or operations Done
	got     int // receives that began, or how much of a semaphore is acquired
	readers int
	writer  bool
	closed  bool
	ticks   bool    // of a ticker: somebody has waited for it
	later   float64 // ns by which that was later than in the recorded run

	order *order          // for Options.Order
	parts []object        // of a lock that is split
	next  int             // one of these, for the next goroutine
	has   map[steps.G]int // which of these a goroutine has, or waits for
}

// part is the one of a lock's parts that an operation is on.
func (o *object) part(w waiter) *object {
	if len(o.parts) == 0 {
		return o
	}
	if o.has == nil {
		o.has = map[steps.G]int{}
	}
	part, ok := o.has[w.g]
	switch w.op {
	case steps.Lock, steps.RLock:
		if !ok { // else it was woken to try again
			part = o.next
			o.has[w.g] = part
			o.next = (o.next + 1) % len(o.parts)
		}
	default:
		delete(o.has, w.g)
	}
	return &o.parts[part]
}

// waiter is a goroutine that waits, and for which operation.
type waiter struct {
	g    steps.G
	op   steps.Op
	need int64
}

// order are the nodes that an object's operations depend on.
type order struct {
	writer          nodeID   // the last Unlock, -1: none
	readers         []nodeID // each RUnlock since
	sends, receives []nodeID
	closed          nodeID
	dones           []nodeID // the first one stands for all up to joined, if that is not 0
	joined          int
}

// held are the nodes at which a lock was released, for its next holder.
func (o *order) held(op steps.Op) []nodeID {
	if o == nil {
		return nil
	}
	nodes := []nodeID{o.writer}
	if op == steps.Lock {
		nodes, o.readers = append(nodes, o.readers...), nil
	}
	return nodes
}

func (o *order) unlock(at nodeID, op steps.Op) {
	switch {
	case o == nil:
	case op == steps.Unlock:
		o.writer = at
	default:
		o.readers = append(o.readers, at)
	}
}

func (o *order) close(at nodeID) {
	if o != nil {
		o.closed = at
	}
}

func (o *order) done(at nodeID) {
	if o != nil {
		o.dones = append(o.dones, at)
	}
}

// tokenState is the state of a token: goroutines wait for it, or it was given. The zero value is
// neither.
type tokenState int32

// waitedBy is that of a token for which a goroutine waits, and givenAt that of one that was given
// at a node.
func waitedBy(g steps.G) tokenState { return tokenState(g) + 1 }
func givenAt(n nodeID) tokenState   { return -1 - tokenState(n) }

func (t tokenState) waited() bool    { return t > 0 }
func (t tokenState) waiter() steps.G { return steps.G(t - 1) }
func (t tokenState) given() bool     { return t < 0 }
func (t tokenState) node() nodeID    { return nodeID(-1 - t) }
