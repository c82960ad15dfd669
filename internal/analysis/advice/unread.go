package advice

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
)

// Who asks for something may stop waiting for the answer, as at a deadline. The answer is worked
// out all the same unless who works looks first, and nobody receives it.

// fewAnswers is up to how many answers say nothing.
const fewAnswers = 20

// unread finds channels with answers that come too late.
func unread(f *Facts) (out []Item) {
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Kind != "channel" || o.Objects < fewAnswers || o.Degraded > 0 || len(o.EndedBy) == 0 || !f.givesUp(o) {
			continue
		}
		by := f.written(o.EndedBy[0].Reason)
		late, all := f.late(o.Name)
		part := measure.Ratio(late, all)
		if by == nil || all < fewAnswers || part < surelyGains {
			continue
		}
		most := int64(part * float64(min(f.Wall, o.Wait)))
		out = append(out, Item{ID: "late-answers", Claim: "nobody waits any more for what is worked out", Subject: about(by),
			Change: LessWork, AtMost: most,
			Evidence: []Fact{count("answers that nobody received", late), count("of", all)},
			Text: fmt.Sprintf("let %s look, before it works, whether somebody still waits, as by the error of the request's context: %s of %s answers that were sent to %s were never received, since %s had stopped waiting. Gain: %s of the run at most",
				at(new(about(by))), measure.Count(late), measure.Count(all), o.Name, o.WaitedIn[0].Reason,
				measure.Percent(most, f.Wall))})
	}
	return out
}

// givesUp reports whether who waits for a channel may go on with something that no goroutine of the
// program does.
func (f *Facts) givesUp(o *profile.Object) bool {
	return len(o.WaitedIn) > 0 && slices.ContainsFunc(f.Objects, func(x profile.Object) bool {
		return x.Name != o.Name && len(x.WaitedIn) > 0 && x.WaitedIn[0].Reason == o.WaitedIn[0].Reason &&
			x.Waits >= fewAnswers && len(x.EndedBy) > 0 && strings.HasPrefix(x.EndedBy[0].Reason, "[")
	})
}

// late is how many channels of a name had something sent and nothing received, and to how many
// something was sent.
func (f *Facts) late(name string) (late, all int64) {
	if f.Program == nil {
		return 0, 0
	}
	for i := range f.Program.Objects {
		o := &f.Program.Objects[i]
		if o.Name < 0 || f.Program.R.T.Points[o.Name].Name != name || o.Times(steps.Send) == 0 {
			continue
		}
		if all++; o.Times(steps.Receive) == 0 {
			late++
		}
	}
	return late, all
}
