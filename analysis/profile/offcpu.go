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

// offCPU moves time in which threads were kept waiting from the lines to one of its own. How much it was, the system
// tells of each thread; in which line it was, nobody does. It is taken evenly, but for the garbage collector: its workers and
// assists know their processor time, and what looked like theirs beyond that was waiting. It returns the share of their
// times that other lines keep.
func (t *taker) offCPU(tables *trace.Tables) (kept float64) {
	var run, wait, busy, collecting int64
	for _, th := range tables.Threads {
		if t.r.Ran(trace.ThreadID(th.ID)) {
			run, wait = run+th.Run, wait+th.Wait
		}
	}
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
	if !offCPUMatters(wait, busy) || run <= 0 {
		return 1
	}
	share := float64(run) / float64(run+wait)
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
