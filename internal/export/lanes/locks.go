package lanes

import (
	"fmt"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// lock is one with lanes: as many as it has holders at the same time, as readers may be, and one
// for the length of its queue.
type lock struct {
	number  ID
	name    string
	of      *replay.Object
	holders []trace.Slot // by lane; NoSlot: none
}

// mostHolders is how many of a lock's holders at the same time have lanes.
const mostHolders = 64

func (l *lock) lane(holder int) ID { return ofLock + l.number*mostHolders + ID(holder) }
func (l *lock) queue() ID          { return ofQueue + l.number }

// lockOf is the lock at an object; nil: it has no lanes.
func (s *shower) lockOf(ob *replay.Object, now trace.Time) *lock {
	if l, ok := s.locks[ob.ID]; ok {
		return l
	}
	if s.locked == mostLocks {
		s.left.Locks++
		s.locks[ob.ID] = nil
		return nil
	}
	s.locked++
	l := &lock{number: ID(s.locked), name: "lock", of: ob}
	if p := s.r.BestPoint(ob); p != trace.NoPoint {
		l.name = s.r.T.Points[p].Name
	}
	s.called[l.name]++
	if n := s.called[l.name]; n > 1 {
		l.name = fmt.Sprintf("%s (%d)", l.name, n)
	}
	s.locks[ob.ID] = l
	s.form.Lane(Lane{l.queue(), Queues, l.name + ": waiting", int64(l.number), ob.Address})
	if ob.Waiting > 0 { // since before it was first held
		s.form.Value(l.queue(), now, int64(ob.Waiting))
	}
	return l
}

// Acquire shows that a goroutine holds a lock.
func (s *shower) Acquire(_ *replay.G, ob *replay.Object, h replay.Holder, _ replay.Held, now trace.Time) {
	l, of := s.lockOf(ob, now), s.at(h.Slot)
	if l == nil || of == nil {
		return
	}
	i := slices.Index(l.holders, trace.NoSlot)
	if i < 0 {
		if i = len(l.holders); i == mostHolders {
			return
		}
		l.holders = append(l.holders, trace.NoSlot)
		s.form.Lane(Lane{l.lane(i), Locks, l.name, int64(l.number), ob.Address})
	}
	l.holders[i] = h.Slot
	s.form.Begin(l.lane(i), now, Held, of.title, 0)
}

// Release shows that a goroutine gives a lock back.
func (s *shower) Release(g *replay.G, ob *replay.Object, _ int, _ replay.Release, now trace.Time) {
	l := s.locks[ob.ID]
	if l == nil || g == nil {
		return
	}
	if i := slices.Index(l.holders, g.Slot); i >= 0 {
		l.holders[i] = trace.NoSlot
		s.form.End(l.lane(i), now)
	}
}

// Forget forgets the locks that are not in use: their numbers are used again.
func (s *shower) Forget() {
	maps.DeleteFunc(s.locks, func(_ int, l *lock) bool { return l == nil || !l.of.InUse() })
}

// queues shows that a goroutine waits for an object, if that has lanes.
func (s *shower) queues(l *goroutine, ob *replay.Object, now trace.Time) {
	if l.queued = ob; ob != nil {
		s.queue(ob, now)
	}
}

// leaves shows that it does not wait any more.
func (s *shower) leaves(l *goroutine, now trace.Time) {
	if ob := l.queued; ob != nil {
		l.queued = nil
		s.queue(ob, now)
	}
}

func (s *shower) queue(ob *replay.Object, now trace.Time) {
	l := s.locks[ob.ID]
	if l == nil && s.knows != nil && s.knows.IsLock(ob.Address) {
		l = s.lockOf(ob, now)
	}
	if l != nil {
		s.form.Value(l.queue(), now, int64(ob.Waiting))
	}
}

// end ends the slices of its holders.
func (l *lock) end(form Form, now trace.Time) {
	if l == nil {
		return
	}
	for i, g := range l.holders {
		if g != trace.NoSlot {
			form.End(l.lane(i), now)
		}
	}
}
