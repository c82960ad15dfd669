package trace

import (
	"math"
	"sort"
)

// System is what the operating system reported about the program and its machine.
type System struct {
	Threads   []Thread // by dense number, then thread id
	Given     map[ThreadID][]Given
	Usage     Usage
	Throttled int64 // ns lost to the control group's quota
	Steal     int64 // ns that a host took from the machine's processors; -1: not known
	// ns in which some thread of the control group, or else of the machine, waited for a processor;
	// -1: not known
	Pressure int64
	Sources  map[string]OSSource
	Before   int64   // ns that threads had a processor before the trace began; [System.Usage] has them
	Watched  []Watch // when the system reported switches
}

// Thread describes an operating-system thread of the program.
type Thread struct {
	ID     uint32 // dense number; reused when a thread exits
	TID    uint32 // the operating system's id
	Run    int64  // ns on a processor, at its last reading
	Wait   int64  // ns runnable but not on a processor
	Writer bool   // the thread that wrote the file, not the program's own
}

// Given is a reading of what the operating system has given a thread so far.
type Given struct {
	Time      Time
	Run, Wait int64 // ns on a processor, and runnable without one
}

// Share returns which part of the time that a thread wanted a processor it had one, as far as
// readings show: 1 if nothing is known. It holds until the time that it returns with it.
func (t *System) Share(id ThreadID, at Time) (share float64, until Time) {
	w, told := t.watchedAt(at)
	if told && at >= w.From { // the states of its goroutines tell
		return 1, w.Until
	}
	if until = math.MaxInt64; told {
		until = w.From
	}
	list := t.Given[id]
	k := sort.Search(len(list), func(i int) bool { return list[i].Time > at })
	switch {
	case len(list) < 2:
		return 1, until
	case k == 0:
		k = 1
	}
	if k < len(list) {
		until = min(until, list[k].Time)
	}
	k = min(k, len(list)-1)
	run, wait := list[k].Run-list[k-1].Run, list[k].Wait-list[k-1].Wait
	if run < 0 || wait < 0 || run+wait == 0 { // another thread has the number now, or it slept
		return 1, until
	}
	return float64(run) / float64(run+wait), until
}

// Usage is getrusage of the process at its last reading.
type Usage struct {
	Known        bool
	Time         Time
	User, System int64 // ns of processor time
	MaxRSS       int64 // bytes
	Collector    int64 // ns, of the garbage collector's mark workers and assists; -1: not known
	Looks        int64 // ns, of threads that told samplers where they are
	Ended        int64 // ns, of threads that have ended, as far as [System.Threads] does not have it
	Faults       int64 // waits for pages that had to be read
	Calls        int64 // system calls without events, which keep their processors: a rate of bytes was overdrawn
	Called       int64 // ns that these took; their goroutines seem to run meanwhile
}
