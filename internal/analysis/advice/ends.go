package advice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// Workers that start together may end at different times, as where the largest part is taken last.
// If they mostly wait for the outside, that shows in no processor's time.

const (
	// mostTogether is how many goroutines that wait make a pool, at most.
	mostTogether = 256
	// unequalEnds is the share of the run by which the last one ends after the average, at least.
	unequalEnds = 0.1
)

// unequalEndings finds kinds of goroutines of which the last one goes on alone, and waits.
func unequalEndings(f *Facts) (out []Item) {
	if f.Path == nil || f.Program == nil || f.Served != "" {
		return nil
	}
	for group, team := range f.teams() {
		i := slices.IndexFunc(f.Entries, func(e profile.Entry) bool {
			return isProgram(&e) && e.Name == f.Program.R.Groups.Group(group).Func && e.Calls == uint64(len(team))
		})
		if i < 0 {
			continue
		}
		later, waits := f.lastOf(team)
		if measure.Ratio(later, f.Wall) < unequalEnds || 2*waits < later {
			continue
		}
		e := &f.Entries[i]
		out = append(out, Item{ID: "unequal-waits", Claim: "one goroutine of a kind goes on when the others have ended",
			Subject: about(e), Change: Balance, AtMost: later,
			Evidence: []Fact{count("goroutines", len(team)), ns("the last one ends after the average", later)},
			Text: fmt.Sprintf("let the %s goroutines %s begin with the largest items, or divide these: the last one ends %s after the average, and waits meanwhile. Gain: %s of the run at most",
				measure.Count(len(team)), e.Name, measure.Time(later), measure.Percent(later, f.Wall))})
	}
	slices.SortFunc(out, func(a, b Item) int { return cmp.Compare(a.Subject.ID, b.Subject.ID) })
	return out
}

// teams are the kinds of goroutines that were all started together.
func (f *Facts) teams() map[replay.GroupID][]steps.G {
	p, teams := f.Program, map[replay.GroupID][]steps.G{}
	for g := range p.Gs {
		x := &p.Gs[g]
		if group := p.R.Contexts.Node(x.Context).Group; !x.System && x.By != steps.NoG && group != replay.NoGroup {
			teams[group] = append(teams[group], steps.G(g))
		}
	}
	maps.DeleteFunc(teams, func(_ replay.GroupID, list []steps.G) bool {
		first, last := p.Gs[list[0]].Created, p.Gs[list[len(list)-1]].Created
		return len(list) < 2 || len(list) > mostTogether || float64(last-first) > unequalEnds/2*float64(f.Wall)
	})
	return teams
}

// lastOf is how long the last goroutine of a team ends after the average, and how long it waits
// meanwhile for what is outside of the program, in ns; 0: some have no end.
func (f *Facts) lastOf(team []steps.G) (later, waits int64) {
	p := f.Program
	var ends []trace.Time
	for _, g := range team {
		end := trace.Time(-1)
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			if s := p.Step(id); s.Kind == steps.End {
				end = s.At
			}
		}
		if end < 0 {
			return 0, 0
		}
		ends = append(ends, end)
	}
	last := slices.Index(ends, slices.Max(ends))
	for _, at := range ends {
		later += int64(ends[last] - at)
	}
	later /= int64(len(ends))
	for id := p.Gs[team[last]].First; id != 0; id = p.Step(id).Next {
		if s := p.Step(id); int64(ends[last]-s.At) < later && s.Kind == steps.Delay {
			waits += s.Lasts()
		}
	}
	return later, waits
}
