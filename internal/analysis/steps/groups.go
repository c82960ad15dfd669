package steps

import (
	"cmp"
	"slices"
)

// groups finds WaitGroups whose goroutines are started by their method Go: what it does when they
// end has no probe. They are those in which each operation that adds is followed by a start, and
// none is a Done. When a Join is over all that were added before are done.
func (p *Program) groups() {
	added := make([]int64, len(p.Objects))
	for id := range StepID(p.Steps.Len()) {
		s := p.Step(id)
		if s.Op != Add || p.Objects[s.Obj].ops[Done] > 0 || s.Next == 0 {
			continue
		}
		if next := p.Step(s.Next); next.Kind == Start {
			p.Gs[next.Started()].Done = s.Obj
			added[s.Obj]++
		}
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		o.seen.goes = added[i] > 0 && added[i] == o.ops[Add]
		added[i] = 0
	}
	for i := range p.Gs {
		if g := &p.Gs[i]; !p.Objects[g.Done].seen.goes {
			g.Done = 0
		}
	}
	p.needs(added)
}

// needs finds how many ends each Join of those needs: as many as were added before. added is 0 for
// all.
func (p *Program) needs(added []int64) {
	var joins []StepID // a Join's step may have begun before those that came before its end
	for id := range StepID(p.Steps.Len()) {
		if s := p.Step(id); s.Op == Join && p.Objects[s.Obj].seen.goes {
			joins = append(joins, id)
		}
	}
	slices.SortStableFunc(joins, func(i, j StepID) int { return cmp.Compare(p.Step(i).At, p.Step(j).At) })
	at := 0
	for id := range StepID(p.Steps.Len()) {
		s := p.Step(id)
		if s.Op != Add {
			continue
		}
		for ; at < len(joins) && p.Step(joins[at]).At < s.At; at++ {
			j := p.Step(joins[at])
			j.SetDones(int(added[j.Obj]))
		}
		added[s.Obj]++
	}
	for ; at < len(joins); at++ {
		j := p.Step(joins[at])
		j.SetDones(int(added[j.Obj]))
	}
}
