package trace

import (
	"slices"
)

// batchLen is the number of events handed over at a time: enough to make the
// call free, few enough to stay in the cache.
const batchLen = 1024

// Clock skew and a thread descheduled between reading the clock and acting make
// an event appear before the one that caused it. Its thread is held back until
// the cause is seen, but no longer than this: then the cause is lost.
const (
	holdNs      = 20e6
	holdGappyNs = 1e5 // in a trace that turned out to have holes
)

// thread is one thread's cursor and the model's state of the thread.
type thread struct {
	*cursor
	id     uint32
	tid    uint32
	g      *gor   // that runs on it or is in a system call on it
	p      int32  // its processor, -1 if none
	stated bool   // p comes from a block's head: its "proc start" may still come
	fired  uint64 // the timer that starts the goroutine of the next event; 0: none
	late   uint64 // ns by which the timer of the next wake-up was late
	waits  change // held until this happens
	seenIn bool
	off    away

	searches      bool // has a processor and no goroutine
	searchesSince Time
}

// away is how the operating system took a thread's processor.
type away struct {
	was   State  // of its goroutine, before that; None: it has not
	since uint64 // ticks
	taken bool   // for another thread
}

// merger merges the threads' events in time order, as far as goroutines' sequence
// numbers confirm that order, and applies them to the model.
type merger struct {
	model
	threads []*thread
	heap    []*thread // by time, then number
	held    []*thread
	hold    uint64 // ticks
	// holdGappy replaces hold after the first wait for an event that never came, because each
	// such wait moves the thread's events to a later time.
	holdGappy uint64

	keep  bool         // do not force held events at the end: their cause may come after the window
	pause func() error // if set: called when all events up to the time now are applied, or held
}

// Events calls f with the trace's events in order, in batches that are valid only during the
// call. It returns the losses and repairs, including those found when the file was opened. It can
// be called again.
func (t *Trace) Events(f func([]Event) error) (Losses, error) {
	m := t.merger(f)
	if t.index != nil && t.index.notes != nil {
		m = t.index.notes.merger(t, f)
		defer func() { t.index.notes.whole = true }()
	}
	if err := m.run(); err != nil {
		return m.losses, err
	}
	m.finish()
	return m.losses, m.flush()
}

// merger returns a merger at the beginning of the trace, with the states there.
func (t *Trace) merger(f func([]Event) error) *merger {
	m := &merger{keep: t.extent.part}
	m.init(t, f)
	m.byID = map[uint32]*thread{}
	m.losses = t.losses
	m.hold, m.holdGappy = t.ticks(holdNs), t.ticks(holdGappyNs)
	if m.losses.Blocks+m.losses.Events+m.losses.TailBytes > 0 {
		m.hold = m.holdGappy
	}
	if n, ok := t.Attr("gomaxprocs").(uint64); ok {
		m.procs(n, 0)
	}
	ids := make([]uint32, 0, len(t.blocks))
	for id := range t.blocks {
		ids = append(ids, id)
	}
	for i := range t.snapshots {
		if s := &t.snapshots[i]; s.onThread() {
			ids = append(ids, s.thread) // it may have no events any more
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		th := &thread{cursor: newCursor(t, t.blocks[id], &m.losses), id: id, p: -1, waits: change{p: -1}}
		m.threads = append(m.threads, th)
		m.byID[id] = th
		if th.next() {
			m.push(th)
		}
	}
	m.restore(t.snapshots)
	return m
}

// ticks converts a duration.
func (t *Trace) ticks(ns uint64) uint64 {
	p := t.clock.points
	if len(p) < 2 {
		return ns
	}
	first, last := p[0], p[len(p)-1]
	return uint64(float64(ns) * float64(last.ticks-first.ticks) / float64(last.mono-first.mono))
}

func (m *merger) run() error {
	for m.err == nil {
		if len(m.heap) == 0 {
			if len(m.held) == 0 || m.keep && slices.ContainsFunc(m.threads, func(th *thread) bool { return th.cut }) {
				return nil
			}
			m.force()
			continue
		}
		th := m.heap[0]
		if m.pause != nil && th.time > m.now {
			if err := m.pause(); err != nil {
				return err
			}
		}
		limit := m.second()
		if len(m.held) > 0 {
			deadline := m.held[0].time + m.hold
			if th.time > deadline {
				m.force()
				continue
			}
			limit = min(limit, deadline)
		}
		m.advance(th, limit)
	}
	return m.err
}

// advance applies th's events until one is later than limit, must wait, or wakes
// held threads.
func (m *merger) advance(th *thread, limit uint64) {
	for th.time <= limit {
		if !m.apply(th) {
			m.pop()
			m.held = append(m.held, th)
			m.holding = true
			return
		}
		if !th.next() {
			m.pop()
			m.release()
			return
		}
		if len(m.woken) > 0 {
			break
		}
	}
	m.down(0)
	m.release()
}

// release puts threads back that waited for the latest change.
func (m *merger) release() {
	if len(m.woken) == 0 {
		return
	}
	kept := m.held[:0]
	for _, h := range m.held {
		if slices.ContainsFunc(m.woken, h.waitsFor) {
			m.push(h)
		} else {
			kept = append(kept, h)
		}
	}
	m.held = kept
	m.woken = m.woken[:0]
	m.holding = len(m.held) > 0
}

func (th *thread) waitsFor(c change) bool {
	return c.g != 0 && c.g == th.waits.g || c.p >= 0 && c.p == th.waits.p
}

// force applies the event that has been held longest, even if it contradicts the model.
func (m *merger) force() {
	th := m.held[0]
	m.held = slices.Delete(m.held, 0, 1)
	m.hold = m.holdGappy
	m.forcing = true
	m.apply(th)
	m.forcing = false
	if th.next() {
		m.push(th)
	}
	m.release()
}

// second is the smallest time in the heap below its head.
func (m *merger) second() uint64 {
	limit := ^uint64(0)
	for _, th := range m.heap[1:min(3, len(m.heap))] {
		limit = min(limit, th.time)
	}
	return limit
}

func before(a, b *thread) bool { return a.time < b.time || a.time == b.time && a.id < b.id }

func (m *merger) push(th *thread) {
	m.heap = append(m.heap, th)
	for i := len(m.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !before(m.heap[i], m.heap[parent]) {
			return
		}
		m.heap[i], m.heap[parent] = m.heap[parent], m.heap[i]
		i = parent
	}
}

// pop removes the head.
func (m *merger) pop() {
	n := len(m.heap) - 1
	m.heap[0] = m.heap[n]
	m.heap = m.heap[:n]
	m.down(0)
}

func (m *merger) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(m.heap) {
			return
		}
		if c+1 < len(m.heap) && before(m.heap[c+1], m.heap[c]) {
			c++
		}
		if !before(m.heap[c], m.heap[i]) {
			return
		}
		m.heap[i], m.heap[c] = m.heap[c], m.heap[i]
		i = c
	}
}

// finish ends the stream. It compares the events found with the file's counts.
func (m *merger) finish() {
	for i := range m.t.Points {
		p := &m.t.Points[i]
		switch {
		case !p.Traceable() || p.Traced <= m.entered[i]+p.Reduced:
		case m.t.extent.until != 0: // past the limit
			p.Traced = m.entered[i] + p.Reduced
		default:
			m.losses.Missing += int64(p.Traced - m.entered[i] - p.Reduced)
		}
	}
}
