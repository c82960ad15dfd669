package profile

import (
	"sort"

	"qinst.dev/trace"
)

// history tells how much processor time a goroutine had used at a time in the past. It
// keeps few marks: the older, the fewer; between two, use counts as even.
type history struct{ marks []mark }

type mark struct {
	at   trace.Time
	busy int64
}

const (
	mostMarks   = 64
	recentMarks = 16 // of these, that are all kept
)

// note takes in how much was used up to a time. Between notes the goroutine was busy all
// the time, or not at all.
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

// since is what was used from a time on, until now.
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
