package perturb

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"qinst.dev/cmd/internal/analysis/graph"
	"qinst.dev/cmd/internal/analysis/predict"
	"qinst.dev/cmd/internal/analysis/price"
	"qinst.dev/cmd/internal/analysis/replay"
	"qinst.dev/cmd/internal/trace"
	"qinst.dev/sddf/spec"
)

// Version is that of the JSON form.
const Version = 1

// Result is what a run would have been without probes. Times are in ns.
type Result struct {
	Version int `json:"version"`
	// Measured is how long the run took. The others are how long it would have taken: if a goroutine that could run did so at once, by the waits of this run,
	// and if in addition events cost as little as they may.
	Measured    int64 `json:"t_measured_ns"`
	Optimistic  int64 `json:"t_optimistic_ns"`
	Model       int64 `json:"t_model_ns"`
	Pessimistic int64 `json:"t_pessimistic_ns"`
	// Actual is how long plain runs took, half of them at most, and 95 of 100 between the other two; 0: there were none.
	Actual       int64       `json:"t_actual_ns"`
	ActualLo     int64       `json:"actual_lo_ns"`
	ActualHi     int64       `json:"actual_hi_ns"`
	Replay       int64       `json:"replay_ns"` // the recorded run as computed, by the policy that explains it best
	Policy       string      `json:"policy"`
	Off          int64       `json:"off_ns"` // running threads of the recorded run had no processor, all together
	Events       int64       `json:"events"`
	CountedShare float64     `json:"counted_share"` // of what was taken out: for hits that have no event
	Clamped      int64       `json:"clamped"`       // pieces of work that were shorter than their events' cost
	Flagged      uint64      `json:"flagged"`       // operations whose outcome is kept: a select that did not wait, an attempt at a lock
	Trusted      bool        `json:"trusted"`
	Costs        []Cost      `json:"costs"`
	Procedures   []Procedure `json:"procedures"`
	Notes        []string    `json:"notes"`
	Doubts       int         `json:"-"` // of Notes, those that come first
}

// Cost is what the tool did of one kind.
type Cost struct {
	Kind     string  `json:"kind"`
	N        uint64  `json:"n"`
	Each     float64 `json:"each_ns"`
	SD       float64 `json:"sd_ns"`
	Total    int64   `json:"total_ns"`
	Measured string  `json:"measured_in"`
}

// Procedure is the processor time of one, without what it calls, as measured and without probes, and between which times that is.
type Procedure struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Busy      int64  `json:"busy_ns"`
	Corrected int64  `json:"corrected_ns"`
	Lo        int64  `json:"lo_ns"`
	Hi        int64  `json:"hi_ns"`
}

// Options are what a correction depends on.
type Options struct {
	// Density is another trace of the same program, in which more or less was traced: the prices of events are such that both would have taken the same time without
	// them. nil: prices are the trace's own.
	Density trace.Source
}

// New corrects a trace.
func New(source trace.Source, o Options) (*Result, error) {
	c, losses, err := read(source)
	if err != nil {
		return nil, err
	}
	if o.Density != nil {
		if err := c.density(o.Density); err != nil {
			return nil, err
		}
	}
	p := c.p
	r := &Result{Version: Version, Measured: int64(source.Wall()), Off: p.Off, Events: p.R.Events, Clamped: p.Clamped, Notes: slices.Clone(p.Notes[:p.Doubts])}
	c.costs(r)
	for i := range p.R.T.Points {
		if pt := &p.R.T.Points[i]; pt.Op == spec.OpDefault {
			r.Flagged += pt.Hits
		}
	}
	if c.known() {
		c.times(r)
		c.procedures(r)
	}
	c.doubts(r, losses)
	r.Notes = append(r.Notes, p.Notes[p.Doubts:]...)
	return r, nil
}

