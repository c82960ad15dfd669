package advice

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// A client may stop waiting for its answer, as at a deadline. The answer is worked out all the same
// unless the server looks first, and it is never received.

const (
	// fewAnswers is up to how many answers say nothing.
	fewAnswers = 20
	// fewSkipped is up to which share of the clients that stopped waiting get no answer from a
	// server that does not look.
	fewSkipped = 0.1
)

// unread finds channels with answers that come too late.
func unread(f *Facts) (out []Item) {
	for i := range f.Objects {
		o := &f.Objects[i]
		if f.Program == nil || o.Kind != "channel" || o.Objects < fewAnswers || o.Degraded > 0 || len(o.EndedBy) == 0 {
			continue
		}
		by, until := f.written(o.EndedBy[0].Reason), f.givenUp(o)
		if by == nil || until == nil {
			continue
		}
		a := answers{of: o.Name, until: until.Name}
		a.read(f.Program)
		part := measure.Ratio(a.late, a.all)
		if a.all < fewAnswers || part < surelyGains || !a.worked() {
			continue
		}
		most := int64(part * float64(min(f.Wall, o.Wait)))
		s := about(by)
		out = append(out, Item{ID: "late-answers", Claim: "nobody waits any more for what is worked out", Subject: s,
			Change: LessWork, AtMost: most,
			Evidence: []Fact{count("answers that nobody received", a.late), count("of", a.all)},
			Text: fmt.Sprintf("let %s look, before it works, whether somebody still waits, as by the error of the request's context: %s of %s answers that were sent to %s were never received, since %s had stopped waiting. Gain: %s of the run at most",
				at(&s), measure.Count(a.late), measure.Count(a.all), o.Name, o.WaitedIn[0].Reason,
				measure.Percent(most, f.Wall))})
	}
	return out
}

// givenUp is the other event that waits for a channel may end with, such as a deadline; nil: there
// is none.
func (f *Facts) givenUp(o *profile.Object) *profile.Object {
	i := slices.IndexFunc(f.Objects, func(x profile.Object) bool {
		return len(o.WaitedIn) > 0 && x.Name != o.Name && len(x.WaitedIn) > 0 &&
			x.WaitedIn[0].Reason == o.WaitedIn[0].Reason &&
			x.Waits >= fewAnswers && len(x.EndedBy) > 0 && strings.HasPrefix(x.EndedBy[0].Reason, "[")
	})
	if i < 0 {
		return nil
	}
	return &f.Objects[i]
}

// answers are those to requests of one kind, each by a channel of its own.
type answers struct {
	of, until string // the channels, and what is waited for beside them
	all, late int64  // channels that something was sent to, and those of which nothing was received
	gaps      []int64
	given     []trace.Time // when waits were given up
	after     float64      // ns from the beginning of the trace until late answers, all together
}

// worked reports whether the late answers were worked out after their clients had stopped waiting.
// A server that looks sends none to most of these, and an answer whose client stops waiting
// meanwhile is late by less than the work takes. Which answer belongs to which client is not known,
// and makes no difference to the sum of the delays. The last ones to stop waiting may get no answer
// before the run ends.
func (a *answers) worked() bool {
	given := int64(len(a.given))
	if a.late > given || float64(a.late) < (1-fewSkipped)*float64(given) || len(a.gaps) == 0 {
		return false
	}
	slices.Sort(a.given)
	for _, at := range a.given[:a.late] {
		a.after -= float64(at)
	}
	slices.Sort(a.gaps)
	return a.after > float64(a.late)*float64(a.gaps[len(a.gaps)/2])
}

// read finds the answers in the steps of a run.
func (a *answers) read(p *steps.Program) {
	named := func(id steps.ObjectID, name string) bool {
		at := p.Objects[id].Name
		return at >= 0 && p.R.T.Points[at].Name == name
	}
	for g := range p.Gs {
		last := trace.Time(-1)
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			switch o := &p.Objects[s.Obj]; {
			case s.Op == steps.Receive && named(s.Obj, a.until):
				a.given = append(a.given, s.At)
			case s.Op == steps.Send && named(s.Obj, a.of):
				if a.all++; o.Times(steps.Receive) == 0 {
					a.late++
					a.after += float64(s.At)
				}
				if last >= 0 {
					a.gaps = append(a.gaps, int64(s.At-last))
				}
				last = s.At
			}
		}
	}
}
