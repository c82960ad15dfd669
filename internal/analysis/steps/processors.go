package steps

import (
	"math"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Go's scheduler puts who is woken into the queue of the processor on which it was woken. An idle
// processor would have to wake up to take it from there, which takes longer than most that is done
// before it in that queue. So a goroutine may wait for others although a processor is idle, and it
// waits shorter if they work less.

// mostBehind is the number of earlier holders of a processor that are searched, and handOver the
// longest time between two of them, in ns.
const (
	mostBehind = 16
	handOver   = 3000
)

// processors are those that goroutines work on, with their holders and idle times.
type processors struct {
	r        *replay.Replay
	n        int        // of the program's own; 0: they are the scheduler's
	idle     int64      // ns so far in which one had nothing to do
	idleAt   trace.Time // up to here
	idleFrom trace.Time // since when one has been idle, if one is
	busy     int        // in use since then
	had      []had      // by processor of the scheduler
	looked   []int64    // for how long idle ones looked for a goroutine that was ready, in ns
	gs       bySlot[turn]
}

// turn is a goroutine's state since its last change.
type turn struct {
	since trace.Time
	idle  int64      // processors.idle when it became ready
	began trace.Time // since when it has had its processor
}

// had are those who had a processor of the scheduler last, in a ring.
type had struct {
	list [mostBehind]struct {
		n           G
		began, left trace.Time
	}
	n int // so far
}

// all is how many there are.
func (x *processors) all() int {
	if x.n > 0 {
		return x.n
	}
	return max(x.r.Procs, 1)
}

// idleUntil returns how long so far one had nothing to do.
func (x *processors) idleUntil(now trace.Time) int64 {
	if x.busy < x.all() {
		x.idle += int64(now - x.idleAt)
	}
	x.idleAt = now
	return x.idle
}

// idleFor is how long before now one has been idle: 0 if none is.
func (x *processors) idleFor(now trace.Time) trace.Time {
	if x.busy >= x.all() {
		return 0
	}
	return now - x.idleFrom
}

// begin notes that a goroutine is created.
func (x *processors) begin(slot trace.Slot, now trace.Time) {
	*x.gs.of(slot) = turn{since: now, idle: x.idleUntil(now)}
}

// takes and leaves note that a goroutine gets a processor, and that it leaves it.
func (x *processors) takes(slot trace.Slot, now trace.Time) {
	x.idleUntil(now)
	x.busy++
	x.gs.of(slot).began = now
}

func (x *processors) leaves(slot trace.Slot, m *mine, now trace.Time) {
	x.idleUntil(now)
	if x.busy--; x.busy == x.all()-1 {
		x.idleFrom = now
	}
	if m.proc < 0 || x.n > 0 {
		return
	}
	for int(m.proc) >= len(x.had) {
		x.had = append(x.had, had{})
	}
	h := &x.had[m.proc]
	last := &h.list[h.n%mostBehind]
	last.n, last.began, last.left = m.n, x.gs.of(slot).began, now
	h.n++
}

// ready is the step of a goroutine that gets a processor now, after it was ready.
func (x *processors) ready(slot trace.Slot, m *mine, now trace.Time) Step {
	t := x.gs.of(slot)
	s, idle := readies(WakeUp, 0), x.idleUntil(now)-t.idle
	if x.n == 0 {
		s.number, s.slept = idle, x.slept(t, m)
		if x.behind(t, m, now, &s); s.After() < 0 && idle > 0 {
			x.looks(t, m, now)
		}
	}
	return s
}

// looks notes for how long the processor that a goroutine gets now has been idle while that was
// ready.
func (x *processors) looks(t *turn, m *mine, now trace.Time) {
	since := t.since
	if m.proc >= 0 && int(m.proc) < len(x.had) {
		if h := &x.had[m.proc]; h.n > 0 {
			since = max(since, h.list[(h.n-1)%mostBehind].left)
		}
	}
	if len(x.looked) < mostLooked {
		x.looked = append(x.looked, int64(now-since))
	}
}

// attrSleep is the attribute of how long the system takes for a sleep of the runtime's, in ns.
const attrSleep = "sleep_ns"

const (
	usualWakeUp = 5000 // what a wake-up takes if the trace has none, in ns

	// timerSlack is the least time, in ns, that Linux takes for a sleep of 3 us, because it lets
	// timers be late by 50. The runtime sleeps so before it takes the goroutine that is next on
	// another processor. On a virtual machine it may take twice as long.
	timerSlack = 53_000

	leastLooked = 10 // for a median
	mostLooked  = 1 << 16
)

// wakeUps are how long an idle processor takes to find a goroutine that is ready, in ns: in a
// queue, and in the place of the next one on another processor, where it sleeps first. What took
// as long as a sleep, or longer, was one; those that were in vain do not show, so that what the
// program measured counts more.
func (x *processors) wakeUps() (wakeUp, holdOff int64) {
	slices.Sort(x.looked)
	first, _ := slices.BinarySearch(x.looked, timerSlack)
	short, long := x.looked[:first], x.looked[first:]
	if wakeUp = usualWakeUp; len(short) > 0 {
		wakeUp = short[len(short)/2]
	}
	if holdOff = timerSlack + wakeUp; x.r.T.Int(attrSleep) > 0 {
		holdOff = x.r.T.Int(attrSleep)
	} else if len(long) >= leastLooked {
		holdOff = long[len(long)/2]
	}
	return wakeUp, holdOff
}

// slept is how long the processor that a goroutine gets now had been idle when that could run, as
// [Step.Slept] is, and one more.
func (x *processors) slept(t *turn, m *mine) uint16 {
	idle := t.since
	if m.proc < 0 {
		return 0
	}
	if int(m.proc) < len(x.had) && x.had[m.proc].n > 0 {
		h := &x.had[m.proc]
		idle -= h.list[(h.n-1)%mostBehind].left
	}
	if idle < 0 {
		return 0
	}
	return uint16(min(idle/1000+1, math.MaxUint16))
}

// behind finds the goroutine that had the processor when this one became ready, if that was never
// idle since but another processor was. The time after the last holder is a hand-over.
func (x *processors) behind(t *turn, m *mine, now trace.Time, s *Step) {
	if s.number == 0 || m.proc < 0 || int(m.proc) >= len(x.had) {
		return
	}
	h, next := &x.had[m.proc], now
	for i := h.n - 1; i >= 0 && i > h.n-mostBehind; i-- {
		last := &h.list[i%mostBehind]
		if last.n == m.n || last.left < t.since || next-last.left > handOver {
			return
		}
		if next = last.began; last.began <= t.since {
			s.point = trace.PointID(last.n + 1)
			s.number = min(s.number, int64(now-h.list[(h.n-1)%mostBehind].left))
			return
		}
	}
}
