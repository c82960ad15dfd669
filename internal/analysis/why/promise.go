package why

import (
	"fmt"
	"strconv"
	"strings"
)

// Kept is the verdict of a promise that a change was seen to keep.
const Kept Verdict = "kept"

// sharp is how wide the interval of a realized gain may be to tell that a promise is kept, as a
// share of the promise. Were it twice as wide, half of the gain would look like all of it.
const sharp = 0.5

// Promise is the gain that a finding promises, in percent of the run, with its interval.
type Promise struct {
	ID     string
	Rank   int // among the findings, from 1 on
	Change string
	Pct    float64
	Lo, Hi float64
}

// Judge says whether a change whose gain is between lo and hi, in percent, kept the promise. It is
// less, or more, if the two intervals have nothing in common.
func (p *Promise) Judge(lo, hi float64) Verdict {
	switch {
	case hi < p.Lo:
		return Less
	case lo > p.Hi:
		return More
	case lo > 0 && hi-lo <= sharp*p.Pct:
		return Kept
	}
	return Undecided
}

// Promised are the gains that findings promise, those of settings that were tried among them.
func (a *Answer) Promised() (list []Promise) {
	for i := range a.Findings {
		f := &a.Findings[i]
		p := Promise{ID: f.ID, Rank: i + 1, Change: f.Change}
		switch {
		case !f.Promises():
		case f.Tried != nil:
			p.Pct, p.Lo, p.Hi = f.Tried.Pct, f.Tried.Lo, f.Tried.Hi
		case f.Predicted != nil:
			p.Pct, p.Lo, p.Hi = f.Predicted.Pct, f.Predicted.Lo, f.Predicted.Hi
		}
		if p.Pct > 0 {
			list = append(list, p)
		}
	}
	return list
}

// Named is the promise of a finding, by its identity or rank.
func (a *Answer) Named(name string) (Promise, error) {
	var known []string
	for _, p := range a.Promised() {
		if p.ID == name || strconv.Itoa(p.Rank) == name {
			return p, nil
		}
		known = append(known, fmt.Sprintf("%d (%s)", p.Rank, p.ID))
	}
	if len(known) == 0 {
		return Promise{}, fmt.Errorf("found %q, expected none: the study promises no gain", name)
	}
	return Promise{}, fmt.Errorf("found %q, expected one that promises a gain: %s", name, strings.Join(known, ", "))
}
