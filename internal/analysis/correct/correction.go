package correct

import (
	"cmp"
	"math"
	"slices"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// correction is a trace and the cost of its probes.
type correction struct {
	p        *steps.Program
	o        Options
	measured float64 // ns that the run took
	assumed  assumption
	explained
	pricing
	inText
	inContexts
	periods *periods // nil: the times of hits without an event are not known
}

// explained is the policy under which the computed run is nearest to the recorded one.
type explained struct {
	policy sim.Policy
	was    float64 // ns that the run takes by that
	loose  bool    // a goroutine that ends waits at a barrier does not wait for all to come: the run would stand still
}

// pricing is the cost of events.
type pricing struct {
	prices price.Prices
	mended price.Prices // by samples
	events [price.NumKinds]uint64
	factor float64 // the cost of events, as a multiple of their prices
	spread float64 // its standard deviation
	told   float64 // the factor without another trace
	from   string  // that it was found by one; empty: it was not
}

// inText is the cost of hits without an event.
type inText struct {
	text    map[trace.PointID]float64 // ns, by procedure
	tested  map[trace.PointID]float64 // ns for tests at entries, among these
	counted uint64                    // such hits
	tests   uint64                    // entries that test what is on
	grown   float64                   // ns for text that is larger
}

// inContexts is the tool's share of the work in each context.
type inContexts struct {
	self   map[trace.PointID]float64 // of each procedure, ns of work
	rates  []float64                 // the share for hits without an event, by their price
	larger []float64                 // the share for text that is larger
	probes []float64                 // the share in probes by samples; below 0: there are too few
	hits   []float64                 // of that, the share for hits without an event
	each   []float64                 // the cost of its events, as a multiple of their prices
}

// pays is the price of an event.
func (c *correction) pays(e *trace.Event) float64 {
	k, pays := price.KindOf(e)
	if !pays {
		return 0
	}
	c.events[k]++
	return c.prices[k].Each
}

// mend takes the prices that samples mended: events were priced before any was seen.
func (c *correction) mend() {
	c.mended = c.p.Prices()
	priced, mended, apart := 0., 0., 0.
	for k, n := range c.events {
		priced += float64(n) * c.prices[k].Each
		mended += float64(n) * c.mended[k].Each
		apart = math.Hypot(apart, float64(n)*c.mended[k].SD)
	}
	if priced > 0 {
		c.factor, c.spread = mended/priced, apart/priced
	}
	c.told = c.factor
}

// countedText adds up the cost of hits without an event.
func (c *correction) countedText() {
	each := c.p.R.T.Costs().Count
	own, _ := price.InText(c.p.R.T)
	c.text, c.tested = map[trace.PointID]float64{}, map[trace.PointID]float64{}
	for proc, n := range own {
		c.tested[proc] = n.Tests(each)
		c.text[proc] = n.InPlace(each) + c.tested[proc] + each*float64(n.Called)
		c.counted += n.Placed + n.Plain + n.Called
		c.tests += n.Entries
	}
}

// fit finds the tool's share of each context's work. Samples find probes where they run, with their
// whole cost; in contexts with too few samples events have prices. Counters in the text are a part
// of their procedure's work.
func (c *correction) fit() {
	p, self := c.p, map[trace.PointID]float64{}
	n := p.R.Contexts.Len()
	c.self, c.rates, c.larger, c.probes, c.hits, c.each = self, make([]float64, n), make([]float64, n),
		make([]float64, n), make([]float64, n), make([]float64, n)
	for id := range replay.ContextID(n) {
		paid, work := p.Paid(id)
		c.probes[id] = -1
		for _, s := range p.Shares(id) {
			if s.N > 0 {
				c.probes[id] = max(c.probes[id], 0)
			}
			if s.N > 0 && s.Proc == p.R.System.Probes {
				c.probes[id] += s.Share

				continue
			}
			self[s.Proc] += s.Share * float64(work)
		}
		if probes := c.probes[id]; probes > 0 && work > 0 {
			events := float64(paid) / float64(work)
			c.each[id] = min(c.factor, probes/max(events, 1e-9))
			c.hits[id] = max(0, probes-c.each[id]*events)
		}
	}
	for id := range replay.ContextID(n) {
		_, work := p.Paid(id)
		for _, s := range p.Shares(id) {
			if ns := c.text[s.Proc]; ns > 0 && self[s.Proc] > 0 {
				c.rates[id] += s.Share * min(mostInText, ns/self[s.Proc])
				c.larger[id] += s.Share * min(price.UsualOfSelf, price.TextOfTests*c.tested[s.Proc]/self[s.Proc])
			}
		}
		c.grown += c.larger[id] * float64(work)
	}
}

// mostInText is the largest share of a procedure's work that counters in its text can take.
const mostInText = 0.9

// times are multiples of the known costs of the tool.
type times struct{ probes, counters, text float64 }

var known = times{1, 1, 1}

// left is the part of some work in a context that remains without the tool, in ns: below 0 if the
// tool took longer. paid is the part for events. The work had the context's usual density of hits
// without an event, times dense.
func (c *correction) left(id replay.ContextID, ns, paid int64, dense float64, cost times) float64 {
	took, share := float64(paid)*c.factor, 0.
	if int(id) < len(c.rates) {
		if share = (c.rates[id]*cost.counters + c.larger[id]*cost.text) * dense; c.probes[id] >= 0 {
			took = float64(paid)*c.each[id] + float64(ns)*c.hits[id]*dense
		}
	}
	return float64(ns)*(1-min(mostInText, share)) - took*cost.probes
}

// known reports whether there is anything to correct.
func (c *correction) known() bool { return c.p.End > 0 && len(c.p.Gs) > 0 }

// explain finds the policy under which the computed run is nearest to the recorded one. If
// operations are missing, each goroutine waits for the same one as it did.
func (c *correction) explain() {
	run := c.nearest()
	if predict.Settle(c.p, run) {
		run = c.nearest()
	}
	c.was = run.T
}

// policies are those by which a goroutine has a processor of its own when it runs, as in a trace.
var policies = []sim.Policy{sim.List, sim.Go}

func (c *correction) nearest() (run *sim.Run) {
	for _, by := range policies {
		r := sim.Simulate(c.p, sim.Options{Procs: c.p.Procs, Policy: by, Exit: c.exit(), LIFO: c.o.Receive == LIFO})
		if run == nil || c.apart(r.T) < c.apart(run.T) {
			c.policy, run = by, r
		}
	}
	if run.Forced > 0 && !c.loose {
		c.loose = true
		return c.nearest()
	}
	return run
}

// apart is how far a computed run is from the recorded one, in ns. To be longer counts twice: the
// recorded run includes the time for which other programs had the processors, which no policy has.
func (c *correction) apart(t float64) float64 { return max(c.measured-t, 2*(t-c.measured)) }

// corrected is how long the run would have taken, in ns, if the tool's costs were these multiples
// of the known ones.
func (c *correction) corrected(cost times, handOver func(steps.StepID, float64) float64) float64 {
	return c.simulate(cost, handOver, nil).T * c.stretch()
}

// stretch is the ratio of a run without the tool to the computed one: the part that no policy
// explains, less the processor time of the tool's own threads that the program's threads lacked.
func (c *correction) stretch() float64 {
	unexplained := c.measured/max(c.was, 1) - 1
	if off := float64(c.p.OffCPU); off > 0 && unexplained > 0 {
		unexplained *= 1 - min(1, c.own()/off)
	}
	return 1 + unexplained
}

// own is the processor time of the tool's own threads, in ns.
func (c *correction) own() float64 {
	ns := float64(c.p.R.T.Usage.Looks)
	for _, th := range c.p.R.T.Threads {
		if th.Writer {
			ns += float64(th.Run)
		}
	}
	return ns
}

func (c *correction) simulate(cost times, handOver func(steps.StepID, float64) float64, log *sim.Log) *sim.Run {
	length := func(id steps.StepID) (ns float64) {
		for i, part := range c.p.PartsOf(id) {
			ns += max(0, c.left(part.Context, part.Ns, c.p.PaidOf(id, i), c.periods.inStep(c.p, id, part.Context),
				cost))
		}
		return ns
	}
	return sim.Simulate(c.p, sim.Options{Procs: c.p.Procs, Policy: c.policy, Log: log, Exit: c.exit(),
		LIFO: c.o.Receive == LIFO, Times: sim.Times{Length: length, HandOver: handOver}})
}

// assumption is a multiple of the known costs, and how long hand-overs take; nil: as recorded.
type assumption struct {
	cost     times
	handOver func(steps.StepID, float64) float64
}

// exit is the order in which goroutines leave barriers.
func (c *correction) exit() sim.Exit {
	if c.loose {
		return ""
	}
	return cmp.Or(c.o.Exit, sim.ExitRecorded)
}

// between are the multiples of the known costs that hold the true cost 95 times in 100. Some probes
// have prices, and others were found by samples, which may be few.
func (c *correction) between() (lo, hi times) {
	spread := c.spread / c.factor
	if n := float64(c.p.SampledProbes()); n > 0 &&
		slices.ContainsFunc(c.probes, func(share float64) bool { return share >= 0 }) {
		spread = math.Hypot(spread, math.Sqrt(n+1)/n)
	}
	half := 1.96 * spread
	return times{max(0, 1-half), price.LeastInLine, 0},
		times{1 + half, price.MostInLine, price.MostOfSelf / price.UsualOfSelf}
}
