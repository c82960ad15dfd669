package profile

import (
	"math"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/trace"
)

// Cost is the processor time that the tool took from the program, in ns, by kind. Numbers are
// counted. The writer's time is measured, and so is the time of probes where samples show the text
// that runs. Else events have the price that corrections take out, see [price.Prices]. Counters in
// the text have prices from a loop at the program's start.
type Cost struct {
	Writer     int64 `json:"writer_ns"`
	Looks      int64 `json:"looks_ns"` // of threads that were asked where they are
	Extensions int64 `json:"extensions_ns"`
	// clocks that the collector's workers and assists read where the system does not show of
	// switches
	Collector Paid  `json:"collector"`
	Events    Paid  `json:"events"`  // of procedures, loops and operations
	Changes   Paid  `json:"changes"` // events of scheduling, and others that are in no procedure
	Timed     Paid  `json:"timed"`
	Counted   Paid  `json:"counted"`   // hits that a probe counts
	InPlace   Paid  `json:"in_place"`  // hits that an increment in the program's text counts
	Tests     Paid  `json:"tests"`     // entries of procedures with probes, which test what is on
	Text      int64 `json:"text_ns"`   // what larger text is taken to cost, as it does as a rule
	Probed    int64 `json:"probed_ns"` // time in the text of procedures with probes, which is larger
	All       int64 `json:"all_ns"`
	Lo        int64 `json:"lo_ns"`
	Hi        int64 `json:"hi_ns"`

	From string `json:"events_from"` // where the price of an event was measured
}

// Paid is a number of things and their cost together, in ns.
type Paid struct {
	N    uint64 `json:"n"`
	Cost int64  `json:"cost_ns"`
}

// Each is the price of one, in ns.
func (p Paid) Each() float64 { return float64(p.Cost) / float64(max(1, p.N)) }

// A processor does some of the work of probes that count while it waits for something else: in a
// loop of calls nearly all of it, in programs between a fifth and six fifths. The time that
// counters displace is less certain. The time that larger text takes is not counted at all, see
// [price.UsualText].
const (
	leastPaid = 0.2
	mostPaid  = 1.2
)

// paid is the time that probes took, in ns.
type paid struct {
	called  int64 // those that are called, as samples found them
	found   int64 // the number of these samples; 0: they have their prices
	inPlace int64
	tests   int64
	probed  float64      // time in text with probes
	prices  price.Prices // of events; none: the program did not say
	events  numbers
}

// numbers are those of events, by the kind that the program paid for.
type numbers [price.NumKinds]int64

// of is the cost of events of some kinds, in ns, and its standard deviation: prices err in one
// direction.
func (n numbers) of(p *price.Prices, kinds ...price.Kind) (paid Paid, sd float64) {
	for _, k := range kinds {
		paid.N, paid.Cost = paid.N+uint64(n[k]), paid.Cost+int64(p[k].Each*float64(n[k]))
		sd += p[k].SD * float64(n[k])
	}
	return paid, sd
}

