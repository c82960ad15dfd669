package view

import (
	"slices"

	"qinst.dev/internal/trace"
)

// A long run has more slices than there is memory for. Those that are too narrow to be seen on a
// picture of the whole run are then kept together with the next ones, as they would be drawn.

// finest and coarsest are the parts of a run that are kept apart, at first and at last.
const finest, coarsest = 1 << 18, 1 << 8

// capacity is how much is kept.
type capacity struct {
	kept int        // slices and numbers
	most int        // of them
	full bool       // compacting does not help any more
	left int64      // slices for which there was no room
	fine trace.Time // shorter slices may be kept together with the next ones; 0: all are apart
}

// room reports whether there is room for one more slice or number. New ones are compacted as the
// others were, and if that leaves little room all of them once more.
func (ts *tracks) room() bool {
	if ts.kept < ts.most {
		ts.kept++
		return true
	}
	if ts.full {
		return false
	}
	ts.compact(max(ts.fine, 1))
	for ts.kept > ts.most/2 && ts.fine <= ts.end/coarsest {
		ts.compact(max(2*ts.fine, ts.end/finest))
	}
	ts.full = ts.kept > ts.most/2
	return ts.room()
}

// compact keeps slices together that are shorter than a time, and together too. Their number and
// their time in all stay as they are. Of numbers the largest and the last one stay.
func (ts *tracks) compact(fine trace.Time) {
	ts.fine, ts.kept = fine, 0
	for _, t := range ts.list {
		for depth := range t.depths {
			t.depths[depth] = compacted(t.depths[depth], fine)
			ts.kept += len(t.depths[depth])
		}
		t.values = largest(t.values, fine)
		ts.kept += len(t.values)
	}
}

func compacted(all []slice, fine trace.Time) []slice {
	list := all[:0]
	longest := trace.Time(0) // in the last one
	for _, s := range all {
		n := len(list)
		if n == 0 || s.to-list[n-1].from >= fine {
			list, longest = append(list, s), s.ns
			continue
		}
		last := &list[n-1]
		if s.ns > longest {
			longest, last.name, last.kind = s.ns, s.name, s.kind
		}
		last.to, last.ns, last.count = s.to, last.ns+s.ns, last.count+s.count
	}
	return fitted(list)
}

// largest has, of numbers that follow each other within a time, the largest one, and the last one,
// so that it is right after them.
func largest(all []value, fine trace.Time) []value {
	list := all[:0]
	for i := 0; i < len(all); {
		most, last := all[i], all[i]
		for i++; i < len(all) && all[i].at-most.at < fine; i++ {
			last = all[i]
			most.n = max(most.n, last.n)
		}
		if list = append(list, most); last.n != most.n {
			list = append(list, last)
		}
	}
	return fitted(list)
}

// fitted is a list without room for more than it has, if that is much.
func fitted[T any](list []T) []T {
	if cap(list) > 2*len(list)+16 {
		return slices.Clone(list)
	}
	return list
}

// fewSlices need no level of their own.
const fewSlices = 1 << 12

// level are the slices of a depth for windows of much of the run, in which slices shorter than wide
// are not seen apart. Without it a window of the whole run takes time for all of its slices.
func (t *track) level(depth int, wide trace.Time) []slice {
	if len(t.depths[depth]) < fewSlices {
		return t.depths[depth]
	}
	for len(t.wide) <= depth {
		t.wide = append(t.wide, nil)
	}
	if t.wide[depth] == nil {
		t.wide[depth] = compacted(slices.Clone(t.depths[depth]), wide)
	}
	return t.wide[depth]
}
