package trace

import (
	"cmp"
	"errors"
	"slices"
)

// checkpoint is the state of all goroutines and threads at a moment, and the position from which
// to continue reading.
type checkpoint struct {
	ticks  uint64
	procs  uint64 // GOMAXPROCS, 0 if unknown
	states []snapshot
	// held has, for threads that wait for a later cause, the offset in the file of the waiting
	// entry, which itself is not later than ticks.
	held   map[uint32]int64
	points []uint32 // of events since the previous checkpoint, in order
}

// snapshot is the state of a goroutine.
type snapshot struct {
	g            GoID // 0: none, of a thread
	seq          uint32
	state        State
	thread, tid  uint32
	p            int32
	pc           uint64
	reason, obj  uint64
	stack        uint32
	probes       []uint32
	name, labels uint64
	regions      []uint32 // open ones, by their texts
}

// at returns the state of all goroutines and threads at a time.
func (t *Trace) at(ticks uint64) (*checkpoint, error) {
	before := *t
	var f follower
	near, err := t.near(ticks)
	switch {
	case err != nil:
		return nil, err
	case near != nil && near.ticks == ticks:
		return near, nil
	case near != nil:
		before = *t.view(near, ticks)
	}
	before.extent.until = ticks
	m := before.merger(f.follow)
	m.keep = true
	if err := errors.Join(m.run(), m.flush()); err != nil {
		return nil, err
	}
	return f.checkpoint(m, ticks), nil
}

// follower keeps the parts of goroutines' states that the model does not.
type follower struct {
	live   []*snapshot // by slot
	procs  uint64
	points map[uint32]bool // of events since the last checkpoint; nil if not needed
}

func (f *follower) follow(batch []Event) error {
	for i := range batch {
		f.event(&batch[i])
	}
	return nil
}

func (f *follower) event(e *Event) {
	if e.AtPoint() {
		if f.points != nil {
			f.points[uint32(e.arg)] = true
		}
		return
	}
	switch e.Kind {
	case Procs:
		f.procs = e.arg
		return
	case Create:
		s := &snapshot{g: e.G, pc: e.arg}
		if by := f.slot(e.By); by != nil {
			s.labels = by.labels
		}
		for int(e.Slot) >= len(f.live) {
			f.live = append(f.live, nil)
		}
		f.live[e.Slot] = s
		return
	}
	s := f.slot(e.Slot)
	if s == nil {
		return
	}
	switch e.Kind {
	case Change:
		s.reason, s.obj, s.stack = 0, 0, 0
		switch e.To {
		case None:
			f.live[e.Slot] = nil
		case Waiting:
			s.reason, s.obj, s.stack = e.arg, e.obj, e.aux
		}
	case Named:
		s.name = e.arg
	case Labeled:
		s.labels = e.arg
	case Region:
		s.region(e)
	}
}

func (f *follower) slot(slot Slot) *snapshot {
	if slot < 0 || int(slot) >= len(f.live) {
		return nil
	}
	return f.live[slot]
}

// region begins a region, or ends the last one of its name.
func (s *snapshot) region(e *Event) {
	if e.aux == 1 {
		s.regions = append(s.regions, uint32(e.arg))
		return
	}
	for i := len(s.regions) - 1; i >= 0; i-- {
		if e.arg == 0 || s.regions[i] == uint32(e.arg) {
			s.regions = slices.Delete(s.regions, i, i+1)
			return
		}
	}
}

// checkpoint takes the model's part and this one's together.
func (f *follower) checkpoint(m *merger, ticks uint64) *checkpoint {
	c := &checkpoint{ticks: ticks, procs: f.procs, held: map[uint32]int64{}}
	for _, s := range f.live {
		if s == nil || m.gors.live[s.g] == nil {
			continue
		}
		g, now := m.gors.live[s.g], *s
		now.seq, now.state, now.p = g.seq, g.state, -1
		now.probes, now.regions = slices.Clone(g.stack), slices.Clone(s.regions)
		if g.th != nil {
			now.thread, now.tid, now.p = g.th.id, g.th.tid, g.th.p
			now.setOff(g.th)
		}
		c.states = append(c.states, now)
	}
	for _, th := range m.threads {
		if th.g == nil && th.seenIn {
			c.states = append(c.states, snapshot{thread: th.id, tid: th.tid, p: th.p})
		}
	}
	for _, th := range m.held {
		c.held[th.id] = th.block.Off + int64(th.pos)
	}
	for p := range f.points {
		c.points = append(c.points, p)
	}
	slices.Sort(c.points)
	clear(f.points)
	return c
}

