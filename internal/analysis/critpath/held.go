package critpath

import (
	"slices"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// If the operations on a lock are mostly counted, some recorded ones begin a hold whose end is not
// recorded: the next recorded one ends it, much later. Profiles estimate the total hold time from
// the known holds. Work beyond that was not done under the lock.

// limit makes what was done under locks no more than that.
func (b *builder) limit(held []predict.Held) {
	for i, l := range b.lines {
		if l.kind != KindSync {
			continue
		}
		at := slices.IndexFunc(held, func(h predict.Held) bool { return h.Name == b.res.Entries[i].Name })
		if at < 0 {
			continue
		}
		s := &b.sums[i]
		all, most := s.work+s.delays, float64(held[at].Most)
		if b.shared(l) { // several goroutines may read by it at once
			most *= float64(b.res.Procs)
		}
		if all <= most {
			continue
		}
		share := float64(held[at].Hold) / all
		for _, ns := range []*float64{&s.self, &s.within, &s.other, &s.tail, &s.weighted, &s.right, &s.inclusive,
			&s.work, &s.delays} {
			*ns = min(*ns*share, most)
		}
		s.most = most
	}
}

// shared reports whether several goroutines may have a lock at once.
func (b *builder) shared(l line) bool {
	return slices.ContainsFunc(b.p.Objects, func(o steps.Object) bool {
		return o.Name != trace.NoPoint && int64(b.p.NamedBy(o.Name)) == l.of && o.Shared()
	})
}
