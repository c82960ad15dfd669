package profile

import (
	"math"
	"time"

	"qinst.dev/analysis/replay"
	"qinst.dev/trace"
)

// From here on the time in which the operating system kept running threads waiting makes other numbers doubtful, and
// gets a line of its own. A few starts of threads do not.
const (
	offCPUShare = 0.02 // of the busy time
	offCPULeast = int64(time.Millisecond)
)

// offCPUMatters reports whether threads waited so long, beside their busy time.
func offCPUMatters(waited, busy int64) bool {
	return waited > offCPULeast && float64(waited) > offCPUShare*float64(busy)
}

// Off are times, in ns, summed over the goroutines, in which they ran on threads that had no processor.
type Off struct {
	Preempted int64 `json:"preempted_ns"` // another thread had it
	Throttled int64 `json:"throttled_ns"` // the control group had used its quota
	Blocked   int64 `json:"blocked_ns"`   // the thread waited: for a page, for a lock of the runtime, in a call that the runtime did not see
	Stopped   int64 `json:"stopped_ns"`   // the process was stopped
	Longest   int64 `json:"longest_ns"`   // of them, in one piece
	Holding   int64 `json:"holding_ns"`   // of Preempted and Throttled: a lock was held
}

// Waited is the time in which the machine made goroutines wait.
func (o *Off) Waited() int64 {
	if o == nil {
		return 0
	}
	return o.Preempted + o.Throttled + o.Stopped
}

// plus is the sum of two, either of which may be nil.
func (o *Off) plus(q *Off) *Off {
	switch {
	case o == nil:
		return q
	case q == nil:
		return o
	}
	return &Off{o.Preempted + q.Preempted, o.Throttled + q.Throttled, o.Blocked + q.Blocked, o.Stopped + q.Stopped, max(o.Longest, q.Longest), o.Holding + q.Holding}
}

// add adds a time, in ns, in which a goroutine held a lock or not.
func (o *Off) add(why trace.OffReason, ns int64, holds bool) {
	o.Longest = max(o.Longest, ns)
	switch why {
	case trace.OffBlocked:
		o.Blocked += ns
		return
	case trace.OffStopped:
		o.Stopped += ns
		return
	case trace.OffThrottled:
		o.Throttled += ns
	default:
		o.Preempted += ns
	}
	if holds {
		o.Holding += ns
	}
}

// offCPU moves time in which threads were kept waiting, and the system did not tell when, from the lines to one of its own. In
// which line it was, nobody tells. It is taken evenly, but for the garbage collector: its workers and
// assists know their processor time, and what looked like theirs beyond that was waiting.
// It returns the share of their times that other lines keep.
func (t *taker) offCPU(tables *trace.Tables, lost *Interval) (kept float64) {
	var busy, collecting int64
	isCollector := func(id replay.ContextID) bool {
		proc := t.r.Contexts.Node(id).Proc
		return proc == t.r.System.Worker || proc == t.r.System.Assist
	}
	for id := range t.all() {
		ns := t.at(id).Busy()
		busy += ns
		if isCollector(id) {
			collecting += ns
		}
	}
	wait := lost.middle()
	if !offCPUMatters(wait, busy) {
		return 1
	}
	share := max(0, 1-float64(wait)/float64(busy))
	kept, collector := share, share
	if u := &tables.Usage; u.Known && u.Collector >= 0 && collecting > 0 && busy > collecting {
		collector = min(1, float64(u.Collector)/float64(collecting))
		kept = min(1, max(0, (share*float64(busy)-collector*float64(collecting))/float64(busy-collecting)))
	}
	for id := range t.all() {
		keeps := kept
		if isCollector(id) {
			keeps = collector
		}
		t.take(id, int64(math.Round((1-keeps)*float64(t.at(id).Busy()))), t.r.System.OffCPU, replay.RootOther)
	}
	return kept
}

// untold returns how long the system kept threads waiting that ran a goroutine, while it did not tell when.
//
// The goroutines ran for so long, as the runtime believes, and their threads had processors for so long. The
// difference at least they had none. At most it is that and the time in which processors looked for goroutines, since
// threads use processors for this, too. It is no more than the threads waited: but these may also wait before they have a
// goroutine to run, after a sleep.
//
// Where the system told for a part of the run, that part's share of running threads' waits is the rest's.
func untold(r *replay.Replay, tables *trace.Tables, off *Off, ran, searched int64) *Interval {
	var run, wait, told int64
	for i := range tables.Threads {
		if th := &tables.Threads[i]; r.Ran(trace.ThreadID(th.ID)) {
			ns := tables.Untold(th)
			run, wait, told = run+th.Run, wait+ns, told+th.Wait-ns
		}
	}
	switch {
	case wait == 0 || run == 0:
		return &Interval{}
	case told > 0:
		wait = int64(math.Round(float64(wait) * min(1, float64(off.Waited())/float64(told))))
		return &Interval{wait, wait}
	}
	low := max(0, ran-run)
	return &Interval{min(low, wait), min(max(low, ran+searched-run), wait)}
}

// middle is the middle of an interval.
func (i *Interval) middle() int64 { return i.Low + (i.High-i.Low)/2 }
