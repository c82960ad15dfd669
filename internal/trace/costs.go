package trace

import (
	"math"

	"qinst.dev/sddf/spec"
)

// rawCosts are the times, in ticks, of a file's records about the cost of the run and of its
// observation.
type rawCosts struct {
	flushes []struct{ from, to uint64 }
	took    map[string]rawTook
	usageAt uint64
	limits  []uint64
	metrics []uint64
}

// rawTook is what events of one kind took that timed themselves, in ticks.
type rawTook struct {
	n, sum  uint64
	squares float64
}

// row processes a record.
func (c *rawCosts) row(t *Trace, r *row) {
	switch r.Record.Tag {
	case spec.TagFlush:
		from, to, bytes, cpu := r.u("from"), r.u("to"), r.u("bytes"), r.u("cpu")
		if !r.bad {
			t.Flush.Runs++
			t.Flush.Bytes += int64(bytes)
			t.Flush.CPU += int64(cpu)
			c.flushes = append(c.flushes, struct{ from, to uint64 }{from, to})
		}
	case spec.TagProcess:
		c.usageAt = r.u("ticks")
		t.Usage = Usage{!r.bad, 0, int64(r.u("user")), int64(r.u("system")), int64(r.u("maxrss")), -1, 0, 0, 0, 0, 0}
		if r.has("collector") { // files of older programs do not have it
			t.Usage.Collector = int64(r.u("collector"))
		}
		if r.has("looks") { // likewise
			t.Usage.Looks = int64(r.u("looks"))
		}
		if r.has("ended") { // likewise
			t.Usage.Ended, t.Usage.Faults = int64(r.u("ended")), int64(r.u("faults"))
		}
		if r.has("calls") { // likewise
			t.Usage.Calls, t.Usage.Called = int64(r.u("calls")), int64(r.u("called")) // in ticks until all is read
		}
	case spec.TagMemory:
		t.Memory = Memory{!r.bad, int64(r.u("limit")), int64(r.u("events")), int64(r.u("counts")), int64(r.u("stacks")),
			int64(r.u("tables")),
			r.u("pageless"), r.u("stackless"), r.u("unlisted"), 0, 0}
		if r.has("unowned") { // files of older programs have no ledgers
			t.Memory.Unowned, t.Memory.Ringless = r.u("unowned"), r.u("ringless")
		}
	case spec.TagPrice:
		kind, n, took, squares := r.s("kind"), r.u("n"), r.u("took"), get[float64](r, "squares")
		if r.bad = r.bad || n == 0 || len(c.took) >= maxFew || !(squares >= 0); !r.bad {
			c.took[kind] = rawTook{n, took, squares}
		}
	case spec.TagMetrics:
		ticks, m := r.u("ticks"), Metric{0, int64(r.u("heap")), int64(r.u("goal")), int64(r.u("cycles")), 0}
		if r.has("objects") { // files of older programs do not have it
			m.Objects = int64(r.u("objects"))
		}
		if !r.bad {
			c.metrics = append(c.metrics, ticks)
			t.Metrics = append(t.Metrics, m)
		}
	case spec.TagLimit:
		c.limits = append(c.limits, r.u("ticks"))
		t.Limits = append(t.Limits, Limit{0, int64(r.u("bytes")), r.s("reason")})
	}
}

// finish converts the times. It must be called after the clock is complete.
func (c *rawCosts) finish(t *Trace) {
	t.Usage.Time = t.clock.ns(c.usageAt)
	t.Usage.Called = int64(float64(t.Usage.Called) * t.clock.tick())
	for i, ticks := range c.limits {
		t.Limits[i].Time = t.clock.ns(ticks)
	}
	for i, ticks := range c.metrics {
		t.Metrics[i].Time = t.clock.ns(ticks)
	}
	for kind, x := range c.took {
		tick := t.clock.tick()
		mean := float64(x.sum) / float64(x.n)
		t.Took[kind] = Took{x.n, mean * tick, math.Sqrt(max(0, x.squares/float64(x.n)-mean*mean)) * tick}
	}
	for _, f := range c.flushes {
		t.Flush.Wall += int64(max(0, t.clock.ns(f.to)-t.clock.ns(f.from)))
	}
}