// offTaken in the reason of a goroutine whose thread is off its processor: another thread got that.
const offTaken = 1 << 8

// setOff keeps what operating system reported of a thread that is off its processor, where the
// states of others have what they wait for.
func (s *snapshot) setOff(th *thread) {
	if th.off.was == None {
		return
	}
	if s.reason, s.obj = uint64(th.off.was), th.off.since; th.off.taken {
		s.reason |= offTaken
	}
}

// off gives it back to the thread, if the snapshot is of such a one.
func (s *snapshot) off(th *thread, now uint64) {
	was := State(s.reason & (offTaken - 1))
	switch {
	case was == Syscall && (s.state == OffCPU || s.state == Blocked), was == Running && s.state == OffCPU:
		th.off = away{was, s.obj, s.reason&offTaken != 0}
	case s.state == OffCPU: // of a file from before this was kept
		th.off = away{Running, now, true}
	}
}

// onThread reports whether the state names a thread.
func (s *snapshot) onThread() bool {
	return s.g == 0 || s.state.Busy() || s.state == Blocked || s.state == OffCPU
}

// row are the values of a "state" record.
func (s *snapshot) row() []any {
	return []any{uint64(s.g), s.seq, uint8(s.state), s.thread, s.p, s.pc, s.reason, s.obj, s.stack, s.probes, s.name,
		s.labels, s.regions, s.tid}
}

// snapshotOf reads a "state" record.
func snapshotOf(r *row) snapshot {
	s := snapshot{g: GoID(r.u("g")), seq: uint32(r.u("seq")), state: State(r.u("state")), thread: uint32(r.u("thread")),
		p: int32(r.i("p")), pc: r.u("pc"),
		reason: r.u("reason"), obj: r.u("object"), stack: uint32(r.u("stack")), name: r.u("name"),
		labels: r.u("labels")}
	for _, p := range r.us("probes") {
		s.probes = append(s.probes, uint32(p))
	}
	if r.has("regions") { // not so before there were any
		s.tid = uint32(r.u("tid"))
		for _, p := range r.us("regions") {
			s.regions = append(s.regions, uint32(p))
		}
	}
	r.bad = r.bad || s.state >= NumStates
	return s
}

// near returns the last checkpoint of the index that is not later than ticks, nil if there is
// none.
func (t *Trace) near(ticks uint64) (*checkpoint, error) {
	if t.index == nil {
		return nil, nil
	}
	if t.index.notes != nil {
		return t.index.notes.near(ticks), nil
	}
	i, found := slices.BinarySearchFunc(t.index.list, ticks, compareTicks)
	if !found {
		i--
	}
	if i < 0 {
		return nil, nil
	}
	return t.index.checkpoint(i)
}

func compareTicks(c checkpointHead, ticks uint64) int { return cmp.Compare(c.Ticks, ticks) }

// parts are the times, in ns, of the pieces of a window that have events at points.
func (t *Trace) parts(from, to Time, want func(PointID) bool) (list [][2]Time) {
	to = min(to, t.wall)
	if want == nil {
		return [][2]Time{{from, to}}
	}
	var heads []checkpointHead
	if t.index != nil {
		heads = t.index.list
	}
	begin := from
	add := func(end Time) {
		if n := len(list); n > 0 && list[n-1][1] == begin {
			list[n-1][1] = end
		} else {
			list = append(list, [2]Time{begin, end})
		}
	}
	for _, c := range heads {
		end := t.clock.ns(c.Ticks)
		if end <= begin {
			continue
		}
		if end = min(end, to); slices.ContainsFunc(c.Points, func(p uint32) bool { return want(PointID(p)) }) {
			add(end)
		}
		if begin = end; begin >= to {
			return list
		}
	}
	add(to)
	return list
}
