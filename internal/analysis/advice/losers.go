package advice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// Several goroutines may work on the same question, of which the first answer counts. What the
// others do afterwards is in vain, unless they are stopped.

const (
	// fewQuestions is up to how many channels with answers left over say nothing.
	fewQuestions = 3
	// leftOver is the share of the run, with all processors, that such work takes at least: what
	// looks whether it is to stop does so only now and then.
	leftOver = 0.1
)

// losers is the work on answers to channels of one name, after the last answer that was received.
type losers struct {
	channels map[steps.ObjectID]bool
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
		if o == nil || o.Degraded > 0 || len(l.channels) <= fewQuestions || len(l.in) == 0 ||
			measure.Ratio(l.work, of) < leftOver {
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
			Evidence: []Fact{ns("work on answers that were not received, after those that were", l.work),
				count("channels", len(l.channels))},
			Text: fmt.Sprintf("let %s stop when the answer is there, as by the error of the request's context: goroutines worked for %s (%s of the processor time) on answers to %s that were never received. Gain: %s of the run at most",
				at(&s), measure.Time(l.work), measure.Percent(l.work, f.Busy), name,
				measure.Percent(gain, f.Wall))})
	}
	return out
}

// losers are those of a run by the names of the channels.
func (f *Facts) losers() map[string]*losers {
	p, list := f.Program, map[string]*losers{}
	for i := range p.Objects {
		o := &p.Objects[i]
		if n := o.Times(steps.Receive); o.Name >= 0 && 0 < n && n < o.Times(steps.Send) {
			list[p.R.T.Points[o.Name].Name] = &losers{in: map[trace.PointID]int64{}}
		}
	}
	if len(list) == 0 {
		return nil
	}
	of := func(s *steps.Step) *losers {
		if at := p.Objects[s.Obj].Name; at >= 0 {
			return list[p.R.T.Points[at].Name]
		}
		return nil
	}
	last, answered := map[steps.ObjectID]trace.Time{}, map[steps.G][]steps.ObjectID{}
	for g := range p.Gs {
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			if s := p.Step(id); s.Op == steps.Receive && of(s) != nil {
				if _, again := last[s.Obj]; !again {
					answered[steps.G(g)] = append(answered[steps.G(g)], s.Obj)
				}
				last[s.Obj] = max(last[s.Obj], s.At)
			}
		}
	}
	kinds := map[replay.GroupID]*losers{} // of goroutines that sent answers which were left over
	var cut []steps.G                     // that sent nothing until the end of the run
	for g := range p.Gs {
		from := p.Gs[g].First // the first step of the work on the next answer
		end, sent := steps.StepID(0), false
		for id := from; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if end = id; s.Op != steps.Send {
				continue
			}
			if since, ok := last[s.Obj]; ok && s.At > since {
				l := of(s)
				l.add(p, s.Obj, from, id, since)
				kinds[p.R.Contexts.Node(p.Gs[g].Context).Group] = l
			}
			from, sent = s.Next, true
		}
		if end != 0 && p.Step(end).Kind != steps.End && !sent {
			cut = append(cut, steps.G(g))
		}
	}
	for _, g := range cut {
		x := &p.Gs[g]
		l := kinds[p.R.Contexts.Node(x.Context).Group]
		for _, id := range answered[x.By] {
			if since := last[id]; l != nil && since > x.Created {
				l.add(p, id, x.First, 0, since)
				break
			}
		}
	}
	return list
}

// add adds a goroutine's work since a time, by procedure, from one step to another, or to its last.
func (l *losers) add(p *steps.Program, of steps.ObjectID, from, to steps.StepID, since trace.Time) {
	if l.channels == nil {
		l.channels = map[steps.ObjectID]bool{}
	}
	l.channels[of] = true
	for id := from; id != 0; id = p.Step(id).Next {
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
