package trace

import (
	"maps"
	"slices"
	"sort"
)

// noteEvery is the number of events between two checkpoints at first, and mostNoted bounds the
// weight of all of them, and with it their memory.
const noteEvery, mostNoted = 1 << 18, 1_000_000

// notes are checkpoints in memory: the index of a trace that has no file of one.
type notes struct {
	every  int // events between two
	most   int // weight
	list   []*checkpoint
	weight int  // of those in the list
	whole  bool // the trace has been read
}

// Noting returns the trace with tables of its own, whose first reading notes the states of
// goroutines now and then, so that [Trace.Window] is fast after it. If there is an index that is
// used.
func (t *Trace) Noting() *Trace { return t.noting(noteEvery, mostNoted) }

func (t *Trace) noting(every, most int) *Trace {
	own := *t
	own.Points, own.Dotted = slices.Clone(t.Points), maps.Clone(t.Dotted)
	if t.index == nil {
		own.index = &indexFile{notes: &notes{every: every, most: most}}
	}
	return &own
}

// merger is that of the trace, and notes states if this has not been done.
func (n *notes) merger(t *Trace, f func([]Event) error) *merger {
	if n.whole {
		return t.merger(f)
	}
	n.list, n.weight = nil, 0
	var follow follower
	events, next := 0, n.every
	m := t.merger(func(batch []Event) error {
		events += len(batch)
		if err := follow.follow(batch); err != nil {
			return err
		}
		return f(batch)
	})
	m.pause = func() error {
		if events+len(m.batch) < next {
			return nil
		}
		if err := m.flush(); err != nil {
			return err
		}
		c := follow.checkpoint(m, m.now)
		n.note(c)
		next = events + n.every
		return nil
	}
	return m
}

// note keeps a checkpoint. If there are too many states it forgets every second one.
func (n *notes) note(c *checkpoint) {
	n.list = append(n.list, c)
	if n.weight += c.weight(); n.weight <= n.most {
		return
	}
	few := n.list[:0]
	n.weight = 0
	for i := 1; i < len(n.list); i += 2 {
		few = append(few, n.list[i])
		n.weight += n.list[i].weight()
	}
	clear(n.list[len(few):])
	n.list, n.every = few, 2*n.every
}

// near is the last checkpoint that is not later than ticks; nil: there is none.
func (n *notes) near(ticks uint64) *checkpoint {
	i := sort.Search(len(n.list), func(i int) bool { return n.list[i].ticks > ticks })
	if i == 0 {
		return nil
	}
	return n.list[i-1]
}
