package advice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// Several goroutines may work on the same question, of which the first answer counts. What the
// others do afterwards is in vain, unless they are stopped.

const (
	// fewQuestions is up to how many channels with answers left over say nothing.
	fewQuestions = 3
	// leftOver is the share of the run, with all processors, that such work takes at least.
	leftOver = 0.05
)

// losers is the work on answers to channels of one name, after the last answer that was received.
type losers struct {
	channels int
	work     int64 // ns
	in       map[trace.PointID]int64
}

// afterAnswers finds goroutines that go on working when the answer is there.
func afterAnswers(f *Facts) (out []Item) {
	if f.Program == nil {
		return nil
	}
	list := f.losers()
	for _, name := range slices.Sorted(maps.Keys(list)) {
		l, o := list[name], f.object(name)
		of := f.Wall * int64(max(1, f.Procs))
		if o == nil || l.channels <= fewQuestions || measure.Ratio(l.work, of) < leftOver || len(l.in) == 0 {
			continue
		}
		most := slices.MaxFunc(slices.Sorted(maps.Keys(l.in)),
			func(a, b trace.PointID) int { return cmp.Compare(l.in[a], l.in[b]) })
		e := f.written(f.Program.R.T.NameOf(most))
		if e == nil {
			continue
		}
		s, gain := about(e), min(f.Wall, int64(beside*float64(l.work)/float64(max(1, f.Procs))))
		out = append(out, Item{ID: "work-after-answer", Claim: "goroutines go on working when the answer is there",
			Subject: s, Change: LessWork, AtMost: gain,
			Evidence: []Fact{ns("work after the last answer that was received", l.work), count("channels", l.channels)},
			Text: fmt.Sprintf("let %s stop when the answer is there, as by the error of the request's context: goroutines worked for %s (%s of the processor time) on answers to %s that came after the last one received. Gain: %s of the run at most",
				at(&s), measure.Time(l.work), measure.Percent(l.work, f.Busy), name,
				measure.Percent(gain, f.Wall))})
	}
	return out
}

// losers are those of a run by the names of the channels.
func (f *Facts) losers() map[string]*losers {
	p, list := f.Program, map[string]*losers{}
	last := map[steps.ObjectID]trace.Time{} // when something was received, of channels with answers left over
	for i := range p.Objects {
		o := &p.Objects[i]
		if n := o.Times(steps.Receive); o.Name >= 0 && 0 < n && n < o.Times(steps.Send) {
			last[steps.ObjectID(i)] = 0
		}
	}
	if len(last) <= fewQuestions {
		return nil
	}
	for id := range steps.StepID(p.Steps.Len()) {
		if s := p.Step(id); s.Op == steps.Receive {
			if _, ok := last[s.Obj]; ok {
				last[s.Obj] = s.At
			}
		}
	}
	for id := range last {
		name := p.R.T.Points[p.Objects[id].Name].Name
		if list[name] == nil {
			list[name] = &losers{in: map[trace.PointID]int64{}}
		}
		list[name].channels++
	}
	for g := range p.Gs {
		from := p.Gs[g].First // the first step of the work on the next answer
		for id := from; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if s.Op != steps.Send {
				continue
			}
			if since, ok := last[s.Obj]; ok && s.At > since {
				list[p.R.T.Points[p.Objects[s.Obj].Name].Name].add(p, from, id, since)
			}
			from = s.Next
		}
	}
	return list
}

// add adds a goroutine's work since a time, by procedure, from one step to another.
func (l *losers) add(p *steps.Program, from, to steps.StepID, since trace.Time) {
	for id := from; ; id = p.Step(id).Next {
		s := p.Step(id)
		if work := min(s.Work, int64(s.At-since)); work > 0 {
			l.work += work
			for _, part := range p.PartsOf(id) {
				if proc := p.R.Contexts.Node(part.Context).Proc; proc != trace.NoPoint {
					l.in[proc] += int64(float64(part.Ns) * measure.Ratio(work, s.Work))
				}
			}
		}
		if id == to {
			return
		}
	}
}
