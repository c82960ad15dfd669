package profile

import (
	"slices"
	"strings"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// queue is the queue of goroutines that wait for one object: of an address and, where
// the place of the wait names the object, that name, for addresses come again. Waits for
// nothing that has an address queue by place.
type queue struct {
	first waitKey // of its waits; they have one name
	of    *object // nil without an address

	n            int     // that wait now
	since        int64   // ns: accounted up to here
	time         []int64 // ns with n waiting, from 1 on
	blame        map[int32]int64
	unattributed int64

	lock        bool  // it is a lock's
	pending     int64 // of unattributed: since pendingFrom, when somebody last ended a wait
	pendingFrom int64

	lastAt   int64 // when the last wait ended, and by whom
	lastBy   int32 // slot
	together int64 // waits that ended together, as far as that is known
	alone    bool  // the last one is not counted so far
}

type queueKey struct {
	addr   uint64
	site   string
	stack  uint32
	reason uint64
}

// object is what has an address: what was done with it, and who holds it as far as
// operations tell.
type object struct {
	points       []int32 // that operated on it
	partly       bool    // of some of those not all operations are events: who holds it is not known from them
	longestQueue int     // that an operation saw

	known   bool // it was held once
	holders []holder
	queues  []*queue

	taken    int64 // ns: it has been held since
	holds    int64
	hold     int64
	longest  int64
	freed    int64 // when it was given back while somebody waited, -1 if it was not
	handOver int64 // ns from there to its being taken
	handed   int64
}

// holder is a goroutine that holds a lock, or reads under it.
type holder struct {
	slot, proc int32 // proc took it
}

// queueOf finds the queue of a wait.
func (o *objects) queueOf(key waitKey) *queue {
	k := queueKey{addr: key.addr, site: o.strongSite(key)}
	if key.addr == 0 && k.site == "" {
		k.stack, k.reason = key.stack, key.reason
	}
	q := o.queues[k]
	if q == nil {
		q = &queue{first: key, lastBy: trace.NoSlot, blame: map[int32]int64{}, lock: strings.Contains(o.t.Reason(key.reason), "Mutex")}
		if key.addr != 0 {
			q.of = o.at(key.addr)
			q.of.queues = append(q.of.queues, q)
		}
		o.queues[k] = q
	}
	return q
}

func (o *objects) at(addr uint64) *object {
	ob := o.byAddr[addr]
	if ob == nil {
		o.makeRoom()
		ob = &object{freed: -1}
		o.byAddr[addr] = ob
	}
	return ob
}

// inUse reports whether somebody holds it or waits for it.
func (ob *object) inUse() bool { return len(ob.holders) > 0 || ob.waited() }

func (ob *object) waited() bool {
	return slices.ContainsFunc(ob.queues, func(q *queue) bool { return q.n > 0 })
}

// strongSite is the name that the place of a wait gives its object; "" if it gives none.
func (o *objects) strongSite(key waitKey) string {
	at := placeOfWait{key.stack, key.reason}
	name, ok := o.places[at]
	if !ok {
		name = o.nameOfPlace(key)
		o.places[at] = name
	}
	return name
}

// placeOfWait is where, and for which reason, a goroutine waits.
type placeOfWait struct {
	stack  uint32
	reason uint64
}

// ofCollector reports whether a wait is for the garbage collector, wherever it is.
func ofCollector(reason string) bool {
	return strings.HasPrefix(reason, "GC ") || reason == "stopping the world" || reason == "wait for GC cycle"
}

func (o *objects) nameOfPlace(key waitKey) string {
	if r := o.t.Reason(key.reason); ofCollector(r) {
		return r
	}
	if f, ok := o.caller(key.stack); ok {
		if i, ok := o.sites[site{f.File, f.Line}]; ok {
			if p := &o.t.Points[i]; p.Flags&spec.FlagWeakName == 0 && p.Op != spec.OpSelect {
				return p.Name
			}
		}
	}
	return ""
}

// advance accounts the queue up to now: its length, and those that hold what it waits
// for. Each waiter's time is blamed on all holders alike.
func (q *queue) advance(now int64) {
	dt := now - q.since
	q.since = now
	if dt <= 0 || q.n == 0 {
		return
	}
	q.spend(q.n, dt)
	if q.pending == 0 {
		q.pendingFrom = now - dt
	}
	if q.of == nil || q.of.partly || len(q.of.holders) == 0 {
		q.unattributed += int64(q.n) * dt
		q.pending += int64(q.n) * dt
		return
	}
	total, left := int64(q.n)*dt, int64(len(q.of.holders))
	for _, h := range q.of.holders {
		q.blame[h.proc] += total / left
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

// leave ends a wait. Where nobody was seen to hold anything, the wait is blamed on the
// goroutine that ended it: who unlocks had the lock since somebody last did, and all that
// waited meanwhile waited for that; others for their own time since the wait began.
func (q *queue) leave(now, own int64, by ender) {
	q.advance(now)
	q.n--
	q.release(now, by.slot)
	switch {
	case q.of != nil && q.of.known && !q.of.partly:
	case !q.lock:
		q.blamed(own, by.by)
	case by.g != nil:
		// It did not have the lock before it ran: nobody had, who was to get it.
		had := now - max(q.pendingFrom, by.g.wokeAt)
		q.blamed(int64(float64(q.pending)*ratio(had, now-q.pendingFrom)), by.by)
		q.pending, q.pendingFrom = 0, now
	}
}

// release counts the waits that one goroutine ends within togetherNS of each other.
func (q *queue) release(now int64, by int32) {
	if by == trace.NoSlot || by != q.lastBy || now-q.lastAt > togetherNS {
		q.alone = true
	} else {
		q.together++
		if q.alone {
			q.together++ // the one before is the first
			q.alone = false
		}
	}
	q.lastAt, q.lastBy = now, by
}

// togetherNS is far above the time between two goroutines that are woken in a loop.
const togetherNS = 20e3

func (q *queue) blamed(own int64, by int32) {
	own = min(own, q.unattributed)
	q.blame[by] += own
	q.unattributed -= own
}

// once takes in a wait whose object is known at its end only, a select's: it queues alone.
func (q *queue) once(dt, own int64, by int32) {
	q.spend(1, dt)
	q.blame[by] += own
	q.unattributed += dt - own
}

// take and free say that a goroutine has the object from now on, or has it no more.
func (ob *object) take(now int64, h holder) {
	ob.advance(now)
	if len(ob.holders) == 0 {
		ob.taken = now
	}
	ob.holders = append(ob.holders, h)
	if ob.known = true; ob.freed >= 0 {
		ob.handOver += now - ob.freed
		ob.handed++
		ob.freed = -1
	}
}

// free returns the slot of who held it: unlocking need not be the holder's own. It is
// -1 if nobody did. How long it was held is known where that was seen.
func (ob *object) free(now int64, slot int32, seen bool) int32 {
	ob.advance(now)
	i := slices.IndexFunc(ob.holders, func(h holder) bool { return h.slot == slot })
	if i < 0 {
		if i = len(ob.holders) - 1; i < 0 {
			return -1
		}
		slot = ob.holders[i].slot
	}
	if ob.holders = slices.Delete(ob.holders, i, i+1); len(ob.holders) > 0 {
		return slot
	}
	if ns := now - ob.taken; seen {
		ob.holds++
		ob.hold += ns
		ob.longest = max(ob.longest, ns)
	}
	if ob.waited() {
		ob.freed = now
	}
	return slot
}

func (ob *object) advance(now int64) {
	for _, q := range ob.queues {
		q.advance(now)
	}
}
