package profile

import (
	"math"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// Cost is the processor time that the tool took from the program, in ns, by kind. Numbers are
// counted. The writer's time is measured, and where samples tell what text runs, that of probes. Other prices are from a
// loop at the program's start.
type Cost struct {
	Writer     int64 `json:"writer_ns"`
	Looks      int64 `json:"looks_ns"` // of threads that were asked where they are
	Extensions int64 `json:"extensions_ns"`
	Events     Paid  `json:"events"`
	Timed      Paid  `json:"timed"`
	Counted    Paid  `json:"counted"`  // hits that a probe counts
	InPlace    Paid  `json:"in_place"` // hits that an increment in the program's text counts
	Tests      Paid  `json:"tests"`    // entries of procedures with probes, which test what is on
	All        int64 `json:"all_ns"`
	Lo         int64 `json:"lo_ns"`
	Hi         int64 `json:"hi_ns"`
}

// Paid is a number of things and what they cost together, in ns.
type Paid struct {
	N    uint64 `json:"n"`
	Cost int64  `json:"cost_ns"`
}

// Each is the price of one, in ns.
func (p Paid) Each() float64 { return float64(p.Cost) / float64(max(1, p.N)) }

// Prices in parts of a hit that a probe counts, found by comparing processor time with plain runs
// (docs/RESULTS.md, "Bursts").
const (
	placedParts = 4  // an increment in text with probes, with the values that it displaces
	plainParts  = 10 // an increment at the entry of text without probes
	testParts   = 10
)

// A processor does some of the work of probes while it waits for something else: in a loop of
// calls nearly all of it, in programs between a fifth and six fifths. Text with probes is larger, which
// nothing counts: with everything off, programs took up to 4 % more. One that seldom enters a
// procedure with probes does not.
const (
	leastPaid = 0.2
	mostPaid  = 1.2
	mostText  = 0.04
	textTests = 20 // and at most so many times what the tests cost
)

// probed is the time in which samples found probes, in ns, and the number of these samples.
type probed struct {
	ns    int64
	found int64
}

// costOf adds up what the tool cost a run. Without prices there is the writer's time only.
func costOf(t *trace.Tables, writer, events int64, seen probed) Cost {
	c := Cost{Writer: writer, Looks: t.Usage.Looks}
	for _, e := range t.Extensions {
		c.Extensions += e.Took
	}
	n := countsOf(t)
	event, count := eventCost(t), float64(t.Int("count_cost_ps"))/1000
	c.Events.N, c.Timed.N, c.Counted.N = uint64(events)+2*n.reduced, n.timed, n.counted // entries and exits, for the most part
	c.InPlace.N, c.Tests.N = n.placed+n.plain, n.entries
	c.Events.Cost, c.Timed.Cost = int64(event*float64(c.Events.N)), int64(2*event*float64(n.timed))
	c.Counted.Cost = int64(count * float64(n.counted))
	if t.Int("sample_ns") == 0 {
		count *= pushed // what is counted in place is not pushed
	}
	c.InPlace.Cost = int64(count * (float64(n.placed)/placedParts + float64(n.plain)/plainParts))
	c.Tests.Cost = int64(count * float64(n.entries) / testParts)
	sure := c.Writer + c.Looks + c.Extensions
	calls, inLine := c.Events.Cost+c.Timed.Cost+c.Counted.Cost, c.InPlace.Cost+c.Tests.Cost
	lo, hi := leastPaid*float64(calls), mostPaid*float64(calls)
	if seen.found > 0 && calls > 0 {
		k := float64(seen.ns) / float64(calls)
		for _, p := range []*Paid{&c.Events, &c.Timed, &c.Counted} {
			p.Cost = int64(k * float64(p.Cost))
		}
		calls = seen.ns
		half := 1.96 * math.Sqrt(float64(seen.found)+1) / float64(seen.found)
		lo, hi = float64(calls)*max(0, 1-half), float64(calls)*(1+half)
	}
	c.All = sure + calls + inLine
	c.Lo, c.Hi = sure+int64(lo+leastPaid*float64(inLine)), sure+int64(hi+mostPaid*float64(inLine))
	c.Hi += min(int64(mostText*float64(t.Usage.User+t.Usage.System)), textTests*c.Tests.Cost)
	return c
}

// eventCost is the cost of one traced event, in ns, if the program measured it.
func eventCost(t *trace.Tables) float64 {
	return float64(t.Int("event_cost_ps")) / 1000
}

// numbers are what the probes of a run did without an event.
type numbers struct{ reduced, timed, counted, placed, plain, entries uint64 }

func countsOf(t *trace.Tables) (n numbers) {
	mode, _ := t.Attr("mode").(string)
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind == spec.PointFunc || p.Kind == spec.PointSite || p.Flags&(spec.FlagDerived|spec.FlagSummed) != 0 {
			continue
		}
		n.reduced += p.Reduced
		n.timed += p.Timed()
		if p.Kind == spec.PointProc && p.Flags&spec.FlagSmall == 0 {
			n.entries += p.Hits
		}
		hits := p.Hits
		if p.Kind == spec.PointProc {
			hits -= min(p.Plain, hits)
		}
		switch {
		case p.Representative != trace.PointID(i):
		case p.Kind == spec.PointSync && p.Flags&spec.FlagInLine != 0:
			n.placed += p.Degraded()
		case p.Flags&(spec.FlagInLine|spec.FlagSmall) != 0, mode == "count" && (p.Kind == spec.PointProc || p.Kind == spec.PointLoop):
			n.placed += hits
		default:
			n.counted += hits - min(p.Traced+p.Timed(), hits)
		}
		n.plain += p.Plain
	}
	return n
}

func (c *Cost) add(o *Cost) {
	for _, x := range [][2]*int64{{&c.Writer, &o.Writer}, {&c.Looks, &o.Looks}, {&c.Extensions, &o.Extensions}, {&c.All, &o.All}, {&c.Lo, &o.Lo}, {&c.Hi, &o.Hi}} {
		*x[0] += *x[1]
	}
	for _, x := range [][2]*Paid{{&c.Events, &o.Events}, {&c.Timed, &o.Timed}, {&c.Counted, &o.Counted}, {&c.InPlace, &o.InPlace}, {&c.Tests, &o.Tests}} {
		x[0].N, x[0].Cost = x[0].N+x[1].N, x[0].Cost+x[1].Cost
	}
}
