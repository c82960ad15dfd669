package trace

import (
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Cut writes a window of the trace as a file of its own; see [Trace.Window]. "state" records have
// the states of goroutines at its start. Totals of the whole run, and the results of extensions,
// are left out, because they are not those of the window; counts are those of its events.
func (t *Trace) Cut(w io.Writer, from, to Time) error {
	view, err := t.Window(from, to)
	if err != nil {
		return err
	}
	c := &cutter{t: view, w: sddf.NewWriter(w, t.File.Producer, nil), last: view.clock.ticksAt(view.wall),
		entered: map[uint64]uint64{}}
	for _, part := range []func() error{c.attributes, c.tables, c.clocks, c.machine, c.states, c.blocks, c.end} {
		if err := part(); err != nil {
			return err
		}
	}
	return c.w.Close()
}

type cutter struct {
	t       *Trace // the window
	w       *sddf.Writer
	last    uint64            // ticks: its end
	entered map[uint64]uint64 // events by point
}

func (c *cutter) attributes() error {
	for _, a := range c.t.Attrs {
		if err := c.w.Attribute(a.Key, a.Value); err != nil {
			return err
		}
	}
	return nil
}

// tables copies the records that give names.
func (c *cutter) tables() error {
	r, err := sddf.NewReader(c.t.reader.File(), c.t.File.Size)
	if err != nil {
		return err
	}
	defined, copied := map[uint32]bool{}, map[recordKey]bool{}
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
			if err := whole(r, p.Values); err != nil {
				return err
			}
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
	return nil
}

// whole replaces references to packed blocks by their bytes.
func whole(r *sddf.Reader, values []any) error {
	for i, v := range values {
		if b, ok := v.(sddf.Blob); ok {
			data, err := r.ReadBlob(nil, b)
			if err != nil {
				return err
			}
			values[i] = data
		}
	}
	return nil
}

// recordKey identifies a record that gives a name. It is needed because segments repeat such
// records.
type recordKey struct {
	tag         uint32
	what, which uint64
}

// nameKey is the zero key for other records.
func nameKey(p *sddf.Packet) (key recordKey) {
	switch p.Record.Tag {
	case spec.TagProbes, spec.TagFunction, spec.TagReason, spec.TagStack, spec.TagFrame, spec.TagText, spec.TagPath,
		spec.TagCode:
		key.tag = p.Record.Tag
		key.what, _ = p.Values[0].(uint64)
		if len(p.Values) > 1 {
			key.which, _ = p.Values[1].(uint64) // of a frame: its level; of paths and codes: how many there are
		}
	}
	return key
}

// clocks writes the readings of the window, with one at its beginning and one at its
// end.
func (c *cutter) clocks() error {
	k := &c.t.clock
	points := []clockPoint{{ticks: k.origin}}
	for _, p := range k.points {
		if p.ticks <= k.origin {
			points[0].next = max(0, p.next-int64(k.ns(k.origin)-k.ns(p.ticks)))
		} else if p.ticks < c.last {
			points = append(points, p)
		}
	}
	before := Time(-1)
	for _, p := range append(points, clockPoint{ticks: c.last}) {
		ns := k.ns(p.ticks)
		if ns <= before {
			continue // a window of few ticks
		}
		before = ns
		if err := c.w.Data(spec.TagClock, p.ticks, int64(ns), int64(ns)+c.t.Began, uint64(p.next)); err != nil {
			return err
		}
	}
	return nil
}

// source writes whether operating system reported something.
func (c *cutter) source(name string, s OSSource) error {
	from := uint64(0)
	if s.From > 0 {
		from = c.t.clock.ticksAt(s.From)
	}
	return c.w.Data(spec.TagSource, name, c.t.clock.ticksAt(max(0, s.Time)), s.Errno, s.Lost, from)
}

// machine writes what operating system reported: the readings in the window, and one before and one
// after.
func (c *cutter) machine() error {
	for _, name := range slices.Sorted(maps.Keys(c.t.Sources)) {
		s := c.t.Sources[name]
		if name == SourceSwitches {
			for _, w := range c.t.Watched {
				if err := c.source(name, OSSource{s.Errno, w.From, w.Until, s.Lost}); err != nil {
					return err
				}
			}
		}
		if err := c.source(name, s); err != nil {
			return err
		}
	}
	from := Time(0)
	for i := range c.t.snapshots {
		if s := &c.t.snapshots[i]; s.state == OffCPU {
			from = min(from, c.t.clock.ns(s.obj))
		}
	}
	list := c.t.throttlings
	for i, r := range list {
		inside := i+1 == len(list) || list[i+1].time > from
		if inside = inside && (i == 0 || list[i-1].time < c.t.wall); !inside {
			continue
		}
		if err := c.w.Data(spec.TagThrottle, r.ticks, uint64(r.ns), r.group); err != nil {
			return err
		}
	}
	return nil
}

// states writes the states of all goroutines and threads at the beginning. Readers enter the open
// procedures themselves.
func (c *cutter) states() error {
	for i := range c.t.snapshots {
		s := &c.t.snapshots[i]
		for _, p := range s.probes {
			c.entered[uint64(p)]++
		}
		if err := c.w.Data(spec.TagState, s.row()...); err != nil {
			return err
		}
	}
	return nil
}

// blocks writes the events, thread by thread.
func (c *cutter) blocks() error {
	for _, id := range slices.Sorted(maps.Keys(c.t.blocks)) {
		blocks := c.t.blocks[id]
		cur := newCursor(c.t, nil, new(Losses))
		for i := range blocks {
			b := &blocks[i]
			if c.t.extent.part && b.ticks > c.t.extent.until {
				break
			}
			events := c.events(cur, blocks[i:i+1])
			if err := c.w.Data(spec.TagEvents, id, b.tid, b.seq-blocks[0].seq, b.ticks, b.g, b.p, events); err != nil {
				return err
			}
		}
	}
	return nil
}

// events returns a block's entries up to the end of the window, and counts them. They
// are valid until the next call.
func (c *cutter) events(cur *cursor, block []block) []byte {
	cur.blocks = block
	var all []byte
	end := 0
	for cur.next() {
		switch cur.word >> 24 & 0xff {
		case spec.EvEnter, spec.EvSync, spec.EvRecord:
			c.entered[cur.word&0xffffff]++
		}
		all, end = cur.buf, cur.pos+cur.size
	}
	return all[:end]
}

// end writes the totals of the window.
func (c *cutter) end() error {
	var block []byte
	for _, p := range slices.Sorted(maps.Keys(c.entered)) {
		for _, w := range []uint64{p, c.entered[p], c.entered[p]} {
			block = binary.LittleEndian.AppendUint64(block, w)
		}
	}
	return errors.Join(c.w.Data(spec.TagCounts, c.last, block), c.w.Data(spec.TagEnd, c.last, "cut", 0, 0, 0, 0, 0))
}
