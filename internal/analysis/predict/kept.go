package predict

import (
	"fmt"
	"path/filepath"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Waits for objects whose operations were seen in part end as they did in the recorded run. A
// change of the program may end them earlier, and let goroutines wait that did not. So gains are
// computed under other assumptions about these objects, too, and are given only if they are nearly
// the same.

// kept are the other assumptions; none if operations determine all waits.
func kept(p *steps.Program) (list []sim.Kept) {
	any, loose := false, false
	for i := range p.Objects {
		o := &p.Objects[i]
		any = any || o.IsKept()
		loose = loose || o.IsKept() && o.AnyReleases()
	}
	if !any || p.Steps.Len() > largeSteps {
		return nil
	}
	if turns := sim.NewTurns(p); turns != nil {
		list = append(list, sim.Kept{Turns: turns})
	}
	if loose {
		list = append(list, sim.Kept{Loose: true})
	}
	return list
}

// asRecorded is how often goroutines waited for something whose operations do not decide who waits,
// as for a condition: in computed runs these waits end as they did. It is 0 if that is seldom.
func asRecorded(p *steps.Program) (n uint64) {
	for g := range p.Gs {
		if p.Gs[g].System {
			continue
		}
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if s.Kind == steps.Take && s.Token() != 0 && !p.Objects[s.Obj].Free && !p.Reads(s) {
				n++
			}
		}
	}
	if n <= mostAsRecorded {
		return 0
	}
	return n
}

// mostAsRecorded is how many such waits mean little: programs start and end with some.
const mostAsRecorded = 10

// lacking says which operations on an object were not seen.
func lacking(p *steps.Program, id steps.ObjectID) string {
	names := map[string]bool{}
	for _, at := range p.Objects[id].Names() {
		names[p.R.T.Points[at].Name] = true
	}
	name := p.R.T.Points[p.Objects[id].Name].Name
	counted, hits, most := uint64(0), uint64(0), (*trace.Point)(nil)
	for i := range p.R.T.Points {
		pt := &p.R.T.Points[i]
		switch {
		case !names[pt.Name]:
		case pt.Flags&spec.FlagUnseen != 0:
			return fmt.Sprintf("an operation on %s has no probe (%s)", name, where(pt))
		case pt.Kind == spec.PointSync:
			hits += p.R.T.Hits(trace.PointID(i)).Shown()
			if counted += p.R.T.Degraded(trace.PointID(i)); most == nil || pt.Degraded() > most.Degraded() {
				most = pt
			}
		}
	}
	if counted > 0 {
		return fmt.Sprintf("%d of %d operations on %s were only counted (%s; QINST=kind:sync=trace records all)",
			counted, hits, name, where(most))
	}
	return fmt.Sprintf("not all operations on %s were seen", name)
}

func where(pt *trace.Point) string { return fmt.Sprintf("%s:%d", filepath.Base(pt.File), pt.Line) }