// costOf adds up what the tool cost a run. Without prices there is the writer's time only.
func costOf(t *trace.Tables, writer int64, from paid) Cost {
	c := Cost{Writer: writer, Probed: int64(from.probed), Looks: t.Usage.Looks, InPlace: Paid{Cost: from.inPlace},
		Tests: Paid{Cost: from.tests}}
	for _, e := range t.Extensions {
		c.Extensions += e.Took
	}
	if asked := t.Took["collector"]; asked.N > 0 {
		c.Collector = Paid{asked.N, int64(asked.Mean * float64(asked.N))}
	}
	inText, n := price.InText(t)
	for _, own := range inText {
		c.InPlace.N, c.Tests.N, c.Counted.N = c.InPlace.N+own.Placed+own.Plain, c.Tests.N+own.Entries,
			c.Counted.N+own.Called
	}
	event, count := from.prices[price.Call].Each, t.Costs().Count
	c.From = from.prices[price.Call].From
	from.events[price.Call] += 2 * int64(n.Reduced) // entries and exits, for the most part
	var apart, unsure float64
	c.Events, apart = from.events.of(&from.prices, price.Call, price.Sync)
	c.Changes, unsure = from.events.of(&from.prices, price.Schedule, price.Yield, price.Other)
	c.Timed, c.Counted.Cost = Paid{n.Timed, int64(2 * event * float64(n.Timed))}, int64(count*float64(c.Counted.N))
	apart += 2 * from.prices[price.Call].SD * float64(n.Timed)
	sure := c.Writer + c.Looks + c.Extensions + c.Collector.Cost
	events, inLine := c.Events.Cost+c.Timed.Cost, c.InPlace.Cost+c.Tests.Cost
	calls := events + c.Counted.Cost
	lo := max(0, float64(events)-1.96*apart) + leastPaid*float64(c.Counted.Cost)
	hi := float64(events) + 1.96*apart + mostPaid*float64(c.Counted.Cost)
	if from.found > 0 && calls > 0 {
		k := float64(from.called) / float64(calls)
		for _, p := range []*Paid{&c.Events, &c.Timed, &c.Counted} {
			p.Cost = int64(k * float64(p.Cost))
		}
		calls = from.called
		half := 1.96 * math.Sqrt(float64(from.found)+1) / float64(from.found)
		lo, hi = float64(calls)*max(0, 1-half), float64(calls)*(1+half)
	}
	lo, hi = lo+max(0, float64(c.Changes.Cost)-1.96*unsure), hi+float64(c.Changes.Cost)+1.96*unsure
	cpu := float64(t.Usage.User + t.Usage.System)
	c.Text = int64(min(price.UsualText*from.probed, price.TextOfTests*float64(c.Tests.Cost)))
	c.All = sure + calls + c.Changes.Cost + inLine + c.Text
	if cpu > 0 && float64(c.All) > cpu { // the prices are too high: all of it cannot be the tool's, nor can its parts
		c.scale(max(0, cpu-float64(sure)) / float64(calls+c.Changes.Cost+inLine+c.Text))
		c.All, lo, hi, inLine = int64(cpu), min(lo, cpu-float64(sure)), min(hi, cpu-float64(sure)),
			c.InPlace.Cost+c.Tests.Cost
	}
	lo += price.LeastInLine*float64(inLine) + price.LeastText*from.probed
	hi += price.MostInLine*float64(inLine) + price.MostText*from.probed +
		price.MostElse*max(0, cpu-from.probed-float64(sure))
	c.Lo, c.Hi = max(0, sure+int64(lo)), sure+int64(hi)
	if cpu > 0 {
		c.Lo, c.Hi = min(c.Lo, int64(cpu)), min(c.Hi, int64(cpu))
	}
	return c
}

// scale multiplies what has prices.
func (c *Cost) scale(k float64) {
	for _, p := range []*Paid{&c.Events, &c.Changes, &c.Timed, &c.Counted, &c.InPlace, &c.Tests} {
		p.Cost = int64(k * float64(p.Cost))
	}
	c.Text = int64(k * float64(c.Text))
}

// eventCost is the cost of one traced event, in ns, if the program measured it.
func eventCost(t *trace.Tables) float64 {
	return t.Costs().Event
}

func (c *Cost) add(o *Cost) {
	for _, x := range [][2]*int64{{&c.Writer, &o.Writer}, {&c.Looks, &o.Looks}, {&c.Extensions, &o.Extensions},
		{&c.All, &o.All}, {&c.Lo, &o.Lo}, {&c.Hi, &o.Hi}, {&c.Text, &o.Text}, {&c.Probed, &o.Probed}} {
		*x[0] += *x[1]
	}
	for _, x := range [][2]*Paid{{&c.Events, &o.Events}, {&c.Changes, &o.Changes}, {&c.Timed, &o.Timed},
		{&c.Counted, &o.Counted}, {&c.InPlace, &o.InPlace}, {&c.Tests, &o.Tests}, {&c.Collector, &o.Collector}} {
		x[0].N, x[0].Cost = x[0].N+x[1].N, x[0].Cost+x[1].Cost
	}
}
