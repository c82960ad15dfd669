package sim

import (
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// instant is a time and by how much it moves.
type instant struct{ at, d float64 }

func (a instant) before(b instant) bool { return a.at < b.at || a.at == b.at && a.d < b.d }

// entry is a goroutine whose work or delay ends at a time, or a processor that looks for work then.
type entry struct {
	at  instant
	len float64
	who actor
}

// actor is a goroutine, or a processor, which comes before all goroutines at the same time.
type actor int32

func ofProcessor(i int32) actor { return actor(-1 - i) }

func (a actor) isProcessor() bool { return a < 0 }
func (a actor) processor() int32  { return int32(-1 - a) }
func (a actor) g() steps.G        { return steps.G(a) }

// queue is a heap of entries. Those that end together come in the order of their goroutines.
type queue []entry

func (q queue) first() *entry {
	if len(q) == 0 {
		return nil
	}
	return &q[0]
}

func (q queue) less(i, j int) bool {
	a, b := &q[i], &q[j]
	return a.at.before(b.at) || a.at == b.at && a.who < b.who
}

func (q *queue) push(e entry) {
	*q = append(*q, e)
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(i, up) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (q *queue) pop() entry {
	h := *q
	e, last := h[0], len(h)-1
	h[0] = h[last]
	*q = h[:last]
	q.down(0)
	return e
}

// remove takes the entry at an index out.
func (q *queue) remove(i int) entry {
	e, rest := (*q)[i], slices.Delete(slices.Clone(*q), i, i+1)
	*q = (*q)[:0]
	for _, x := range rest {
		q.push(x)
	}
	return e
}

func (q *queue) down(i int) {
	h := *q
	for {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(h); k++ {
			if h.less(k, least) {
				least = k
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
