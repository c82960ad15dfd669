package view

import (
	"slices"
	"sort"
	"sync"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// Of a long run the tracks have slices that are several short ones, see [tracks.compact]. A part of
// the run that is looked at closely is therefore read again, for these. Long slices, and those that
// are open at the ends of the part, are in the tracks. What is not found again stays together: it
// is the lock that a goroutine has after it waited for a condition, if that wait began before the
// part.

// markEvery is how many calls are between two marks of where the reading was, and mostExact how
// many of a part that is read again: it takes half a second.
const markEvery, mostExact = 1 << 14, 1 << 20

// exact reads parts of a trace again.
type exact struct {
	mu   sync.Mutex
	t    *trace.Trace
	last *closeup
}

// closeup is a part of a run with all of its slices.
type closeup struct {
	from, to trace.Time
	begins   trace.Time // where its tracks' time is 0
	tracks   *tracks
	of       map[lanes.ID]lanes.ID // its lanes, by those of the whole run
}

// callsIn is about how many calls the tracks had between two times.
func (ts *tracks) callsIn(from, to trace.Time) int {
	after := func(at trace.Time) int {
		return sort.Search(len(ts.marks), func(i int) bool { return ts.marks[i] > at })
	}
	return (after(to) - after(from) + 1) * markEvery
}

// closeTo returns the part of the run between two times with all its slices; nil: the tracks have
// them, or they are too many, or the trace is still being read.
func (v *View) closeTo(from, to trace.Time) (*closeup, error) {
	select {
	case <-v.done:
	default:
		return nil, nil
	}
	e, ts := &v.exact, v.tracks
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.last; c != nil && c.from <= from && to <= c.to {
		return c, nil
	}
	if ts.fine == 0 || ts.callsIn(from, to) > mostExact {
		return nil, nil
	}
	c := &closeup{from: from, to: to}
	if wide := to - from; ts.callsIn(from-wide, to+wide) <= mostExact/8 { // so that it can be moved
		c.from, c.to = max(0, from-wide), min(to+wide, ts.end)
	}
	if err := c.read(e.t, ts); err != nil {
		return nil, err
	}
	e.last = c
	return c, nil
}

// read reads the part, and as much around it as a short slice may last.
func (c *closeup) read(t *trace.Trace, ts *tracks) error {
	w, err := t.Window(max(0, c.from-ts.fine), min(c.to+ts.fine, ts.end))
	if err != nil {
		return err
	}
	c.begins, c.tracks = trace.Time(w.Int(trace.AttrFrom)), newTracks(w.Wall())
	c.tracks.mu.Lock()
	defer c.tracks.mu.Unlock()
	form := knowing{c.tracks, map[trace.Address]bool{}}
	for _, t := range ts.list {
		form.locks[t.lane.Object] = t.lane.Object != 0
	}
	if _, _, err := lanes.Show(w, form); err != nil {
		return err
	}
	c.match(ts)
	return nil
}

// knowing are tracks for a part of a run that know the locks of the whole.
type knowing struct {
	*tracks
	locks map[trace.Address]bool
}

// IsLock reports whether an object is a lock.
func (k knowing) IsLock(object trace.Address) bool { return k.locks[object] }

// match finds the lanes of the whole run. Numbers of locks depend on where reading began, so they
// are found by their addresses: a lane is that of the last lock there.
func (c *closeup) match(ts *tracks) {
	type place struct {
		group  lanes.Group
		object trace.Address
		holder lanes.ID
	}
	of := func(l lanes.Lane) place { return place{l.Group, l.Object, l.Holder()} }
	here := map[place]lanes.ID{}
	for _, t := range c.tracks.list {
		if t.lane.Object != 0 {
			here[of(t.lane)] = t.lane.ID
		}
	}
	c.of = map[lanes.ID]lanes.ID{}
	for _, t := range slices.Backward(ts.list) {
		if id, ok := here[of(t.lane)]; ok && t.since <= c.to {
			c.of[t.lane.ID] = id
			delete(here, of(t.lane))
		}
	}
}

// track is a track of the whole run, with all its slices in this part.
func (c *closeup) track(ts *tracks, t *track) *track {
	id := t.lane.ID
	if t.lane.Object != 0 {
		id = c.of[id]
	}
	near := c.tracks.by[id]
	if near == nil {
		near = &track{}
	}
	out := &track{lane: t.lane}
	for depth := range max(len(t.depths), len(near.depths)) {
		out.depths = append(out.depths, c.apart(ts, t.at(depth), near.at(depth)))
	}
	if out.values = t.values; near.lane.Object == 0 {
		return out
	}
	i := sort.Search(len(t.values), func(i int) bool { return t.values[i].at > c.begins })
	out.values = slices.Clone(t.values[:i])
	for _, v := range near.values {
		out.values = append(out.values, value{v.at + c.begins, v.n})
	}
	return out
}

func (t *track) at(depth int) []slice {
	if depth >= len(t.depths) {
		return nil
	}
	return t.depths[depth]
}

// apart are the slices of a track of the whole run, with those of the part in place of each that is
// several, if they are as many.
func (c *closeup) apart(ts *tracks, far, near []slice) (list []slice) {
	for s := range within(far, c.from, c.to) {
		first := sort.Search(len(near), func(i int) bool { return near[i].from+c.begins >= s.from })
		last := first
		for last < len(near) && near[last].to+c.begins <= s.to {
			last++
		}
		if s.count == 1 || last-first != int(s.count) {
			list = append(list, *s)
			continue
		}
		for _, n := range near[first:last] {
			n.from, n.to, n.name = n.from+c.begins, n.to+c.begins, ts.name(c.tracks.names[n.name])
			list = append(list, n)
		}
	}
	return list
}

// wakes are those of the part.
func (c *closeup) wakes(from, to trace.Time, shown map[lanes.ID]bool) (list [][3]int64, more int) {
	list, more = c.tracks.wakesBetween(from-c.begins, to-c.begins, shown)
	for i := range list {
		list[i][0] += int64(c.begins)
	}
	return list, more
}
