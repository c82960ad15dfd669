package predict

import (
	"fmt"
	"math"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// Intervals are for what a user measures: the medians of five runs before and after a change.

const (
	compared = 5
	// by how much single runs of a program usually differ, as the standard deviation of their
	// lengths in relation to the mean, and the number of runs that they count as: 48 programs of
	// 50 to 600 ms on a virtual machine differed by 2 to 4 %
	usual, usualCounts = 0.025, 4
)

// UsualRuns is by how much medians of runs differ if only one run is known, as the standard
// deviation in relation to the mean.
var UsualRuns = usual / math.Sqrt(compared)

// Differ is the same if the lengths of several runs are known.
func Differ(runs []trace.Time) float64 {
	n, mean, squares := float64(len(runs)), 0., 0.
	for _, t := range runs {
		mean += float64(t) / n
	}
	if mean == 0 {
		return UsualRuns
	}
	for _, t := range runs {
		d := float64(t)/mean - 1
		squares += d * d
	}
	return math.Sqrt((usualCounts*usual*usual + squares) / (usualCounts + n - 1) / compared)
}

// SameProgram returns an error if traces are not of runs of one program.
func SameProgram(a, b *trace.Tables) error {
	if len(a.Points) != len(b.Points) {
		return fmt.Errorf("found traces of programs with %d and with %d points, expected runs of one build", len(a.Points),
			len(b.Points))
	}
	for i := range a.Points {
		if x, y := &a.Points[i], &b.Points[i]; x.ID != y.ID || x.Name != y.Name || x.Line != y.Line {
			return fmt.Errorf("found %s, line %d, in one trace, where another one has %s, line %d: expected runs of one build",
				x.Name, x.Line, y.Name, y.Line)
		}
	}
	return nil
}

// Join makes one result of those of several runs of a program. Each figure is the mean of theirs,
// in an interval that has what the single ones are not known better than, and how far they are
// apart. A figure that one of them does not have is not known. Runs of which nothing is predicted
// are left out, which a note says.
func Join(all []*Result) *Result {
	list := slices.DeleteFunc(slices.Clone(all), func(x *Result) bool { return len(x.Runs) == 0 })
	if len(list) == 0 {
		return all[0]
	}
	r := joinAll(list)
	if n := len(all) - len(list); n > 0 {
		r.Remarks.Note("%d of %d runs are left out: nothing can be predicted of them", n, len(all))
	}
	return r
}

func joinAll(list []*Result) *Result {
	r := *list[0]
	if len(list) == 1 {
		return &r
	}
	r.Runs, r.WhatIf = slices.Clone(r.Runs), slices.Clone(r.WhatIf)
	mean := func(of func(*Result) int64) (ns int64) {
		for _, x := range list {
			ns += of(x) / int64(len(list))
		}
		return ns
	}
	least, most := r.Recorded.T, r.Recorded.T
	for _, x := range list {
		least, most = min(least, x.Recorded.T), max(most, x.Recorded.T)
	}
	r.Recorded.T = mean(func(x *Result) int64 { return x.Recorded.T })
	r.Recorded.Replay = mean(func(x *Result) int64 { return x.Recorded.Replay })
	r.Unexplained, r.Off = r.Recorded.T-r.Recorded.Replay, mean(func(x *Result) int64 { return x.Off })
	r.T1 = known(list, func(x *Result) int64 { return x.T1 })
	r.TInf = known(list, func(x *Result) int64 { return x.TInf })
	for i := range r.Runs {
		r.Runs[i].join(sameProcs(list, r.Runs[i].Procs), len(list))
	}
	r.WhatIf = slices.DeleteFunc(r.WhatIf, func(c Change) bool { return len(sameChange(list, &c)) < len(list) })
	for i := range r.WhatIf {
		r.WhatIf[i].join(sameChange(list, &r.WhatIf[i]))
	}
	r.Remarks = steps.Remarks{}
	for _, x := range list {
		r.Remarks.Warnings = union(r.Remarks.Warnings, x.Remarks.Warnings)
		r.Remarks.Notes = union(r.Remarks.Notes, x.Remarks.Notes)
	}
	r.Remarks.Note("from %d runs, which took from %s to %s", len(list), measure.Time(least), measure.Time(most))
	return &r
}

// known is the mean of a figure that is 0 where it is not known: then it is not known of all.
func known(list []*Result, of func(*Result) int64) (mean int64) {
	for _, x := range list {
		if of(x) == 0 {
			return 0
		}
		mean += of(x) / int64(len(list))
	}
	return mean
}

// sameProcs are the runs on a number of processors in each result that has it.
func sameProcs(list []*Result, procs int) (same []*Of) {
	for _, x := range list {
		if i := slices.IndexFunc(x.Runs, func(o Of) bool { return o.Procs == procs }); i >= 0 {
			same = append(same, &x.Runs[i])
		}
	}
	return same
}

// join makes one run of those of as many results as expected.
func (of *Of) join(same []*Of, expected int) {
	var t, lo, hi []float64
	speedup, use := 0., 0.
	of.Unknown = len(same) < expected
	for _, o := range same {
		of.Unknown = of.Unknown || o.Unknown
		t, lo, hi = append(t, float64(o.T)), append(lo, float64(o.Lo)), append(hi, float64(o.Hi))
		speedup, use = speedup+o.Speedup, use+o.Utilization
	}
	if of.Unknown {
		*of = Of{Procs: of.Procs, Unknown: true}
		return
	}
	n := float64(len(same))
	m, less, more := joined(t, lo, hi)
	of.T, of.Lo, of.Hi = round(m), max(0, round(m-less)), round(m+more)
	of.Speedup, of.Utilization = thousandths(speedup/n), thousandths(use/n)
	if of.Request != nil {
		var requests []*Request
		for _, o := range same {
			requests = append(requests, o.Request)
		}
		of.Request = joinRequests(requests)
	}
}

// joinRequests makes those of one number of processors from those of each run; nil: some run has
// none.
func joinRequests(list []*Request) *Request {
	var mean, lo, hi []float64
	var rates [3][]float64
	all, n := &Request{}, int64(len(list))
	for _, q := range list {
		if q == nil {
			return nil
		}
		mean, lo, hi = append(mean, float64(q.Mean)), append(lo, float64(q.Lo)), append(hi, float64(q.Hi))
		all.Count += q.Count
		all.P50, all.P99 = all.P50+q.P50/n, all.P99+q.P99/n
		rates[0], rates[1] = append(rates[0], q.PerSecond), append(rates[1], q.PerSecondLo)
		rates[2] = append(rates[2], q.PerSecondHi)
	}
	m, less, more := joined(mean, lo, hi)
	all.Mean, all.Lo, all.Hi = round(m), max(0, round(m-less)), round(m+more)
	m, less, more = joined(rates[0], rates[1], rates[2])
	all.PerSecond, all.PerSecondLo, all.PerSecondHi = thousandths(m), thousandths(max(0, m-less)), thousandths(m+more)
	return all
}

// sameChange is a change in each result that has it.
func sameChange(list []*Result, c *Change) (same []*Change) {
	for _, x := range list {
		is := func(o Change) bool { return o.Change == c.Change && o.Procs == c.Procs }
		if i := slices.IndexFunc(x.WhatIf, is); i >= 0 {
			same = append(same, &x.WhatIf[i])
		}
	}
	return same
}

// JoinChanges is one change from those of several runs of a program.
func JoinChanges(list []Change) Change {
	var same []*Change
	for i := range list {
		same = append(same, &list[i])
	}
	c := list[0]
	if len(list) > 1 {
		c.join(same)
	}
	return c
}

func (c *Change) join(same []*Change) {
	var gain, lo, hi []float64
	t, ns := 0., 0.
	for _, x := range same {
		if x.Unknown != "" {
			*c = Change{Change: c.Change, Procs: c.Procs, Unknown: x.Unknown}
			return
		}
		gain, lo, hi = append(gain, x.GainPct), append(lo, x.LoPct), append(hi, x.HiPct)
		t, ns = t+float64(x.T), ns+float64(x.Gain)
	}
	n := float64(len(same))
	m, less, more := joined(gain, lo, hi)
	c.T, c.Gain = round(t/n), round(ns/n)
	c.GainPct, c.LoPct, c.HiPct = thousandths(m), thousandths(m-less), thousandths(m+more)
}

// joined is the mean of figures, and by how much less and more it may be: by what their own
// intervals say, on average, and by how far they are apart.
func joined(list, lo, hi []float64) (mean, less, more float64) {
	n, squares := float64(len(list)), 0.
	for i, x := range list {
		mean, less, more = mean+x/n, less+(x-lo[i])/n, more+(hi[i]-x)/n
	}
	for _, x := range list {
		squares += (x - mean) * (x - mean)
	}
	between := normal * math.Sqrt(squares/(n-1)/n)
	return mean, math.Hypot(less, between), math.Hypot(more, between)
}

func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
