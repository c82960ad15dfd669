package predict

import (
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// waitNames are the procedures that waited for a timer, the network or the system.
func waitNames(p *steps.Program) []string {
	names := map[string]bool{}
	eachWait(p, func(_ steps.StepID, in string) { names[in] = true })
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// eachWait calls f for all waits for the outside, with the procedure that waited.
func eachWait(p *steps.Program, f func(id steps.StepID, in string)) {
	for g := range p.Gs {
		at := p.Gs[g].Context // as of the last work before
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			if parts := p.PartsOf(id); len(parts) > 0 {
				at = parts[len(parts)-1].Context
			}
			s := p.Step(id)
			if !sim.Outside(s) {
				continue
			}
			in := p.WaitedAt(id).Function
			if in == "" && s.Cause() != steps.Timer {
				in = nameOf(p, at)
			}
			f(id, in)
		}
	}
}

// nameOf is the innermost procedure of a context; empty: there is none with a probe.
func nameOf(p *steps.Program, c replay.ContextID) string {
	if proc := p.R.Contexts.Node(c).Proc; proc >= 0 && int(proc) < len(p.R.T.Points) {
		return p.R.T.Points[proc].Name
	}
	return ""
}

// waits are the options of a run in which a procedure's waits for the outside are scaled.
func waits(p *steps.Program, w *single) (o sim.Options, found bool) {
	is := make([]bool, p.Steps.Len())
	eachWait(p, func(id steps.StepID, in string) {
		if in == w.name {
			is[id], found = true, true
		}
	})
	return sim.Options{Times: sim.Times{Delayed: func(id steps.StepID) float64 {
		if is[id] {
			return w.scale
		}
		return 1
	}}}, found
}

// ticks reports whether most of a procedure's waits are for a ticker.
func (w *single) ticks(p *steps.Program) bool {
	ticks, all := int64(0), int64(0)
	eachWait(p, func(id steps.StepID, in string) {
		if in != w.name {
			return
		}
		s := p.Step(id)
		if all += s.Lasts(); p.Objects[s.Obj].Ticks {
			ticks += s.Lasts()
		}
	})
	return 2*ticks > all
}

// balanced are the options of a run in which all goroutines of a group do as much as their mean.
func balanced(p *steps.Program, w *single) (o sim.Options, found bool) {
	members := w.members(p)
	work := map[steps.G]float64{}
	all := 0.
	for g := range p.Gs {
		group := p.R.Contexts.Node(p.Gs[g].Context).Group
		if group == replay.NoGroup || !slices.Contains(members, p.R.Groups.Member(group)) {
			continue
		}
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			work[steps.G(g)] += float64(p.Step(id).Work)
		}
		all += work[steps.G(g)]
	}
	factor := make([]float64, p.Steps.Len()) // 0: it stays
	for g, own := range work {
		for id := p.Gs[g].First; id != 0 && own > 0; id = p.Step(id).Next {
			factor[id] = all / float64(len(work)) / own
		}
	}
	return sim.Options{Times: sim.Times{Length: func(id steps.StepID) float64 {
		ns := float64(p.Step(id).Work)
		if factor[id] > 0 {
			ns *= factor[id]
		}
		return ns
	}}}, len(work) > 1 && all > 0
}
