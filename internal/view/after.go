package view

import (
	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// after is how many processors would be busy with the change of a conclusion, by procedure, in one
// computed run; nil: it cannot be computed, or is not the run that the gain promises. Work that is
// divided is computed as less work, and the rest of it is not in that run.
func (v *View) after(it *advice.Item, from, to trace.Time, parts int) *Band {
	if it.WhatIf == "" || it.Gain == nil || v.facts.Gains == nil {
		return nil
	}
	v.asking.Lock()
	defer v.asking.Unlock()
	run, err := v.facts.Gains.Run(it.WhatIf)
	if run == nil || err != nil {
		return nil
	}
	if gain := int64(v.tracks.end) - int64(run.T); gain < it.Gain.Low || gain > it.Gain.High {
		return nil
	}
	p := v.facts.Program
	a := newArea(from, to, parts)
	run.Each(func(step steps.StepID, g steps.G, from, to float64, delay bool) {
		if !delay {
			a.add(procedureOf(p, step), trace.Time(from), trace.Time(to), 1)
		}
	})
	names := make([]string, len(p.R.T.Points)+1)
	for i := range p.R.T.Points {
		names[i+1] = p.R.T.Points[i].Name
	}
	names[0] = "[no procedure]"
	return a.band("after", "the same with this change, computed", names)
}

// procedureOf is the procedure that does most of a step's work, as a number of its point from 1 on;
// 0: none does.
func procedureOf(p *steps.Program, step steps.StepID) uint32 {
	most, of := 0., uint32(0)
	for _, part := range p.PartsOf(step) {
		for _, s := range p.Shares(part.Context) {
			if ns := float64(part.Ns) * s.Share; ns > most {
				if most, of = ns, 0; s.Proc != trace.NoPoint {
					of = uint32(s.Proc) + 1
				}
			}
		}
	}
	return of
}
