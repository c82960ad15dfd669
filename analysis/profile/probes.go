package profile

import (
	"math"

	"qinst.dev/analysis/replay"
	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// costs are the costs of probes, in ns, as the program measured them.
type costs struct{ event, count, call float64 }

// probeShare is the cost of an event in an otherwise empty loop, in readings of the clock. In
// programs an event costs more because of the caches it uses. That part is not measured; only the
// comparison with a plain run shows it.
const probeShare = 1.1

func costsOf(t *trace.Tables) costs {
	c := costs{event: probeShare * float64(t.Int("clock_cost_ps")) / 1000, count: float64(t.Int("count_cost_ps")) / 1000}
	if c.call = c.count; t.Int("sample_ns") > 0 {
		c.call /= pushed
	}
	return c
}

// pushed is the factor by which a hit is more expensive if it is put on the profile stack; a
// call's counter is not.
const pushed = 1.3

// taker subtracts the cost of probes from the usage.
type taker struct {
	costs
	*ledger
	told   *sampled
	probes uint64 // that something was taken out for
}

// Samples that tell what text ran find probes as they find anything else: they tell what probes cost at
// their place, with the misses in caches. Then only what counts in line is taken out by its price.

// events subtracts the cost of events from the contexts in which they were written. Half of the
// cost is before an event's time, half after it.
func (t *taker) events() {
	if t.event == 0 {
		return
	}
	for id := range t.all() {
		if halves := t.r.Contexts.Node(id).Half; halves > 0 {
			t.probes += uint64(halves+1) / 2
			if t.seen(id) {
				continue
			}
			t.takeProbes(id, int64(math.Round(float64(halves)*t.event/2)))
		}
	}
}

// probesTime is the time in probes so far.
func (t *taker) probesTime() (ns int64) {
	for id := range t.all() {
		if t.r.Contexts.Node(id).Proc == t.r.System.Probes {
			ns += t.at(id).Busy()
		}
	}
	return ns
}

// seen reports whether samples tell of probes in a context.
func (t *taker) seen(id replay.ContextID) bool {
	n := &t.r.Contexts.Node(id).Context
	st := t.told.strata[stratumKey{n.Group, n.Proc, trace.NoPoint}]
	return st != nil && st.codes >= enough
}

// inCaller is the share of a counted hit's cost that falls to the caller: all of the entry's
// probe, which runs before the procedure is on the profile stack, and the call's counter.
const inCaller = 0.75

// counts subtracts the cost of hits that were not traced from the procedure and its callers.
// Without samples the callers are not known.
func (t *taker) counts() {
	points := t.r.T.Points
	busy, all := map[trace.PointID][]replay.ContextID{}, map[trace.PointID]int64{}
	for id := range t.all() {
		n := t.r.Contexts.Node(id)
		proc := n.Proc
		if n.Loop != trace.NoPoint {
			proc = n.Loop
		}
		if ns := t.at(id).Busy(); proc != trace.NoPoint && ns > 0 && points[proc].Degraded() > 0 {
			busy[proc] = append(busy[proc], id)
			all[proc] += ns
		}
	}
	for proc := range trace.PointID(len(points)) {
		pt := &points[proc]
		if len(busy[proc]) > 0 {
			t.probes += pt.Counting(pt.Degraded())
		}
		cost := t.count*float64(pt.Counting(pt.Degraded()-min(pt.Timed(), pt.Degraded()))) + 2*t.event*float64(pt.Timed())
		if t.told.codes >= enough {
			cost = t.count * float64(min(pt.Plain, pt.Degraded())) / spec.InLineParts
		}
		for _, id := range busy[proc] {
			share := cost * float64(t.at(id).Busy()) / float64(all[proc])
			from := t.r.Contexts.Node(id).From
			t.takeHalf(id, share*(1-inCaller))
			if from != replay.NoContext {
				t.takeHalf(from, share*inCaller)
			}
		}
	}
}

// calls takes the cost of call counters out of the procedures in which they are.
func (t *taker) calls() {
	hits, busy := map[trace.PointID]uint64{}, map[trace.PointID]int64{}
	for i := range t.r.T.Points {
		if p := &t.r.T.Points[i]; p.Kind == spec.PointCall {
			if n := p.Counts(trace.PointID(i)); t.told.codes < enough || p.Flags&spec.FlagInLine != 0 {
				hits[p.Owner] += n
			}
		}
	}
	for id := range t.all() {
		busy[t.r.Contexts.Node(id).Proc] += t.at(id).Busy()
	}
	for id := range t.all() {
		proc := t.r.Contexts.Node(id).Proc
		if ns := t.at(id).Busy(); ns > 0 && proc >= 0 && hits[proc] > 0 {
			t.takeHalf(id, t.call*float64(hits[proc])*float64(ns)/float64(busy[proc]))
		}
	}
	for proc, n := range hits {
		if busy[proc] > 0 {
			t.probes += n
		}
	}
}

// takeHalf subtracts the cost of counts, but at most half of the time there, because the cost of
// a hit is known less precisely than the number of hits.
func (t *taker) takeHalf(id replay.ContextID, ns float64) {
	t.takeProbes(id, min(int64(ns), t.at(id).Busy()/2))
}

func (t *taker) takeProbes(id replay.ContextID, ns int64) {
	t.take(id, ns, t.r.System.Probes, replay.RootTool)
}

// take moves at most ns of processor time from a context to a line that is not the program's.
func (t *taker) take(id replay.ContextID, ns int64, to trace.PointID, root replay.Root) {
	busy := t.at(id).Busy()
	if ns = min(ns, busy); ns <= 0 {
		return
	}
	other := t.r.Outside(to, root, t.r.Contexts.Node(id).Group)
	u := t.at(other) // must come first, because it may move the others
	p := t.at(id)
	for i, n := range shareOut(p.BusyAt, ns, busy) {
		if n != 0 {
			u.busy(i, n)
		}
	}
	if c := p.RunnableHists[useBusy]; c != nil {
		more := RunnableHist(shareOut(c[:], ns, busy))
		u.addRunnable(useBusy, &more)
	}
	area := int64(float64(p.Runnable[useBusy]) * float64(ns) / float64(busy))
	p.Runnable[useBusy] -= area
	u.Runnable[useBusy] += area
}

// shareOut takes ns out of times, whose sum is all, in proportion. It returns the amounts taken
// from each, which add up to ns.
func shareOut(times []int64, ns, all int64) []int64 {
	list := make([]int64, len(times))
	sum, taken := int64(0), int64(0)
	for i, x := range times {
		sum += x
		list[i] = min(int64(math.Round(float64(ns)*float64(sum)/float64(all)))-taken, x)
		taken += list[i]
		times[i] -= list[i]
	}
	return list
}
