package trace

import (
	"maps"
	"slices"
	"sort"

	"qinst.dev/sddf/spec"
)

// OffReason reports why the operating system took a running goroutine's thread off its processor.
type OffReason uint8

// The reasons.
const (
	OffUnknown   OffReason = iota
	OffTaken               // for another thread, of this process or of another
	OffThrottled           // the control group had used its quota
	// the thread waited: for a page, for a lock of the runtime, or in a call that the runtime does
	// not see
	OffBlocked
	OffStopped // the whole process was stopped
	NumOffReasons
)

func (r OffReason) String() string {
	if r >= NumOffReasons {
		return "invalid"
	}
	return [NumOffReasons]string{"not known", "preempted", "throttled", "blocked", "stopped"}[r]
}

// Off is why a Change ended that goes from OffCPU to another state.
func (e *Event) Off() OffReason { return OffReason(e.aux) }

// OSSource is whether operating system reported something.
type OSSource struct {
	Errno uint32 // 0: it did
	From  Time   // since when; 0: the beginning
	Time  Time   // up to which it is known
	Lost  uint64 // what it had no room for
}

// Watch is a time in which the system reported all switches of the program's threads.
type Watch struct{ From, Until Time }

// tell adds the time that a record of switches is about. A record about a time that began at the
// same moment replaces it.
func (t *System) tell(s OSSource) {
	w := Watch{s.From, s.Time}
	if s.Errno != 0 && s.Errno != TooMany {
		return
	}
	if n := len(t.Watched); n > 0 && t.Watched[n-1].From >= w.From {
		i := slices.IndexFunc(t.Watched, func(o Watch) bool { return o.From == w.From })
		if i >= 0 {
			t.Watched[i] = w
		}
		return
	}
	if len(t.Watched) < maxFew {
		t.Watched = append(t.Watched, w)
	}
}

// watchedAt returns the time around a moment in which the system reported switches, or the next one
// after it. ok is false if there is none.
func (t *System) watchedAt(at Time) (w Watch, ok bool) {
	i := sort.Search(len(t.Watched), func(i int) bool { return t.Watched[i].Until > at })
	if i == len(t.Watched) {
		return w, false
	}
	return t.Watched[i], true
}

// SourceSwitches is the name of the source that tells of threads' switches as they happen.
const SourceSwitches = "switches"

// Instead of the error of a source.
const (
	NotAsked = 1<<32 - 1 // a setting switched it off
	TooMany  = 1<<32 - 2 // it was not asked any more, or only now and then, because that cost too much
)

// TellsThreads reports whether the system reported how long each thread had a processor, and waited
// for one.
func (t *System) TellsThreads() bool {
	s, ok := t.Sources["schedstat"]
	return !ok || s.Errno == 0 // files from before it was noted have it
}

// Switches reports whether the system reported when threads got a processor and lost it, in a part
// of the run at least.
func (t *System) Switches() bool {
	s, ok := t.Sources[SourceSwitches]
	return ok && (s.Errno == 0 || s.Errno == TooMany)
}

// switched applies the news that a thread got a processor of the machine, or lost it.
func (m *model) switched(kind uint64, number uint32) {
	if kind == spec.EvOn && number == spec.AllThreads {
		for _, id := range slices.Sorted(maps.Keys(m.byID)) {
			m.resume(m.byID[id])
		}
		return
	}
	th := m.byID[number]
	switch {
	case th == nil:
	case kind == spec.EvOn:
		m.resume(th)
	case th.g == nil || th.off.was != None:
	case th.g.state == Running || th.g.state == Syscall && kind == spec.EvTaken:
		th.off = away{th.g.state, m.now, kind == spec.EvTaken}
		m.change(th, th.g, OffCPU, 0, ByCode, NoSlot)
	case th.g.state == Syscall: // it waits there, and its processor does not know yet
		th.off = away{Syscall, m.now, false}
		m.change(th, th.g, Blocked, 0, ByCode, NoSlot)
	}
}

// resume gives a thread its processor back. A thread that does something has one, whatever the
// system reported.
func (m *model) resume(th *thread) {
	was := th.off.was
	if th.off.was = None; was == None || th.g == nil {
		return
	}
	if was == Syscall && th.p < 0 {
		was = Blocked // the scheduler took the processor away meanwhile
	}
	switch th.g.state {
	case OffCPU:
		m.step(th, th.g, Event{To: was, By: NoSlot, aux: uint32(m.offReason(th))})
	case Blocked:
		if was == Syscall {
			m.change(th, th.g, was, 0, ByCode, NoSlot)
		}
	}
}

const (
	offThrottled = 1e6   // ns: what is shorter is another program's turn, also in a group with a quota
	offStopped   = 150e6 // ns: what is shorter may be without any sign of life from the tool
	offLate      = 50e6  // ns by which the tool may be late with one
	clockGap     = 100e6 // ns between readings of the clocks in files that do not show
)

// offReason reports why a thread has been off its processor.
func (m *model) offReason(th *thread) OffReason {
	t, from, to := m.t, m.t.clock.ns(th.off.since), m.nowNs
	if !th.off.taken {
		// The tool's own thread reads the clocks when it said that it would, unless it is stopped
		// too. (A part of a trace has a reading at its beginning that nobody made.)
		p := t.clock.points
		next := sort.Search(len(p), func(i int) bool { return t.clock.ns(p[i].ticks) > max(from, 0) })
		due := from
		if next > 0 {
			due = t.clock.ns(p[next-1].ticks) + Time(p[next-1].next)
		}
		if to > max(from+offStopped, due+offLate) && (next == len(p) || t.clock.ns(p[next].ticks) >= to) {
			return OffStopped
		}
		return OffBlocked
	}
	if to-from > offThrottled && t.throttled(from, to) > int64(to-from)/2 {
		return OffThrottled
	}
	return OffTaken
}

// throttling is a reading of how long the control group was stopped so far.
type throttling struct {
	rawThrottling
	time Time
}

type rawThrottling struct {
	ticks uint64
	ns    int64
	group uint64
}

// throttled is how long the control group was stopped between the readings around a time.
func (t *Trace) throttled(from, to Time) (ns int64) {
	list := t.throttlings
	i := max(1, sort.Search(len(list), func(i int) bool { return list[i].time > from }))
	for ; i < len(list); i++ {
		if list[i].group == list[i-1].group { // else the process was moved
			ns += max(0, list[i].ns-list[i-1].ns)
		}
		if list[i].time >= to {
			break
		}
	}
	return ns
}

// watchedLate is how long after the beginning the system may be asked first without that anything
// of weight was missed, in ns. It takes a millisecond, and a hundred where a quota holds the
// program meanwhile.
const watchedLate = 10e6

// AllSwitches reports whether the system reported all switches of the program's threads.
func (t *System) AllSwitches() bool {
	s := t.Sources[SourceSwitches]
	return t.Switches() && s.Errno == 0 && len(t.Watched) == 1 && s.From <= watchedLate
}

// WatchedFor is how long the system reported switches, in ns.
func (t *System) WatchedFor() (ns int64) {
	for _, w := range t.Watched {
		ns += int64(w.Until - max(w.From, 0))
	}
	return ns
}