// read reads a trace.
func read(source trace.Source) (*correction, *trace.Losses, error) {
	c := &correction{prices: price.Of(source.Tables()), measured: float64(source.Wall()), factor: 1}
	p, losses, err := graph.Build(source, graph.Options{Price: c.pays})
	if err != nil {
		return nil, nil, err
	}
	c.p = p
	c.countedText()
	c.fit()
	if c.known() {
		c.explain()
	}
	return c, &losses, nil
}

// correction is a trace and what its probes cost.
type correction struct {
	p        *graph.Program
	measured float64        // ns that the run took
	policy   predict.Policy // that explains it best
	was      float64        // ns that the run takes by that
	factor   float64        // what events cost, in prices
	spread   float64        // its standard deviation, if it was found by another trace; 0: it was not
	prices   price.Prices
	events   [price.NumKinds]uint64
	text     map[trace.PointID]float64 // ns for hits without an event, by procedure
	counted  uint64                    // such hits
	rates    []float64                 // of a context's work, the share for these
	probes   []float64                 // of a context's work, the share in probes by samples; below 0: these do not tell
	found    int                       // samples that told of probes
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

// countedText adds up what hits without an event cost.
func (c *correction) countedText() {
	each := c.p.R.T.Costs().Count
	own, _ := price.InText(c.p.R.T)
	c.text = map[trace.PointID]float64{}
	for proc, n := range own {
		c.text[proc] = n.InPlace(each) + n.Tests(each) + each*float64(n.Called)
		c.counted += n.Placed + n.Plain + n.Called
	}
}

// fit finds what share of each context's work was the tool's. Samples see probes where they are, with all that they cost; in contexts without enough of them
// events have prices. What the text counts is a part of its procedure's work.
func (c *correction) fit() {
	p, self := c.p, map[trace.PointID]float64{}
	n := p.R.Contexts.Len()
	c.rates, c.probes = make([]float64, n), make([]float64, n)
	for id := range replay.ContextID(n) {
		_, work := p.Paid(id)
		c.probes[id] = -1
		for _, s := range p.Shares(id) {
			if s.N > 0 {
				c.probes[id] = max(c.probes[id], 0)
			}
			if s.N > 0 && s.Proc == p.R.System.Probes {
				c.probes[id] += s.Share
				c.found += s.N
				continue
			}
			self[s.Proc] += s.Share * float64(work)
		}
	}
	const most = 0.9
	for id := range replay.ContextID(n) {
		for _, s := range p.Shares(id) {
			if ns := c.text[s.Proc]; ns > 0 && self[s.Proc] > 0 {
				c.rates[id] += s.Share * min(most, ns/self[s.Proc])
			}
		}
	}
}

// without is what is left of a context's work, of which some was for events, without probes, if these cost so many times what is known; in ns.
func (c *correction) without(id replay.ContextID, work, paid int64, times float64) float64 {
	ns := float64(work)
	took := float64(paid) * times * c.factor
	if c.probes[id] >= 0 {
		took = ns * c.probes[id] * times
	}
	return max(0, ns-took-ns*c.rates[id]*times)
}

// known reports whether there is anything to correct.
func (c *correction) known() bool { return c.p.End > 0 && len(c.p.Gs) > 0 }

// explain finds the policy by which the recorded run takes nearest to what it took.
func (c *correction) explain() {
	c.was = math.Inf(1)
	for _, by := range predict.Policies {
		if t := predict.Simulate(c.p, predict.Options{Procs: c.p.Procs, Policy: by}).T; math.Abs(t-c.measured) < math.Abs(c.was-c.measured) {
			c.policy, c.was = by, t
		}
	}
}

// corrected is how long the run would have taken, in ns, if probes cost so many times what is known. What no policy explains is taken to be the same share
// of both runs.
func (c *correction) corrected(times float64, handOver func(graph.StepID) float64) float64 {
	length := func(id graph.StepID) (ns float64) {
		for i, part := range c.p.PartsOf(id) {
			ns += c.without(part.Context, part.Ns, c.p.PaidOf(id, i), times)
		}
		return ns
	}
	return predict.Simulate(c.p, predict.Options{Procs: c.p.Procs, Policy: c.policy, Length: length, HandOver: handOver}).T * c.measured / max(c.was, 1)
}

// times computes the run as it would have been.
func (c *correction) times(r *Result) {
	ns := func(t float64) int64 { return int64(math.Round(t)) }
	lo, hi := c.between()
	r.Policy, r.Replay, r.Model = string(c.policy), ns(c.was), ns(c.corrected(1, nil))
	r.Optimistic = min(r.Model, ns(c.corrected(hi, func(graph.StepID) float64 { return 0 })))
	r.Pessimistic = max(r.Model, ns(c.corrected(lo, nil)))
}

// between are how many times of what is known the cost may be, 95 times in 100.
func (c *correction) between() (lo, hi float64) {
	const z = 1.96
	half := z * price.Spread
	if c.spread > 0 {
		half = z * c.spread / c.factor
	} else if c.found > 0 {
		half = z * math.Sqrt(float64(c.found)+1) / float64(c.found)
	}
	return max(0, 1-half), 1 + half
}

// costs says what was taken out, and for what.
func (c *correction) costs(r *Result) {
	events := 0.
	for k, n := range c.events {
		x := c.prices[k]
		if c.spread > 0 {
			x.Each, x.SD, x.From = c.factor*x.Each, c.spread*x.Each, "another run"
		}
		events += float64(n) * x.Each
		r.Costs = append(r.Costs, Cost{price.Kind(k).String(), n, x.Each, x.SD, int64(math.Round(float64(n) * x.Each)), x.From})
	}
	counted := 0.
	for _, ns := range c.text {
		counted += ns
	}
	each := counted / float64(max(1, c.counted))
	r.Costs = append(r.Costs, Cost{"counted", c.counted, each, price.Spread * each, int64(math.Round(counted)), "clock readings at the start"})
	if all := events + counted; all > 0 {
		r.CountedShare = counted / all
	}
}

// procedures says what each procedure's processor time would have been, those first that lose most.
func (c *correction) procedures(r *Result) {
	lo, hi := c.between()
	by := map[trace.PointID]*Procedure{}
	for id := range replay.ContextID(c.p.R.Contexts.Len()) {
		paid, work := c.p.Paid(id)
		if work == 0 {
			continue
		}
		probes := max(0, c.probes[id])
		for _, s := range c.p.Shares(id) {
			if s.Proc == c.p.R.System.Probes {
				continue
			}
			if by[s.Proc] == nil {
				by[s.Proc] = c.named(s.Proc)
			}
			x, share := by[s.Proc], s.Share
			if c.probes[id] >= 0 {
				share /= max(1-probes, 1e-9) // of all but the probes, which are everybody's in proportion
			} else {
				share = 1 // what the events cost is not yet taken out of it
			}
			own := int64(share * float64(work))
			x.Busy += own
			x.Corrected += int64(c.without(id, own, paid, 1))
			x.Lo += int64(c.without(id, own, paid, hi))
			x.Hi += int64(c.without(id, own, paid, lo))
		}
	}
	for _, x := range by {
		if x.Busy > 0 {
			r.Procedures = append(r.Procedures, *x)
		}
	}
	slices.SortFunc(r.Procedures, func(x, y Procedure) int {
		return cmp.Or(cmp.Compare(y.Busy-y.Corrected, x.Busy-x.Corrected), cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID))
	})
}

func (c *correction) named(proc trace.PointID) *Procedure {
	if proc == trace.NoPoint {
		return &Procedure{ID: "no procedure", Name: "[no procedure]"}
	}
	pt := &c.p.R.T.Points[proc]
	if c.p.R.IsSystem(proc) {
		return &Procedure{ID: pt.Name, Name: pt.Name}
	}
	return &Procedure{ID: fmt.Sprintf("%016x", pt.ID), Name: pt.Name}
}
