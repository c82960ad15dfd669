package trace

import (
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// rawCounts are a file's last totals of points. A blob of no length is not there.
type rawCounts struct {
	last    sddf.Blob
	earlier sddf.Blob // the same, ahead of all events
	reduced sddf.Blob
	bursts  sddf.Blob
	ratios  sddf.Blob
}

// row processes a record.
func (c *rawCounts) row(t *Trace, r *row) {
	switch r.Record.Tag {
	case spec.TagCounts:
		if b := get[sddf.Blob](r, "counts"); !r.bad {
			c.last, t.HasCounts = b, true
			if t.Kept && len(t.blocks) == 0 {
				c.earlier, t.counted = b, true
			}
		}
	case spec.TagReduced:
		if b := get[sddf.Blob](r, "reduced"); !r.bad {
			c.reduced = b
		}
	case spec.TagBursts:
		if b := get[sddf.Blob](r, "found"); !r.bad {
			c.bursts = b
		}
	case spec.TagRatios:
		if b := get[sddf.Blob](r, "found"); !r.bad {
			c.ratios = b
		}
	}
}

// eachCount calls f with the entries of a "counts" record.
func (t *Trace) eachCount(counts sddf.Blob, f func(p *Point, hits, traced uint64)) {
	buf, err := t.reader.ReadBlob(nil, counts)
	if err == nil {
		err = sddf.Entries(&spec.Counts, buf, 0, func(e *sddf.Entry) error {
			if probe := e.Values[0]; probe < uint64(len(t.Points)) {
				f(&t.Points[probe], e.Values[1], e.Values[2])
			} else {
				t.losses.UnknownPoint++
			}
			return nil
		})
	}
	if err != nil {
		t.losses.Records++
	}
}

// readRest takes what bursts found, and the events that reduction took out.
func (c *rawCounts) readRest(t *Trace) {
	c.readBursts(t)
	c.readRatios(t)
	t.entries(&spec.Reduced, c.reduced, func(v []uint64) {
		if v[0] < uint64(len(t.Points)) {
			t.Points[v[0]].Reduced = v[1]
		}
	})
}

// readCounts takes the exact totals of the last "counts" record. Where only the last events are
// kept these are of the whole run, and the record ahead of the events reports how much of them was
// before.
func (ix *indexer) readCounts() {
	t := ix.t
	if !t.HasCounts {
		return
	}
	t.eachCount(ix.counts.last, func(p *Point, hits, traced uint64) { p.Hits, p.Traced = hits, traced })
	if t.counted {
		t.eachCount(ix.counts.earlier, func(p *Point, hits, traced uint64) {
			p.Hits, p.Traced = p.Hits-min(hits, p.Hits), p.Traced-min(traced, p.Traced)
		})
	}
	ix.sumCalls()
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointCall || p.Kind == spec.PointGo {
			p.Hits = t.Points[p.Representative].Hits
		}
	}
}
