package trace

import (
	"sort"

	"qinst.dev/sddf/spec"
)

// rawMachine are a file's records about the machine: what the operating system gave to threads, and
// took.
type rawMachine struct {
	threads   map[[2]uint32]Thread // by number and tid
	before    map[[2]uint32]Thread // their times before the trace began
	given     map[ThreadID][]given
	throttled []rawThrottling
	steal     []int64 // readings
	pressure  []int64 // the same
}

func newRawMachine() rawMachine {
	return rawMachine{threads: map[[2]uint32]Thread{}, before: map[[2]uint32]Thread{}, given: map[ThreadID][]given{}}
}

// given is a reading of what the operating system gave a thread, in ns.
type given struct {
	ticks     uint64
	run, wait int64
}

// writerThread is the thread number of the file's writer in "oscpu" records.
const writerThread = 1<<32 - 1

// row processes a record. began shows that the trace has begun.
func (m *rawMachine) row(t *Trace, r *row, began bool) {
	switch r.Record.Tag {
	case spec.TagOSCPU:
		th, tid := uint32(r.u("thread")), uint32(r.u("tid"))
		run, wait := r.u("run"), r.u("wait")
		if !r.bad && t.room(len(m.threads)) {
			m.thread(t, Thread{th, tid, int64(run), int64(wait), th == writerThread}, r.u("ticks"), began)
		}
	case spec.TagThrottle:
		if v := (rawThrottling{r.u("ticks"), int64(r.u("throttled")), 0}); !r.bad {
			if r.has("group") { // not so in older files
				v.group = r.u("group")
			}
			m.throttled = append(m.throttled, v)
		}
	case spec.TagMachine:
		if v := r.i("steal"); !r.bad && v >= 0 {
			m.steal = append(m.steal, v)
		}
		if v := r.i("pressure"); !r.bad && v >= 0 {
			m.pressure = append(m.pressure, v)
		}
	case spec.TagSource:
		name, s := r.s("name"), OSSource{Errno: uint32(r.u("errno")), Time: Time(r.u("ticks")), Lost: r.u("lost")}
		if r.has("from") { // files of older programs do not have it
			s.From = Time(r.u("from"))
		}
		if !r.bad && len(t.Sources) < maxFew {
			if name == SourceSwitches {
				t.tell(s)
			}
			t.Sources[name] = s
		}
	}
}

// thread processes a reading of a thread's times. A reading from before the first clock record,
// where the trace has not begun, is the time that the thread had used until then; the operating
// system needs some for its start.
func (m *rawMachine) thread(t *Trace, th Thread, at uint64, began bool) {
	if !th.Writer {
		m.given[ThreadID(th.ID)] = append(m.given[ThreadID(th.ID)], given{at, th.Run, th.Wait})
	}
	key := [2]uint32{th.ID, th.TID}
	if !began {
		t.Before += th.Run - m.before[key].Run
		m.before[key] = th
	}
	th.Run -= m.before[key].Run
	th.Wait -= m.before[key].Wait
	m.threads[key] = th
}

// finish makes the tables. It must be called after the clock is complete. The first readings of
// totals are from before the trace.
func (m *rawMachine) finish(t *Trace) {
	for _, th := range m.threads {
		t.Threads = append(t.Threads, th)
	}
	sort.Slice(t.Threads, func(i, j int) bool {
		a, b := t.Threads[i], t.Threads[j]
		return a.ID < b.ID || a.ID == b.ID && a.TID < b.TID
	})
	t.Given = map[ThreadID][]Given{}
	for id, list := range m.given {
		for _, g := range list {
			t.Given[id] = append(t.Given[id], Given{t.clock.ns(g.ticks), g.run, g.wait})
		}
	}
	for _, r := range m.throttled {
		t.throttlings = append(t.throttlings, throttling{r, t.clock.ns(r.ticks)})
	}
	if n := len(t.throttlings); n > 0 {
		t.Throttled = t.throttled(t.throttlings[0].time, t.throttlings[n-1].time)
	}
	t.Steal, t.Pressure = risen(m.steal), risen(m.pressure)
	t.convertSources()
}

// convertSources converts the times of sources, which are in ticks until all is read.
func (t *Trace) convertSources() {
	for name, s := range t.Sources {
		s.Time = t.clock.ns(uint64(s.Time))
		if s.From != 0 {
			s.From = t.clock.ns(uint64(s.From))
		}
		t.Sources[name] = s
	}
	for i := range t.Watched {
		w := &t.Watched[i]
		if w.Until = t.clock.ns(uint64(w.Until)); w.From != 0 {
			w.From = t.clock.ns(uint64(w.From))
		}
	}
}

// risen is the difference of the first and the last reading of a total, -1 if there is none.
func risen(readings []int64) int64 {
	if len(readings) == 0 {
		return -1
	}
	return readings[len(readings)-1] - readings[0]
}
