package trace

import (
	"fmt"
	"slices"
	"sort"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Window returns the part of the trace between two times, in ns since it began, as a trace:
// events later than from, up to and including to. Its time 0 is from, or the clock's last tick
// before. It begins with the states of all goroutines and threads at that time. Totals of the
// whole run are not in it.
//
// These states follow from all earlier events. An index makes computing them fast; see
// [Trace.WriteIndex].
func (t *Trace) Window(from, to Time) (*Trace, error) {
	if from < 0 || to <= from || from >= t.wall {
		return nil, fmt.Errorf("found the window %d to %d ns, expected a part of 0 to %d", from, to, t.wall)
	}
	start, err := t.at(t.clock.ticksAt(from))
	if err != nil {
		return nil, err
	}
	if to >= t.wall {
		return t.view(start, 0), nil
	}
	return t.view(start, t.clock.ticksAt(to)), nil
}

// asked is the part of the trace that a "window" command names by its arguments. Without
// one it is the whole trace, and where there is no such part, too: that is a loss.
func (t *Trace) asked(args []spec.Attr) *Trace {
	if args == nil {
		return t
	}
	var from, to uint64
	known := 0
	for _, a := range args {
		ticks, ok := a.Value.(uint64)
		switch {
		case ok && a.Key == spec.WindowFrom:
			from, known = ticks, known+1
		case ok && a.Key == spec.WindowTo:
			to, known = ticks, known+1
		}
	}
	if known != 2 || from >= to {
		t.losses.Records++
		return t
	}
	w, err := t.Window(t.clock.ns(from), t.clock.ns(to))
	if err != nil {
		t.losses.Records++
		return t
	}
	w.losses.Incomplete = 0 // the program went on, and was to: the part is whole
	return w
}

// Attributes of a window, [AttrFrom] and another one: where it is in the whole trace, in ns.
const (
	AttrFrom = "cut_from_ns"
	attrTo   = "cut_to_ns"
)

// notInWindow are attributes that a window has values of its own for, or none.
var notInWindow = []string{AttrFrom, attrTo, "gomaxprocs", "ring"}

// view is the part from a checkpoint up to a time in ticks; 0 is the trace's end.
func (t *Trace) view(start *checkpoint, until uint64) *Trace {
	w := *t
	w.file, w.index = nil, nil
	w.clock.start(start.ticks)
	if w.wall = t.wall - t.clock.ns(start.ticks); until != 0 {
		w.extent.until, w.extent.part, w.wall = until, true, w.clock.ns(until)
	}
	w.Ran = w.wall
	if w.Began > 0 {
		w.Began += int64(t.clock.ns(start.ticks))
	}
	w.Attrs = append([]Attr{{AttrFrom, int64(t.clock.ns(start.ticks))},
		{attrTo, int64(t.clock.ns(start.ticks) + w.wall)}},
		slices.DeleteFunc(slices.Clone(t.Attrs), func(a Attr) bool { return slices.Contains(notInWindow, a.Key) })...)
	if start.procs > 0 {
		w.Attrs = append(w.Attrs, Attr{"gomaxprocs", start.procs})
	}
	w.Points = slices.Clone(t.Points)
	for i := range w.Points {
		w.Points[i].Hits, w.Points[i].Traced, w.Points[i].Reduced, w.Points[i].Times = 0, 0, 0, nil
		w.Points[i].Plain, w.Points[i].Bursts, w.Points[i].Uncounted = 0, nil, false
	}
	w.Levels, w.Extensions, w.called, w.Periods = nil, nil, nil, Periods{}
	for _, c := range t.Levels {
		if c.Time -= t.clock.ns(start.ticks); c.Time > 0 && c.Time <= w.wall {
			w.Levels = append(w.Levels, c)
		}
	}
	w.Metrics = nil
	for _, m := range t.Metrics {
		if m.Time -= t.clock.ns(start.ticks); m.Time >= 0 && m.Time <= w.wall {
			w.Metrics = append(w.Metrics, m)
		}
	}
	w.Given = map[ThreadID][]Given{}
	for id, list := range t.Given {
		for _, g := range list {
			g.Time -= t.clock.ns(start.ticks)
			w.Given[id] = append(w.Given[id], g)
		}
	}
	w.throttlings = nil
	for _, r := range t.throttlings {
		r.time -= t.clock.ns(start.ticks)
		w.throttlings = append(w.throttlings, r)
	}
	w.Sources = map[string]OSSource{}
	for name, s := range t.Sources {
		s.From, s.Time = s.From-t.clock.ns(start.ticks), s.Time-t.clock.ns(start.ticks)
		w.Sources[name] = s
	}
	w.Watched = slices.Clone(t.Watched)
	for i := range w.Watched {
		w.Watched[i].From -= t.clock.ns(start.ticks)
		w.Watched[i].Until -= t.clock.ns(start.ticks)
	}
	w.HasCounts, w.Callees, w.Threads, w.Limits = false, nil, nil, nil
	w.Usage, w.Memory, w.Flush, w.Throttled, w.Steal, w.Pressure = Usage{}, Memory{}, Flush{}, 0, -1, -1
	w.End = End{true, "cut", 0}
	w.snapshots = start.states
	w.blocks, w.Blocks = map[uint32][]block{}, 0
	for id, bs := range t.blocks {
		if bs = t.behind(bs, start.ticks, start.held[id]); len(bs) > 0 {
			if w.extent.until != 0 {
				bs = bs[:min(len(bs), blocksUpTo(bs, w.extent.until)+1)] // with one later one
			}
			w.blocks[id] = bs
			w.Blocks += len(bs)
		}
	}
	return &w
}

// blocksUpTo is the number of a thread's blocks that begin no later than ticks.
func blocksUpTo(bs []block, ticks uint64) int {
	return sort.Search(len(bs), func(i int) bool { return bs[i].ticks > ticks })
}

// behind returns a thread's buffers from its first entry that is later than ticks, or that is at
// offset held. The first buffer begins there, with the context left by the entries before it.
func (t *Trace) behind(bs []block, ticks uint64, held int64) []block {
	first := slices.IndexFunc(bs, func(b block) bool { return held >= b.Off && held < b.Off+b.Len })
	if held == 0 {
		first = blocksUpTo(bs, ticks) - 1 // the last that begins so early may end later
	}
	cur := newCursor(t, bs[max(first, 0):], new(Losses))
	var head blockHead
	for cur.next() {
		head.follow(cur)
		at := cur.block.Off + int64(cur.pos)
		if at == held || held == 0 && cur.time > ticks {
			b := cur.block
			b.Blob = sddf.Blob{Off: at, Len: int64(len(cur.buf) - cur.pos)} // its checksum was that of all
			b.ticks, b.g, b.p = cur.time-cur.word>>32, head.g, head.p
			return append([]block{b}, cur.blocks...)
		}
		head.apply(cur)
	}
	return nil
}

// blockHead is the data of a buffer's head: the goroutine that runs on the thread, and the
// processor.
type blockHead struct {
	tid  uint32
	g    uint64
	p    int32
	seen bool
}

// follow takes over the head of a buffer of the file.
func (h *blockHead) follow(c *cursor) {
	if c.fresh {
		if !h.seen || c.lost || h.tid != c.block.tid {
			h.g, h.p = c.block.g, c.block.p
		}
		h.seen, h.tid = true, c.block.tid
		c.fresh, c.lost = false, false
	}
}

// apply updates the running goroutine and the processor after an entry.
func (h *blockHead) apply(c *cursor) {
	arg := int32(c.word & 0xffffff)
	switch c.word >> 24 & 0xff {
	case spec.EvGoStart, spec.EvGoSwitch, spec.EvGoroutine, spec.EvGoCreateSyscall:
		h.g = c.arg(1) & (1<<spec.GoBits - 1)
	case spec.EvGoPark, spec.EvGoWait, spec.EvGoStop, spec.EvGoEnd, spec.EvSyscallEndNoP, spec.EvGoEndSyscall:
		h.g = 0
	case spec.EvProcStart:
		h.p = arg
	case spec.EvProcStop:
		h.p = -1
	}
}

// Select calls f with the events between two times, like [Trace.Events], at their times in the
// whole trace. If want is not nil, only events at points for which want is true are passed on,
// and parts of the trace without such events, according to an index, are not read.
func (t *Trace) Select(from, to Time, want func(PointID) bool, f func([]Event) error) error {
	for _, part := range t.parts(from, to, want) {
		w, err := t.Window(part[0], part[1])
		if err != nil {
			return err
		}
		s := &selection{shift: Time(w.Int(AttrFrom)), want: want}
		_, err = w.Events(func(batch []Event) error {
			if s.take(batch); len(s.list) == 0 {
				return nil
			}
			return f(s.list)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// selection passes on some events of a window.
type selection struct {
	shift Time
	want  func(PointID) bool
	list  []Event
	trips Event // of the loop that is left next
}

func (s *selection) take(batch []Event) {
	s.list = s.list[:0]
	for i := range batch {
		e := batch[i]
		before := e.Time == 0 && s.shift > 0 // states at the beginning
		e.Time += s.shift
		switch {
		case s.want == nil && !before:
			s.list = append(s.list, e)
		case before || !e.AtPoint():
			if e.Kind == Trips {
				s.trips = e
			}
		case s.want(e.Point()):
			if s.trips.Kind == Trips && s.trips.G == e.G && e.Kind == Exit {
				s.list = append(s.list, s.trips)
			}
			s.list = append(s.list, e)
			fallthrough
		default:
			s.trips.Kind = 0
		}
	}
}
