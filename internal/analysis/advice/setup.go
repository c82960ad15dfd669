package advice

import (
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// setUpFrom is the least gain, as a share of the run, that makes serial preparation worth a
// numbered line.
const setUpFrom = 0.1

// setUp makes a remark of a conclusion about work that a program does before it starts other
// goroutines, unless much is gained by dividing it: all programs have some, and in a longer run it
// is less.
func (f *Facts) setUp(it *Item, e *profile.Entry) {
	if it.Gain == nil {
		f.gain(it)
	}
	if it.Gain == nil || float64(it.Gain.Ns) >= setUpFrom*float64(f.Wall) || !f.prepares(e) {
		return
	}
	it.Remark = true
	it.Text = "Before it starts other goroutines the program works in " + at(&it.Subject) + ", for " +
		measure.Percent(e.CallBusy, f.Wall) + " of the run."
}

// prepares reports whether nearly all work of an entry is the main goroutine's before it starts
// another one.
func (f *Facts) prepares(e *profile.Entry) bool {
	p := f.Program
	if p == nil {
		return false
	}
	t, main := p.R.T, steps.NoG
	for g := range p.Gs {
		if x := &p.Gs[g]; !x.System && x.By != steps.NoG && p.Gs[x.By].By == steps.NoG {
			main = x.By
			break
		}
	}
	point := trace.NoPoint
	for i := range t.Points {
		if id := trace.PointID(i); t.Points[i].Kind == e.Kind && t.NameOf(id) == e.Name {
			point = id
		}
	}
	if main == steps.NoG || point == trace.NoPoint {
		return false
	}
	early := int64(0)
	for id := p.Gs[main].First; id != 0; id = p.Step(id).Next {
		for _, part := range p.PartsOf(id) {
			if p.R.Sets.Has(p.R.Contexts.Node(part.Context).Set, replay.ProcMember(point)) {
				early += part.Ns
			}
		}
		if s := p.Step(id); s.Kind == steps.Start && !p.Gs[s.Started()].System {
			break
		}
	}
	return 10*early >= 8*e.CallBusy
}
