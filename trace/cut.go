package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Cut writes the part of a trace between two times, in ns since it began, as a file
// of its own: events later than from, up to and including to. What goroutines did at
// its start stands in "state" records. Totals of the whole run are left out, counts
// are those of the events.
func (t *Trace) Cut(w io.Writer, from, to int64) error {
	if from < 0 || to <= from || from >= t.Wall {
		return fmt.Errorf("found the window %d to %d ns, expected a part of 0 to %d", from, to, t.Wall)
	}
	c := &cutter{t: t, w: sddf.NewWriter(w, t.Producer, nil), from: t.clock.ticksAt(from), to: t.clock.ticksAt(min(to, t.Wall))}
	if err := c.tables(); err != nil {
		return err
	}
	if err := c.states(); err != nil {
		return err
	}
	if err := c.blocks(); err != nil {
		return err
	}
	if err := errors.Join(c.clock(c.to), c.counts(), c.w.Data(spec.TagEnd, c.to, "cut", 0, 0, 0, 0, 0)); err != nil {
		return err
	}
	return c.w.Flush()
}

// ticksAt is the reverse of ns.
func (c *clock) ticksAt(ns int64) uint64 {
	lo, hi := c.origin, c.origin
	for step := uint64(1) << 20; c.ns(hi) < ns && step != 0; step *= 2 {
		lo, hi = hi, hi+step
	}
	for lo < hi {
		if mid := lo + (hi-lo)/2; c.ns(mid) < ns {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

type cutter struct {
	t        *Trace
	w        *sddf.Writer
	from, to uint64 // ticks
	entered  map[uint64]uint64
}

// tables copies what names things.
func (c *cutter) tables() error {
	r, err := sddf.NewReader(c.t.reader.File(), c.t.Size)
	if err != nil {
		return err
	}
	defined, copied := map[uint32]bool{}, map[recordKey]bool{}
	attrs := append([]Attr{{"cut_from_ns", c.t.clock.ns(c.from)}, {"cut_to_ns", c.t.clock.ns(c.to)}}, c.t.Attrs...)
	for _, a := range attrs {
		if a.Key == "ring" {
			continue
		}
		if err := c.w.Attribute(a.Key, a.Value); err != nil {
			return err
		}
	}
	c.entered = map[uint64]uint64{}
	for p, err := range r.Packets() {
		var damage *sddf.DamageError
		switch {
		case errors.As(err, &damage):
		case err != nil:
			return err
		case p.Kind == spec.Descriptor && !defined[p.Record.Tag]:
			defined[p.Record.Tag] = true
			if err := c.w.Define(*p.Record); err != nil {
				return err
			}
		case p.Kind == spec.Data && p.Record != nil:
			key := nameKey(p)
			if key.tag == 0 || copied[key] {
				continue
			}
			copied[key] = true
			if err := c.w.Data(p.Record.Tag, p.Values...); err != nil {
				return err
			}
		}
	}
	for i := range spec.Records {
		if rec := &spec.Records[i]; !defined[rec.Tag] { // of a file from before there was one
			if err := c.w.Define(*rec); err != nil {
				return err
			}
		}
	}
	return c.clock(c.from)
}

// recordKey tells a record that names things from others of its kind. Segments
// repeat them.
type recordKey struct {
	tag         uint32
	what, which uint64
}

// nameKey is the zero key for other records.
func nameKey(p *sddf.Packet) (key recordKey) {
	switch p.Record.Tag {
	case spec.TagProbes, spec.TagFunction, spec.TagReason, spec.TagStack, spec.TagFrame, spec.TagText:
		key.tag = p.Record.Tag
		key.what, _ = p.Values[0].(uint64)
		if len(p.Values) > 1 {
			key.which, _ = p.Values[1].(uint64) // of a frame: its level
		}
	}
	return key
}

// clock writes a reading of the clocks that the trace's readings give.
func (c *cutter) clock(ticks uint64) error {
	ns := c.t.clock.ns(ticks)
	wall := ns
	if len(c.t.clock.points) > 0 {
		wall += c.t.Began
	}
	return c.w.Data(spec.TagClock, ticks, ns, wall)
}

// snapshot is what a goroutine does at the beginning of a cut.
type snapshot struct {
	g            GoID
	seq          uint32
	state        State
	thread       uint32
	p            int32
	pc           uint64
	reason, obj  uint64
	stack        uint32
	probes       []uint32
	name, labels uint64
}

// states writes what everybody does at the beginning.
func (c *cutter) states() error {
	if c.from == 0 {
		return nil // there is nothing before
	}
	live := map[int32]*snapshot{}
	before := *c.t
	before.until = c.from
	m, err := before.replay(func(batch []Event) error {
		for i := range batch {
			follow(live, &batch[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, slot := range slices.Sorted(maps.Keys(live)) {
		s := live[slot]
		g := m.gors[s.g]
		if g == nil {
			continue
		}
		s.seq, s.p = g.seq, -1
		if g.th != nil {
			s.thread, s.p = g.th.id, g.th.p
		}
		if err := c.state(s); err != nil {
			return err
		}
	}
	for _, th := range m.threads {
		if th.g == nil && th.p >= 0 {
			if err := c.state(&snapshot{thread: th.id, p: th.p}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cutter) state(s *snapshot) error {
	for _, p := range s.probes {
		c.entered[uint64(p)]++
	}
	return c.w.Data(spec.TagState, uint64(s.g), s.seq, uint8(s.state), s.thread, s.p, s.pc, s.reason, s.obj, s.stack, s.probes, s.name, s.labels)
}

// follow keeps what goroutines do.
func follow(live map[int32]*snapshot, e *Event) {
	if e.Kind == Create {
		s := &snapshot{g: e.G, pc: e.Arg, state: e.To}
		if by := live[e.By]; by != nil {
			s.labels = by.labels
		}
		live[e.Slot] = s
		return
	}
	s := live[e.Slot]
	if s == nil {
		return
	}
	switch e.Kind {
	case Change:
		if s.state = e.To; e.To == None {
			delete(live, e.Slot)
			return
		}
		s.reason, s.obj, s.stack = 0, 0, 0
		if e.To == Waiting {
			s.reason, s.obj, s.stack = e.Arg, e.Obj, e.Aux
		}
	case Enter:
		s.probes = append(s.probes, uint32(e.Arg))
	case Exit:
		s.probes = s.probes[:len(s.probes)-1]
	case Named:
		s.name = e.Arg
	case Labeled:
		s.labels = e.Arg
	}
}

// blocks writes the events of the window, thread by thread.
func (c *cutter) blocks() error {
	for _, id := range slices.Sorted(maps.Keys(c.t.blocks)) {
		if err := c.thread(id); err != nil {
			return err
		}
	}
	return nil
}

// thread writes a thread's events in new blocks, as large as those that they come
// from. A block's head says what the model knows: nothing is missing before it.
func (c *cutter) thread(id uint32) error {
	window := *c.t
	window.until = c.to
	blocks := c.t.blocks[id]
	for len(blocks) > 1 && blocks[1].ticks <= c.from {
		blocks = blocks[1:] // the next one's head says what came of it
	}
	cur := newCursor(&window, blocks, new(Losses))
	var block []byte
	var ticks, last, seq uint64
	var head blockHead
	put := func() error {
		if len(block) == 0 {
			return nil
		}
		err := c.w.Data(spec.TagEvents, id, head.tid, seq, ticks, head.g, head.p, block)
		block = block[:0]
		seq++
		return err
	}
	open := int64(-1)
	for cur.next() {
		head.follow(cur)
		if cur.time <= c.from {
			head.apply(cur)
			continue
		}
		if cur.block.off != open || len(block) == 0 {
			if err := put(); err != nil {
				return err
			}
			open, ticks, last = cur.block.off, cur.time, cur.time
			head.freeze()
		}
		delta := cur.time - last
		if cur.time < last || delta > 1<<32-1 {
			block = binary.LittleEndian.AppendUint64(block, spec.EvTime<<24)
			block = binary.LittleEndian.AppendUint64(block, cur.time)
			delta = 0
		}
		last = cur.time
		block = binary.LittleEndian.AppendUint64(block, delta<<32|cur.word&(1<<32-1))
		block = append(block, cur.buf[cur.pos+8:cur.pos+cur.size]...)
		c.count(cur.word)
		head.apply(cur)
	}
	return put()
}

// count counts an event that a point's "traced" tells of.
func (c *cutter) count(word uint64) {
	switch word >> 24 & 0xff {
	case spec.EvEnter, spec.EvSync, spec.EvRecord:
		c.entered[word&0xffffff]++
	}
}

// counts writes the totals of the window.
func (c *cutter) counts() error {
	var block []byte
	for _, p := range slices.Sorted(maps.Keys(c.entered)) {
		for _, w := range []uint64{p, c.entered[p], c.entered[p]} {
			block = binary.LittleEndian.AppendUint64(block, w)
		}
	}
	return c.w.Data(spec.TagCounts, c.to, block)
}

// blockHead is what a block's head says: who runs on the thread, with which
// processor.
type blockHead struct {
	tid  uint32
	g    uint64
	p    int32
	nowG uint64
	nowP int32
	seen bool
}

// follow takes over what a block of the file says.
func (h *blockHead) follow(c *cursor) {
	if c.fresh {
		if !h.seen || c.lost || h.tid != c.block.tid {
			h.nowG, h.nowP = c.block.g, c.block.p
		}
		h.seen, h.tid = true, c.block.tid
		c.fresh, c.lost = false, false
	}
}

func (h *blockHead) freeze() { h.g, h.p = h.nowG, h.nowP }

// apply notes who runs after an entry.
func (h *blockHead) apply(c *cursor) {
	arg := int32(c.word & 0xffffff)
	switch c.word >> 24 & 0xff {
	case spec.EvGoStart, spec.EvGoSwitch, spec.EvGoroutine, spec.EvGoCreateSyscall:
		h.nowG = c.arg(1) & (1<<spec.GoBits - 1)
	case spec.EvGoPark, spec.EvGoWait, spec.EvGoStop, spec.EvGoEnd, spec.EvSyscallEndNoP, spec.EvGoEndSyscall:
		h.nowG = 0
	case spec.EvProcStart:
		h.nowP = arg
	case spec.EvProcStop:
		h.nowP = -1
	}
}
