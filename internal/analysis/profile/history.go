package profile

import (
	"sort"

	"qinst.dev/internal/trace"
)

// history answers how much processor time a goroutine had used at a time in the past. It keeps
// few marks, sparser with age, and interpolates between them.
type history struct{ marks []mark }

type mark struct {
	at   trace.Time
	busy int64
}

const (
	mostMarks   = 64
	recentMarks = 16 // the most recent marks, which are all kept
)

// note records the processor time used up to a time. Between two notes the goroutine must have
// been busy all the time, or not at all.
func (h *history) note(at trace.Time, busy int64) {
	if n := len(h.marks); n > 0 && h.marks[n-1].at == at {
		h.marks[n-1].busy = busy
		return
	}
	if len(h.marks) == mostMarks {
		old := mostMarks - recentMarks
		for i := range old / 2 {
			h.marks[i] = h.marks[2*i]
		}
		h.marks = append(h.marks[:old/2], h.marks[old:]...)
	}
	h.marks = append(h.marks, mark{at, busy})
}

// since returns the processor time used between at and now.
func (h *history) since(at, now trace.Time, busy int64) int64 {
	i := sort.Search(len(h.marks), func(i int) bool { return h.marks[i].at > at })
	if i == 0 {
		return busy // it did not exist yet
	}
	from, to := h.marks[i-1], mark{now, busy}
	if i < len(h.marks) {
		to = h.marks[i]
	}
	if to.at == from.at {
		return busy - from.busy
	}
	return busy - from.busy - int64(float64(to.busy-from.busy)*float64(at-from.at)/float64(to.at-from.at))
}
