package view

import (
	"iter"
	"sort"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// where is what a goroutine does for some time.
type where struct {
	procedure uint32     // the innermost one
	kind      lanes.Kind // of the innermost slice
	subject   bool       // it is within a slice that was looked for
}

// walk yields what a goroutine does between two times, in pieces that follow each other. is, if it
// is not nil, looks for slices.
func (t *track) walk(from, to trace.Time, is func(*slice) bool, yield func(from, to trace.Time, at where)) {
	t.walkAt(0, from, to, where{procedure: t.start}, is, yield)
}

func (t *track) walkAt(depth int, from, to trace.Time, at where, is func(*slice) bool,
	yield func(from, to trace.Time, at where)) {
	if depth < len(t.depths) {
		for s := range within(t.depths[depth], from, to) {
			begin, end := max(s.from, from), min(s.to, to)
			if from < begin {
				yield(from, begin, at)
			}
			t.walkAt(depth+1, begin, end, at.in(s, is), is, yield)
			from = end
		}
	}
	if from < to {
		yield(from, to, at)
	}
}

// in is where a goroutine is in a slice.
func (w where) in(s *slice, is func(*slice) bool) where {
	if w.kind = s.kind; s.kind == lanes.Procedure {
		w.procedure = s.name
	}
	w.subject = w.subject || is != nil && is(s)
	return w
}

// within are the slices of one depth that last for some time between two others.
func within(all []slice, from, to trace.Time) iter.Seq[*slice] {
	return func(yield func(*slice) bool) {
		i := sort.Search(len(all), func(i int) bool { return all[i].to > from })
		for ; i < len(all) && all[i].from < to; i++ {
			if all[i].from < all[i].to && !yield(&all[i]) {
				return
			}
		}
	}
}
