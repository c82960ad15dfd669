package profile

import (
	"slices"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// queue is the queue of goroutines that wait for one object. The object is an address and, if the
// place of the wait names the object, that name, because addresses are reused. Waits without an
// address are queued by place.
type queue struct {
	first waitKey        // of its waits; they have one name
	of    *replay.Object // nil without an address

	n            int        // that wait now
	since        trace.Time // accounted up to here
	time         []int64    // ns with n waiting, from 1 on
	away         away
	blame        map[ender]int64
	unattributed int64

	lock        bool  // it is a lock's
	pending     int64 // of unattributed: since pendingFrom, when a wait was last ended
	pendingFrom trace.Time

	ends  ends
	apart bool // waits were added at their ends
}

// away follows when goroutines wait, or have not run since.
type away struct {
	n     int
	since trace.Time // there are some
	at    used       // up to then
	ns    int64      // how long there were some
	while used       // of processors meanwhile
}

// goes accounts that one begins to wait, and comes that one runs.
func (a *away) goes(now trace.Time, at used) {
	if a.n == 0 {
		a.since, a.at = now, at
	}
	a.n++
}

func (a *away) comes(now trace.Time, at used) {
	if a.n--; a.n == 0 {
		a.ns += int64(now - a.since)
		a.while.kept += at.kept - a.at.kept
		a.while.busy += at.busy - a.at.busy
	}
}

// ends count the waits that one goroutine ended together.
type ends struct {
	at       trace.Time // when the last wait ended, and by whom
	by       trace.Slot
	did      replay.Operation // of that one
	together int64            // waits that ended together, as far as is known
	chain    int64            // the last ones that may be such, because others still wait
}

// ender is the waker of a wait, or the one to blame for it: a procedure, or minus the cause.
type ender int32

// Other enders than procedures.
const (
	noProcedure  = ender(trace.NoPoint)
	stillWaiting = ender(-100) // the wait lasts to the end of the trace
)

// ended is who ended a wait: in which procedure, and after what it had worked on meanwhile.
type ended struct{ by, after ender }

func causeOf(c trace.Cause) ender { return -2 - ender(c) }

// waitKey is the key under which waits are summed until names are known.
type waitKey struct {
	addr   trace.Address
	stack  trace.StackID
	reason trace.ReasonID
	in     trace.PointID // procedure that waits
}

type queueKey struct {
	addr   trace.Address
	site   string
	stack  trace.StackID
	reason trace.ReasonID
}

func newQueue(first waitKey, reason string, of *replay.Object) *queue {
	return &queue{first: first, of: of, ends: ends{by: trace.NoSlot}, blame: map[ender]int64{}, lock: isLock(reason)}
}

// isLock reports whether goroutines wait for a lock for a reason of the runtime's.
func isLock(reason string) bool { return strings.Contains(reason, "Mutex") }

// advance accounts the queue up to now: its length, and the holders of its object. Each waiter's
// time is divided equally among all holders.
func (q *queue) advance(now trace.Time) {
	dt := int64(now - q.since)
	q.since = now
	if dt <= 0 || q.n == 0 {
		return
	}
	q.spend(q.n, dt)
	if q.pending == 0 {
		q.pendingFrom = now - trace.Time(dt)
	}
	if q.of == nil || q.of.Partly || len(q.of.Holders) == 0 {
		q.unattributed += int64(q.n) * dt
		q.pending += int64(q.n) * dt
		return
	}
	total, left := int64(q.n)*dt, int64(len(q.of.Holders))
	for _, h := range q.of.Holders {
		q.blame[ender(h.Proc)] += total / left
		total -= total / left
		left--
	}
}

func (q *queue) spend(n int, dt int64) {
	for len(q.time) < n {
		q.time = append(q.time, 0)
	}
	q.time[n-1] += dt
}

// leave ends a wait of ns. If no holder was seen, the goroutine that ended the wait is blamed. For
// a lock, it is taken to have held the lock since the previous unlock, and is blamed for all waits
// during that time. Others are blamed for their own processor time since the wait began.
func (q *queue) leave(now trace.Time, ns, own int64, by ender, g *replay.G, all bool) {
	q.advance(now)
	q.n--
	q.ends.end(now, ns, g, all, q.n)
	switch {
	case q.of != nil && q.of.Known && !q.of.Partly:
	case !q.lock:
		q.blamed(own, by)
	case g != nil:
		// If the goroutine has waited for the lock, it cannot have held it before it ran: until
		// then the lock was being handed over.
		had := int64(now - max(q.pendingFrom, g.MayHold(q.of)))
		q.blamed(int64(float64(q.pending)*ratio(had, int64(now-q.pendingFrom))), by)
		q.pending, q.pendingFrom = 0, now
	}
}

// end counts the waits that one goroutine ends together, until nobody is left: within togetherNS of
// each other and a part of the wait at hand, or within a small part of that, because the first one
// that it wakes may wake a thread, which is a system call. It ends them together in any time by an
// operation that ends them all. Who hands out one item after another, of which each ends a wait,
// leaves some who wait.
func (e *ends) end(now trace.Time, ns int64, g *replay.G, all bool, left int) {
	by, did := trace.NoSlot, replay.Operation{}
	if g != nil {
		by, did = g.Slot, g.Did
	}
	near := max(min(togetherNS, trace.Time(ns)/aside), trace.Time(ns)/togetherPart)
	if soon := now-e.at <= near || all && did == e.did; by == trace.NoSlot || by != e.by || !soon {
		e.chain = 0
	}
	if e.chain++; left == 0 {
		if e.chain > 1 {
			e.together += e.chain
		}
		e.chain = 0
	}
	e.at, e.by, e.did = now, by, did
}

// togetherNS is far above the time between two goroutines that are woken in a loop.
const (
	togetherNS   = 20e3
	aside        = 4
	togetherPart = 100
)

func (q *queue) blamed(own int64, by ender) {
	own = min(own, q.unattributed)
	q.blame[by] += own
	q.unattributed -= own
}

// once adds a wait whose object is known only at its end (a select): it queues alone.
func (q *queue) once(dt, own int64, by ender) {
	q.spend(1, dt)
	q.apart = true
	q.blame[by] += own
	q.unattributed += dt - own
}

// lock has the measurements of an object that goroutines hold.
type lock struct {
	longestQueue int // that an operation saw
	queues       []*queue

	taken    trace.Time    // it has been held since
	at       trace.PointID // where it was taken then
	longest  int64
	in       map[trace.PointID]*heldIn // by the points that took it
	freed    trace.Time                // when it was given back while a goroutine waited; -1: none waited
	spin     int64                     // ns that goroutines spun for it
	handOver int64                     // ns from there to its being taken
	handed   int64
	dead     *Abandoned // its holder has ended; nil: there is none that has
}

func (l *lock) waited() bool {
	return slices.ContainsFunc(l.queues, func(q *queue) bool { return q.n > 0 })
}

// take records that a goroutine holds the object after this. The goroutine must not be among the
// holders yet.
func (l *lock) take(ob *replay.Object, at trace.PointID, now trace.Time) {
	l.advance(now)
	l.dead = nil
	if len(ob.Holders) == 0 {
		l.taken, l.at = now, at
		l.heldIn(at).began++
	}
	if l.freed >= 0 {
		l.handOver += int64(now - l.freed)
		l.handed++
		l.freed = -1
	}
}

// free records that a holder, still among the holders, gives the object back. The hold is known
// only if the release was seen.
func (l *lock) free(ob *replay.Object, now trace.Time, how replay.Release) {
	l.advance(now)
	l.dead = nil
	if len(ob.Holders) == 1 {
		if ns := int64(now - l.taken); how == replay.Unlocked {
			l.longest = max(l.longest, ns)
			l.heldIn(l.at).add(now, ns)
		}
		if l.waited() {
			l.freed = now
		}
	}
	if how == replay.Overtaken {
		l.freed = -1
	}
}

// heldIn are its holds that began at a point.
func (l *lock) heldIn(at trace.PointID) *heldIn {
	in := l.in[at]
	if in == nil {
		if l.in == nil {
			l.in = map[trace.PointID]*heldIn{}
		}
		in = new(heldIn)
		l.in[at] = in
	}
	return in
}

func (l *lock) advance(now trace.Time) {
	for _, q := range l.queues {
		q.advance(now)
	}
}
