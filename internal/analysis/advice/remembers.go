package advice

import (
	"cmp"
	"fmt"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
)

// Functions that remember call others for what they do not have: see [spec.FlagFills]. How often
// they do is exact, and so is how many goroutines were in those calls at once.

const (
	// manyAsked is how often a function is asked at least, if its share of hits says something.
	manyAsked = 50
	// fewHits and noHits are shares of calls that find nothing: from the first one on a function
	// remembers too little, and from the second one on it is never asked again, as for files that
	// are read once.
	fewHits, noHits = 0.3, 0.97
	// atOnce is how many goroutines get something at the same time, on average, of which some may
	// want the same. Most calls find something then, so that several want each.
	atOnce, mostMissed = 2, 0.5
)

// remembers finds functions that could remember more, or for more goroutines.
func remembers(f *Facts) (out []Item) {
	for i := range f.Calls {
		c := &f.Calls[i]
		asked, gets := f.written(cmp.Or(c.Via, c.Caller)), f.written(c.Callee)
		if !c.Fills || asked == nil || asked.Calls < manyAsked || c.Count == 0 {
			continue
		}
		missed, together, here := measure.Ratio(int64(c.Count), int64(asked.Calls)), 0., 1.
		if gets != nil {
			here = min(1, measure.Ratio(int64(c.Count), int64(gets.Calls))) // of all its calls
			together = here * measure.Ratio(gets.Busy+gets.Blocked+gets.Ready, f.Wall)
		}
		it := Item{Subject: about(asked), Change: LessWork, computed: true,
			Evidence: []Fact{count("calls", asked.Calls), count("of them found nothing", c.Count),
				number("goroutines that get it at once", together)}}
		it.Subject.Line = c.Line
		about := ""
		if c.CountHi > 0 || asked.CallsHi > 0 {
			about = "about "
		}
		misses := fmt.Sprintf("%s misses %s%s of %s lookups", at(&it.Subject), about, measure.Count(c.Count), measure.Count(asked.Calls))
		switch {
		case together >= atOnce && missed <= mostMissed && together > f.beside(gets):
			it.ID, it.Claim = "same-at-once", "several goroutines may get the same thing at once"
			it.WhatIf, it.upTo = f.lessOf(asked, gets, here*(1-f.beside(gets)/together)), f.lessOf(asked, gets, here)
			it.Text = fmt.Sprintf("let one goroutine load what several may want at once (singleflight): %s, and %s then runs in %.1f goroutines at once, on average",
				misses, c.Callee, together)
		case missed >= fewHits && missed < noHits:
			it.ID, it.Claim = "few-hits", "a function that remembers finds little of what it is asked for"
			it.WhatIf, it.upTo = f.lessOf(asked, gets, here/2), f.lessOf(asked, gets, here)
			it.Text = fmt.Sprintf("keep more entries, or use coarser keys: %s, and calls %s for each", misses, c.Callee)
		default:
			continue
		}
		out = append(out, it)
	}
	return out
}

// beside is how many goroutines get something while one does in any case: if that is work, as many
// as there are processors, which have nothing to do while all wait for one of them.
func (f *Facts) beside(gets *profile.Entry) float64 {
	if gets.Busy > gets.Blocked {
		return float64(max(1, f.Procs))
	}
	return 1
}

// lessOf is the change that does away with a share of what a function gets by another one, nil: by
// one without probes. It works, or waits, itself or in what it calls.
func (f *Facts) lessOf(asked, gets *profile.Entry, part float64) string {
	change := "calls"
	switch {
	case gets == nil:
		change, gets = "self", asked
	case gets.Blocked > gets.Busy:
		change = "wait"
		for i := range f.Entries {
			if e := &f.Entries[i]; Written(e) && e.SelfBlocked > gets.SelfBlocked && f.Calling(gets.ID, e.ID) {
				gets = e
			}
		}
	}
	return fmt.Sprintf("%s:%s=-%.0f%%", change, gets.Name, 100*part)
}
