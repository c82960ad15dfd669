package extensions

import "qinst.dev/sddf/spec"

// Calls puts entries and exits together. The zero value is ready.
type Calls struct {
	// Loops are calls, too, if this is set; else their time is their procedures'.
	Loops bool
	// Unmatched is the number of exits without an entry, and of calls that a gap in the
	// records made uncertain.
	Unmatched uint64

	stacks map[uint64]*stack
	free   []*stack
	loop   []byte // by point: 0 not known, 1 no, 2 yes
	call   Call
	in     *stack // of the call passed to f
}

// Call is a call of a procedure, or a run of a loop, that has ended. Times are in ticks.
type Call struct {
	Goroutine  uint64
	Point      uint32
	Parent     uint32 // in which it was made; NoPoint if in none
	Start, End uint64
	Below      uint64 // time in calls that it made
	Depth      int    // calls that it was in
	Recursive  bool   // one of them was of Point
	At         int    // of the event in the batch that ended it
	Path       uint64 // hash of the calls that it was in, and itself
}

// NoPoint is no point.
const NoPoint = 1<<32 - 1

// Self is the time that was not in calls that it made.
func (c *Call) Self() uint64 { return c.End - c.Start - c.Below }

type frame struct {
	point        uint32
	hidden       bool // a loop that is not reported: its time is the procedure's
	start, below uint64
	path         uint64
}

// stack is the open calls of a goroutine.
type stack struct {
	open   []frame
	hidden int // of them
	// some counts the open calls by a few bits of their points. If the count is 0 the point is
	// not open, and the search can be skipped.
	some [64]uint16
}

// Walk calls f for each call that ends in the batch.
func (c *Calls) Walk(b *Batch, f func(*Call)) {
	var s *stack
	for i := range b.Events {
		e := &b.Events[i]
		switch e.Kind {
		case Enter:
			if s == nil {
				s = c.stack(b.Goroutine)
			}
			hidden := !c.Loops && c.isLoop(b.Out, e.Point)
			path := uint64(0)
			if n := len(s.open); n > 0 {
				path = s.open[n-1].path
			}
			if !hidden {
				path = (path ^ uint64(e.Point+1)) * 0x9E3779B97F4A7C15
				path ^= path >> 29
			}
			s.open = append(s.open, frame{e.Point, hidden, e.Time, 0, path})
			s.some[e.Point%64]++
			if hidden {
				s.hidden++
			}
		case Exit, Leave:
			if s == nil {
				s = c.stack(b.Goroutine)
			}
			c.exit(s, b, i, f)
		case Unwind, End:
			if s == nil {
				if s = c.stacks[b.Goroutine]; s == nil {
					continue
				}
			}
			c.unwind(s, b, i, f)
			if e.Kind == End {
				delete(c.stacks, b.Goroutine)
				c.free = append(c.free, s)
				s = nil
			}
		}
	}
}

func (c *Calls) isLoop(out *Out, point uint32) bool {
	if int(point) >= len(c.loop) {
		c.loop = append(c.loop, make([]byte, max(64, int(point)+1-len(c.loop)))...)
	}
	if c.loop[point] == 0 {
		c.loop[point] = 1
		if out.Point(point).Kind == spec.PointLoop {
			c.loop[point] = 2
		}
	}
	return c.loop[point] == 2
}

func (c *Calls) stack(g uint64) *stack {
	s := c.stacks[g]
	if s == nil {
		if c.stacks == nil {
			c.stacks = map[uint64]*stack{}
		}
		s = &stack{}
		if n := len(c.free); n > 0 {
			s, c.free = c.free[n-1], c.free[:n-1]
		}
		c.stacks[g] = s
	}
	return s
}

// exit ends the last call of the event's point, and the calls within it that are still open.
func (c *Calls) exit(s *stack, b *Batch, i int, f func(*Call)) {
	point := b.Events[i].Point
	if s.some[point%64] == 0 {
		c.Unmatched++
		return
	}
	d := len(s.open) - 1
	for d >= 0 && s.open[d].point != point {
		d--
	}
	if d < 0 {
		c.Unmatched++
		return
	}
	for len(s.open) > d {
		c.end(s, b, i, f)
	}
}

func (c *Calls) unwind(s *stack, b *Batch, i int, f func(*Call)) {
	depth := uint64(0)
	if b.Events[i].Kind == Unwind {
		depth = b.Events[i].Arg
	}
	for uint64(len(s.open)) > depth {
		c.end(s, b, i, f)
	}
}

// end ends the last call.
func (c *Calls) end(s *stack, b *Batch, i int, f func(*Call)) {
	n := len(s.open) - 1
	fr := s.open[n]
	s.open = s.open[:n]
	s.some[fr.point%64]--
	if fr.hidden {
		s.hidden--
		if n > 0 {
			s.open[n-1].below += fr.below
		}
		return
	}
	call := &c.call
	*call = Call{Goroutine: b.Goroutine, Point: fr.point, Parent: NoPoint, Start: fr.start, End: b.Events[i].Time,
		Below: fr.below, Depth: n - s.hidden, At: i, Path: fr.path}
	if n > 0 {
		s.open[n-1].below += call.End - call.Start
	}
	for k := n - 1; k >= 0; k-- {
		if !s.open[k].hidden {
			call.Parent = s.open[k].point
			break
		}
	}
	if s.some[fr.point%64] != 0 {
		for k := n - 1; k >= 0 && !call.Recursive; k-- {
			call.Recursive = s.open[k].point == fr.point
		}
	}
	c.in = s
	f(call)
}

// Stack appends the points of the calls around the one passed to f, the outermost first, and its
// own.
func (c *Calls) Stack(to []uint32) []uint32 {
	for _, fr := range c.in.open {
		if !fr.hidden {
			to = append(to, fr.point)
		}
	}
	return append(to, c.call.Point)
}
