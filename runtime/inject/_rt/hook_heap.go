package runtime

import "internal/runtime/atomic"

// Memory that goroutines take, and the processor time that the garbage collector takes because of
// it.

// qinstTookEach is the mean of the bytes between two events. With a frequency that is far below
// that of allocations an event costs nothing that could be measured, and a heap of 4 MiB still has
// eight in a cycle.
const qinstTookEach = 512 << 10

// qinstTookIn is the number of frames between who allocates and qinstTook that stacks go without:
// qinstTook's and two of the cache's. A map that grows has ten more, so that of twelve frames none
// was its user's.
const qinstTookIn = 3

// qinstTook notes that the running goroutine takes memory: a span for its cache, or a large object.
// By chance, in proportion to the bytes, an event says so. The cache belongs to the processor, so
// that a span is of those who take from it alternately; among many events each has its share.
// Context: hook.
func qinstTook(bytes uintptr) {
	gp := getg()
	if qinstStates == 0 || gp.m.curg != gp || gp.m.qinst == nil {
		return
	}
	weight := uint64(bytes)
	if weight < qinstTookEach {
		if cheaprandn(qinstTookEach) >= uint32(weight) {
			return
		}
		weight = qinstTookEach
	}
	systemstack(func() {
		// The switch has noted where the goroutine is, as parking does.
		qinstPut2(qinstNow(), gp.goid, qinstEvAlloc<<24,
			weight&(1<<qinstAddrBits-1)|qinstWaitStackOf(gp, qinstTookIn)<<qinstAddrBits)
	})
}

// qinstCollector is the processor time of mark workers and assists, in ns. Their own times are
// those of the wall clock: on a busy machine most of that may be another program's.
var qinstCollector atomic.Uint64

// qinstCollectorAsks is whether they ask their threads' clocks. They do where the system never told
// of switches. Where it does, events know better, and the calls cost more than they take: whoever
// stops a goroutine to scan its stack waits for it to return from one. In a server that collected
// 500 times a second they took 3 to 6 % of the processor time.
var qinstCollectorAsks atomic.Bool

// qinstCollectorPaid is what asking took, in ticks of the clock that events read.
var qinstCollectorPaid struct{ n, ticks atomic.Uint64 }

// qinstCollectorClock is the thread's processor time in ns.
// Context: hook.
func qinstCollectorClock() uint64 {
	from := qinstNow()
	cpu := qinstThreadCPU()
	if d := qinstNow() - from; d < qinstMostItself {
		qinstCollectorPaid.n.Add(1)
		qinstCollectorPaid.ticks.Add(int64(d))
	}
	return cpu
}

// qinstCollects returns the thread's processor time in ns where it begins to collect, 0 if none.
// Context: hook.
func qinstCollects() uint64 {
	if qinstStates == 0 || !qinstCollectorAsks.Load() {
		return 0
	}
	return qinstCollectorClock()
}

// qinstAssistsEach is how many assists one stands for. A collection has many short ones.
const qinstAssistsEach = 8

// qinstAssists is qinstCollects where an assist begins: one in qinstAssistsEach is asked, by
// chance.
// Context: hook.
func qinstAssists() uint64 {
	if !qinstCollectorAsks.Load() || cheaprandn(qinstAssistsEach) != 0 {
		return 0
	}
	return qinstCollects()
}

// qinstCollected adds what the thread has used since, as many times as it stands for.
// Context: hook.
func qinstCollected(since, times uint64) {
	if since != 0 && qinstStates != 0 {
		qinstCollector.Add(int64((qinstCollectorClock() - since) * times))
	}
}
