package profile

import (
	"math"

	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// costs are the costs of probes, in ns, as the program measured them.
type costs struct {
	event, count, call float64
	prices             price.Prices
}

// costsOf are the prices, as samples of a whole trace mend them: see [price.Seen].
func costsOf(r *replay.Replay, seen *price.Seen, work int64) costs {
	t, prices := r.T, price.Of(r.T)
	prices.Mend(seen, float64(work), r.Entries, r.Operations, r.Changes+2*r.Yields)
	c := costs{event: prices[price.Call].Each, prices: prices, count: t.Costs().Count}
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
	probes uint64           // that something was taken out for
	inLine map[line]float64 // NPT that was taken from lines by prices of what text counts, ns
}

// events subtracts the cost of events from the contexts in which they were written. Half of the
// cost is before an event's time, half after it. Samples that show the text that runs find probes
// as they find anything else, at their place and with the misses in caches: then only counters in
// the text are taken out by their price.
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

// probedTime is the time in text with probes, in ns: of all the time that goroutines ran, the share
// that samples found there. Without samples it is the time in procedures with probes, which is too
// long by the time of functions without probes that they call.
func (t *taker) probedTime(ran float64) (ns float64) {
	if t.told.codes >= enough {
		return t.told.inProbed / t.told.inText * ran
	}
	for id := range t.all() {
		if proc := t.r.Contexts.Node(id).Proc; proc != trace.NoPoint && int(proc) < len(t.r.T.Points) {
			ns += float64(t.at(id).Busy())
		}
	}
	return ns
}

// seen reports whether samples show of probes in a context.
func (t *taker) seen(id replay.ContextID) bool {
	n := &t.r.Contexts.Node(id).Context
	st := t.told.strata[stratumKey{n.Group, n.Proc, trace.NoPoint}]
	return st != nil && st.codes >= enough
}

// inCaller is the share of a counted hit's cost that falls to the caller: all of the entry's
// probe, which runs before the procedure is on the profile stack, and the call's counter.
const inCaller = 0.75

// counts subtracts the cost of hits that probes counted, and did not trace, from the procedure and
// its callers. Without samples the callers are not known. Samples that show the text that runs have
// found these probes.
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
		hits := pt.Degraded()
		if pt.Kind == spec.PointProc {
			hits -= min(pt.Plain, hits)
		}
		if pt.Small() || len(busy[proc]) == 0 {
			continue
		}
		t.probes += hits
		if t.told.codes >= enough {
			continue
		}
		cost := t.count*float64(hits-min(pt.Timed(), hits)) + 2*t.event*float64(pt.Timed())
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

// text takes the cost of counters in the text out of the procedures in which they stand, and
// of the counters of calls that probes do. Samples do not show these apart from the rest of a line.
func (t *taker) text() (p paid) {
	text, _ := price.InText(t.r.T)
	called := map[trace.PointID]uint64{} // counters of calls, in probes
	for i := range t.r.T.Points {
		if p := &t.r.T.Points[i]; p.Kind == spec.PointCall && p.Flags&spec.FlagInLine == 0 {
			called[p.Owner] += p.Counts(trace.PointID(i))
		}
	}
	busy := map[trace.PointID]int64{}
	for id := range t.all() {
		busy[t.r.Contexts.Node(id).Proc] += t.at(id).Busy()
	}
	for id := range t.all() {
		proc := t.r.Contexts.Node(id).Proc
		ns := t.at(id).Busy()
		if ns <= 0 || proc < 0 {
			continue
		}
		own, part := text[proc], float64(ns)/float64(busy[proc])
		calls := 0.0
		if t.told.codes < enough {
			calls = t.call * float64(called[proc]) * part
		}
		place, tests := t.call*own.InPlace(part), t.call*own.Tests(part)
		if all := calls + place + tests; all > 0 {
			k := float64(t.takeInLine(id, all)) / all
			p.inPlace, p.tests = p.inPlace+int64(k*place), p.tests+int64(k*tests)
		}
	}
	for proc, ns := range busy {
		if ns > 0 {
			t.probes += called[proc] + text[proc].Placed + text[proc].Plain
		}
	}
	return p
}

// priced is the cost of the counters in the text of the whole program, if none of it is taken out.
func (t *taker) priced() (p paid) {
	text, _ := price.InText(t.r.T)
	var all price.InLine
	for _, own := range text {
		all = price.InLine{Placed: all.Placed + own.Placed, Plain: all.Plain + own.Plain,
			Entries: all.Entries + own.Entries}
	}
	return paid{inPlace: int64(all.InPlace(t.call)), tests: int64(all.Tests(t.call))}
}

// takeInLine is takeHalf of what is known less well: how much of its NPT a line lost so is kept for
// its interval. It returns how much that was.
func (t *taker) takeInLine(id replay.ContextID, ns float64) (taken int64) {
	before, npt := t.at(id).Busy(), t.at(id).NPT()
	t.takeHalf(id, ns)
	lost := npt - t.at(id).NPT()
	n := &t.r.Contexts.Node(id).Context
	t.inLine[line{n.Proc, true}] += lost
	for set := n.Set; set != 0; set = t.r.Sets.Parent(set) {
		if proc := t.r.Sets.Last(set).Point(); proc >= 0 && int(proc) < len(t.r.T.Points) {
			t.inLine[line{proc, false}] += lost
		}
	}
	return before - t.at(id).Busy()
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
