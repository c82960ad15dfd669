package profile

import (
	"math"
	"time"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// From here on the time in which the operating system kept running threads waiting makes other
// numbers doubtful, and gets a line of its own. A few starts of threads do not.
const (
	offCPUShare = 0.02 // of the busy time
	offCPULeast = int64(time.Millisecond)
)

// offCPUMatters reports whether threads waited long, compared with their busy time.
func offCPUMatters(waited, busy int64) bool {
	return waited > offCPULeast && float64(waited) > offCPUShare*float64(busy)
}

// Off are times, in ns, summed over the goroutines, in which they ran on threads that had no
// processor.
type Off struct {
	Preempted int64 `json:"preempted_ns"` // another thread had it
	Throttled int64 `json:"throttled_ns"` // the control group had used its quota
	// the thread waited: for a page, for a lock of the runtime, in a call that the runtime did not
	// see
	Blocked int64 `json:"blocked_ns"`
	Stopped int64 `json:"stopped_ns"` // the process was stopped
	Longest int64 `json:"longest_ns"` // of them, in one piece
	Holding int64 `json:"holding_ns"` // of Preempted and Throttled: a lock was held
}

// Waited is the time in which the machine made goroutines wait.
func (o *Off) Waited() int64 {
	if o == nil {
		return 0
	}
	return o.Preempted + o.Throttled + o.Stopped
}

// All is the time in which goroutines had no processor, for whatever reason.
func (o *Off) All() int64 {
	if o == nil {
		return 0
	}
	return o.Waited() + o.Blocked
}

// plus is the sum of two, either of which may be nil.
func (o *Off) plus(q *Off) *Off {
	switch {
	case o == nil:
		return q
	case q == nil:
		return o
	}
	return &Off{o.Preempted + q.Preempted, o.Throttled + q.Throttled, o.Blocked + q.Blocked, o.Stopped + q.Stopped,
		max(o.Longest, q.Longest), o.Holding + q.Holding}
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

// offCPU moves time in which threads were kept waiting, and the system did not say when, from the
// lines to one of its own. The lines it belongs to are not known. It is taken evenly, but for the
// garbage collector: its workers and assists know their processor time, and any time beyond that
// was waiting. It returns the share of their times that other lines keep.
func (t *taker) offCPU(tables *trace.Tables, wait int64) (kept float64) {
	var busy, collecting int64
	isCollector := func(id replay.ContextID) bool {
		proc := t.r.Contexts.Node(id).Proc
		return proc == t.r.System.Worker || proc == t.r.System.Assist
	}
	// it is off-CPU already
	told := func(id replay.ContextID) bool { return t.r.Contexts.Node(id).Group == replay.NoGroup }
	for id := range t.all() {
		ns := t.at(id).Busy()
		if told(id) {
			continue
		}
		busy += ns
		if isCollector(id) {
			collecting += ns
		}
	}
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
		switch {
		case told(id):
			continue
		case isCollector(id):
			keeps = collector
		}
		t.take(id, int64(math.Round((1-keeps)*float64(t.at(id).Busy()))), t.r.System.OffCPU, replay.RootOther)
	}
	return kept
}

// waited is time in ns, as far as it is known.
type waited struct {
	ns      int64
	between Interval
}

// untold returns how long running goroutines had no processor at times of which the system did not
// tell.
//
// By the scheduler the goroutines ran for so long (without the times of which the system reported),
// and their threads had processors for so long: the difference they had none. It is too small by
// the time in which threads used their processors to look for goroutines, or to begin and end, and
// in files of older programs too large by what the last readings of threads that have ended lack.
// Threads of C and the runtime's monitor use processors too, so that the process's own account
// bounds it from below.
//
// What a thread waited for a processor is no measure of it. A thread that wakes waits as well, and
// while a quota holds all threads they do not wait.
func untold(r *replay.Replay, tables *trace.Tables, ran, searched int64) (w waited) {
	var run, wait, tool int64
	for i := range tables.Threads {
		switch th := &tables.Threads[i]; {
		case th.Writer:
			tool += th.Run
		case r.Ran(trace.ThreadID(th.ID)):
			run, wait = run+th.Run, wait+th.Wait
		}
	}
	u := &tables.Usage
	if run == 0 { // no thread's time is known; goroutines had no more than the process used
		if ns := ran - (u.User + u.System); u.Known && !tables.TellsThreads() && offCPUMatters(ns, ran) {
			w = waited{ns, Interval{ns, ran}}
		}
		return w
	}
	run += u.Ended
	least := max(0, ran-run)
	if u.Known {
		least = max(0, min(least, ran-(u.User+u.System-tables.Before-tool)))
	}
	w.ns = max(least, ran-run-stale*int64(r.Procs))
	if tables.AllSwitches() && !offCPUMatters(w.ns, ran) {
		return waited{} // nothing but the precision of the system's times
	}
	// What the threads used to look for goroutines is not known, but they had processors as often
	// then as while they ran one.
	w.between = Interval{least, max(w.ns, ran-int64(float64(run)*float64(ran)/float64(max(1, ran+searched))))}
	if u.Ended == 0 { // else threads have waited that were not asked
		w.between.High = max(w.ns, min(w.between.High, wait))
	}
	return w
}

// stale is how far a reading of a thread's processor time may be behind if the thread runs: the
// system adds to it at its ticks. The process's own time is exact.
const stale = int64(10 * time.Millisecond)
