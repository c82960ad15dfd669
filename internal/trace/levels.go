package trace

import (
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// rawLevels are a file's records about points below trace, in ticks.
type rawLevels struct {
	changes []rawChange
	times   sddf.Blob // the last; of no length if there is none
	lengths map[uint64]sddf.Blob
}

type rawChange struct {
	ticks uint64
	LevelChange
}

// level processes a record about levels.
func (ix *indexer) level(r *row) {
	l := &ix.levels
	switch r.Record.Tag {
	case spec.TagLevel:
		c := rawChange{r.u("ticks"), LevelChange{Point: PointID(r.u("probe")), Old: Level(r.u("old")),
			New: Level(r.u("new")), Rate: get[float64](r, "rate"), Reason: r.s("reason")}}
		if r.bad = r.bad || c.Old >= numLevels || c.New >= numLevels; !r.bad {
			l.changes = append(l.changes, c)
		}
	case spec.TagTimes:
		if b := get[sddf.Blob](r, "times"); !r.bad {
			l.times = b
		}
	case spec.TagHistogram:
		if b, p := get[sddf.Blob](r, "buckets"), r.u("probe"); !r.bad {
			if l.lengths == nil {
				l.lengths = map[uint64]sddf.Blob{}
			}
			l.lengths[p] = b
		}
	}
}

// extension processes a record about an extension.
func (ix *indexer) extension(r *row) {
	e := Extension{r.s("name"), r.u("seen"), r.u("dropped"), r.u("emitted"), int64(r.u("took")), r.s("failed")}
	if r.bad {
		return
	}
	for i := range ix.t.Extensions {
		if ix.t.Extensions[i].Name == e.Name {
			ix.t.Extensions[i] = e
			return
		}
	}
	if len(ix.t.Extensions) == maxFew {
		r.bad = true
		return
	}
	ix.t.Extensions = append(ix.t.Extensions, e)
}

// finish resolves it. It must be called after the clock is complete.
func (l *rawLevels) finish(t *Trace) {
	for _, c := range l.changes {
		if int(c.Point) >= len(t.Points) || c.Point < 0 {
			t.losses.UnknownPoint++
			continue
		}
		c.Time = t.clock.ns(c.ticks)
		t.Levels = append(t.Levels, c.LevelChange)
		t.Points[c.Point].Off = t.Points[c.Point].Off || c.New == LevelOff
	}
	for i := range t.Points {
		t.Points[i].Off = t.Points[i].Off || t.Points[t.Points[i].Representative].Off
	}
	slices.SortStableFunc(t.Levels, func(a, b LevelChange) int { return int(max(-1, min(1, a.Time-b.Time))) })
	t.entries(&spec.Times, l.times, func(v []uint64) {
		if p := v[0]; v[1] > 0 && p < uint64(len(t.Points)) {
			t.Points[p].Times = &Times{N: v[1], Took: t.span(v[2]), Least: t.span(v[3]), Most: t.span(v[4]),
				Lengths: l.histogram(t, p)}
		}
	})
}

func (l *rawLevels) histogram(t *Trace, point uint64) (list []Length) {
	t.entries(&spec.Buckets, l.lengths[point], func(v []uint64) {
		if v[0] < 64 {
			list = append(list, Length{Most: t.span(1<<v[0] - 1), N: v[1]})
		}
	})
	return list
}

// entries calls f for each entry of a packed block. A block that does not belong to a record has
// none.
func (t *Trace) entries(layout *spec.Layout, b sddf.Blob, f func([]uint64)) {
	if b.Len == 0 {
		return
	}
	buf, err := t.reader.ReadBlob(nil, b)
	if err == nil {
		err = sddf.Entries(layout, buf, 0, func(e *sddf.Entry) error { f(e.Values); return nil })
	}
	if err != nil {
		t.losses.Records++
	}
}

// span converts a duration in ticks to ns.
func (t *Trace) span(ticks uint64) int64 {
	p := t.clock.points
	if len(p) < 2 {
		return int64(ticks)
	}
	first, last := p[0], p[len(p)-1]
	return int64(float64(ticks) / float64(last.ticks-first.ticks) * float64(last.mono-first.mono))
}
