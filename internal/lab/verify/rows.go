package verify

import (
	"fmt"
	"math"
	"slices"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/stats"
)

// Bounds. ADR 80 says where each is promised.
const (
	mostCost    = 5                    // % of the processor time
	mostCorrect = 5                    // % of the plain run
	mostSpeedup = 4                    // % of it
	mostReplay  = 100 * critpath.Apart // % of the run
	mostWait    = 1                    // % of all waits
	mostDelay   = 2                    // points of all delays
	mostGain    = 3                    // points of the run
	mostShare   = 1                    // points of the work, or of the run
)

const nanoseconds = "ns"

// figure is a number of qinst's in each pair of runs, and the true one.
type figure struct {
	id, what, truth string
	of              string // unit of the numbers
	found, expected []float64
	unit            string // of the error
	most            float64
	below           bool    // any amount less is good
	equal           float64 // how far equal programs may differ, in the unit of the error
	limit           string  // a known reason of a larger error
}

// figures are all that are compared.
func (v *verification) figures() []figure {
	got := func(name string) []float64 { return v.got[name] }
	whole, probes, still := got("phases"), got("phases, probes"), got("phases, no delay")
	serial := each(got("phases, probes"+ownPart), probes, shareOf)
	differ, sum := v.equal("phases", ""), rounds*float64(delayC)
	return []figure{
		{id: "counts", what: "hits, default settings", truth: "formula", of: hits, unit: hits,
			found: got("phases right"), expected: got("phases hits")},
		{id: "counts-lock", what: "hits, with operations on a lock", truth: "formula", of: hits, unit: hits,
			found: got("lock right"), expected: got("lock hits")},
		{id: "counts-calls", what: "hits, everything traced", truth: "formula", of: hits, unit: hits,
			found: got("calls right"), expected: got("calls hits")},
		{id: "lost", what: "events in the file and hits only counted", truth: "formula", of: hits, unit: hits,
			found: got(events), expected: got("calls hits")},
		{id: "work", what: "work of main.c", truth: "formula", of: percent, unit: points, most: mostShare,
			found: got(work), expected: v.workOfC()},
		{id: "npt", what: "normalized time of main.c", truth: "its clock", of: percent, unit: points, most: mostShare,
			found: got(npt), expected: serial},
		{id: "path", what: "critical path in main.c", truth: "its clock", of: percent, unit: points, most: mostShare,
			found: got(path), expected: serial},
		{id: "waits", what: "waits for a lock", truth: "their clock", of: nanoseconds, unit: percent, most: mostWait,
			found: got(waits), expected: got("lock, probes" + ownPart)},
		{id: "replay", what: "computed run", truth: "recorded run", of: nanoseconds, unit: percent, most: mostReplay,
			found: got(replay), expected: got(ran),
			limit: "it lacks some of the time that threads take to wake up (ADR 62); reports warn of that, and intervals " +
				"of gains have it"},
		{id: "gain-serial", what: fmt.Sprintf("gain of %d %% less work in main.c", lessC), truth: "changed program",
			of: percent, unit: points, most: mostGain, equal: differ,
			found: got(gainC), expected: each(got("phases, less c"), whole, gainOf)},
		{id: "gain-parallel", what: fmt.Sprintf("gain of %d %% less work in main.a", lessA), truth: "changed program",
			of: percent, unit: points, most: mostGain, equal: differ,
			found: got(gainA), expected: each(got("phases, less a"), whole, gainOf)},
		{id: "processors", what: "time on one processor, of that on two", truth: "plain runs", of: percent, unit: percent,
			most: mostSpeedup, equal: differ,
			found: got(speedup), expected: each(got("phases, one processor"), whole, shareOf),
			limit: "qinst takes work to last as long on any number of processors (docs/STATUS.md)"},
		{id: "correct", what: "run without probes, from one with all", truth: "plain runs", of: nanoseconds, unit: percent,
			most: mostCorrect, equal: v.equal("calls", ""),
			found: got(removed), expected: got("calls")},
		{id: "delay", what: "effect of delays in main.c, of their sum", truth: "all of it", of: percent, unit: points,
			most: mostDelay, equal: differ * stats.Median(whole) / sum,
			found: each(got("phases, delay of c"), still, of(sum)), expected: known(still, 100)},
		{id: "delay-beside", what: "effect of shorter ones in main.b, of the run", truth: "none", of: percent,
			unit: points, most: mostGain, equal: differ,
			found: each(got("phases, delay of b"), still, lossOf), expected: known(still, 0)},
		{id: "cost", what: "processor time with probes", truth: "plain runs", of: nanoseconds, unit: percent,
			most: mostCost, below: true, equal: v.equal("long phases", cpu),
			found: got("long phases, probes" + cpu), expected: got("long phases" + cpu)},
		{id: "cost-calls", what: "processor time with probes, many calls", truth: "plain runs", of: nanoseconds,
			unit: percent, most: mostCost, below: true, equal: v.equal("long calls", cpu),
			found: got("long calls, probes" + cpu), expected: got("long calls" + cpu),
			limit: "programs that call much pay more than the budget (docs/STATUS.md)"},
	}
}

// row is a figure with its error and a verdict.
func (f *figure) row(m *Machine) Row {
	r := Row{ID: f.id, What: f.what, Truth: f.truth, Of: f.of, Found: middle(f.found),
		Expected: middle(f.expected), Unit: f.unit, Most: f.most, Equal: hundredths(f.equal)}
	if !f.below {
		least := -f.most
		r.Least = &least
	}
	switch f.unit {
	case hits:
		r.off(largest(f.expected, f.found))
	case points:
		r.off(stats.Difference(f.expected, f.found))
	default:
		i, ok := stats.Ratio(f.expected, f.found)
		r.off(stats.Interval{Mean: 100 * (i.Mean - 1), Low: 100 * (i.Low - 1), High: 100 * (i.High - 1)}, ok)
	}
	r.judge(m)
	if r.Verdict == Exceeds && f.limit != "" {
		r.Why += ": " + f.limit
	}
	return r
}

// middle is the median of those numbers of a list that are known.
func middle(list []float64) float64 {
	list = slices.DeleteFunc(slices.Clone(list), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	return hundredths(stats.Median(list))
}

// largest is the largest error, of numbers without any chance.
func largest(expected, found []float64) (i stats.Interval, ok bool) {
	if len(found) == 0 || len(found) != len(expected) {
		return i, false
	}
	for k := range found {
		if d := found[k] - expected[k]; math.Abs(d) > math.Abs(i.Mean) {
			i = stats.Interval{Mean: d, Low: d, High: d}
		}
	}
	return i, true
}

// each applies a function to pairs of numbers.
func each(first, second []float64, f func(a, b float64) float64) (list []float64) {
	for k := range min(len(first), len(second)) {
		list = append(list, f(first[k], second[k]))
	}
	return list
}

func shareOf(part, whole float64) float64  { return 100 * part / whole }
func gainOf(after, before float64) float64 { return 100 * (1 - after/before) }
func lossOf(after, before float64) float64 { return -gainOf(after, before) }

// of is a difference as a share of a whole.
func of(whole float64) func(after, before float64) float64 {
	return func(after, before float64) float64 { return 100 * (after - before) / whole }
}

// known repeats a number for each one of a list.
func known(list []float64, x float64) []float64 { return slices.Repeat([]float64{x}, len(list)) }

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }
