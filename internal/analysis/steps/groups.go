package steps

import (
	"cmp"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// groups finds WaitGroups whose operations Done are the ends of goroutines, although not all of
// them were seen: of those that their method Go starts no such operation has a probe, and of many
// goroutines most are only counted.
func (p *Program) groups() {
	p.started()
	p.counted()
	p.awaited()
	p.needs()
}

// started finds WaitGroups in which each operation that adds is followed by a start, and none is a
// Done.
func (p *Program) started() {
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
	}
	for i := range p.Gs {
		if g := &p.Gs[i]; !p.Objects[g.Done].seen.goes {
			g.Done = 0
		}
	}
}

// counted finds further WaitGroups with which some goroutines, and only these, are done when they
// end: those whose function has an operation Done, if there are as many of them as such operations,
// and those that procedures start by the method Go, if these are all others that were added.
func (p *Program) counted() {
	dones, adds, estimated := p.pointsOf(spec.OpDone), p.pointsOf(spec.OpAdd), p.estimated()
	named := map[string][]ObjectID{}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Name != trace.NoPoint {
			name := p.R.T.Points[o.Name].Name
			named[name] = append(named[name], ObjectID(i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		list, done, add := named[name], dones[name], adds[name]
		o := &p.Objects[list[0]]
		if len(list) != 1 || len(add) == 0 || estimated[name] || o.seen.goes || !o.seen.counted && len(done) > 0 {
			continue
		}
		members, ok := p.members(done, hits(done), func(g *replay.Group, owner trace.PointID) bool {
			return g.Func == p.R.T.Points[owner].Name
		})
		if all := hits(add); ok && all > hits(done) {
			var more []G
			if more, ok = p.members(add, all-hits(done), func(g *replay.Group, owner trace.PointID) bool {
				return g.Creator == owner && !slices.ContainsFunc(done,
					func(pt *trace.Point) bool { return g.Func == p.R.T.Points[pt.Owner].Name })
			}); ok {
				members = append(members, more...)
			}
		}
		if ok {
			p.doneBy(list[0], members)
		}
	}
}

func hits(points []*trace.Point) (n uint64) {
	for _, pt := range points {
		n += pt.Hits
	}
	return n
}

// pointsOf are the points of an operation that were reached, by name.
func (p *Program) pointsOf(op string) map[string][]*trace.Point {
	found := map[string][]*trace.Point{}
	for i := range p.R.T.Points {
		if pt := &p.R.T.Points[i]; pt.Op == op && pt.Hits > 0 {
			found[pt.Name] = append(found[pt.Name], pt)
		}
	}
	return found
}

// estimated are the names of objects whose numbers of operations are not exact.
func (p *Program) estimated() map[string]bool {
	names := map[string]bool{}
	for i := range p.R.T.Points {
		if pt := &p.R.T.Points[i]; pt.Kind == spec.PointSync && !p.R.T.Hits(trace.PointID(i)).Exact() {
			names[pt.Name] = true
		}
	}
	return names
}

// members are the goroutines of which a procedure with some of the points is told, and whether
// there are n of them, none of which belongs to another WaitGroup. If one group has n goroutines it
// is that.
func (p *Program) members(points []*trace.Point, n uint64,
	of func(g *replay.Group, owner trace.PointID) bool) (members []G, ok bool) {
	ours, only := map[replay.GroupID]bool{}, replay.NoGroup
	for _, pt := range points {
		if pt.Owner == trace.NoPoint || pt.Flags&spec.FlagUnseen != 0 {
			return nil, false
		}
		for id := range replay.GroupID(p.R.Groups.Len()) {
			if g := p.R.Groups.Group(id); of(g, pt.Owner) {
				ours[id] = true
				if g.Count == n {
					only = id
				}
			}
		}
	}
	if only != replay.NoGroup {
		ours = map[replay.GroupID]bool{only: true}
	}
	for i := range p.Gs {
		if group := p.R.Contexts.Node(p.Gs[i].Context).Group; group == replay.NoGroup || !ours[group] {
			continue
		} else if p.Gs[i].Done != 0 {
			return nil, false
		}
		members = append(members, G(i))
	}
	return members, uint64(len(members)) == n
}

// doneBy lets some goroutines be done with a WaitGroup when they end, unless those whose operation
// was seen go on after it.
func (p *Program) doneBy(id ObjectID, members []G) {
	var steps []StepID // of those operations that were seen
	work, after := int64(0), int64(0)
	for _, g := range members {
		done, last := false, StepID(0)
		for at := p.Gs[g].First; at != 0; at = p.Step(at).Next {
			s := p.Step(at)
			work += s.Work
			if done {
				after += s.Work
			}
			if s.Obj == id && s.Op == Done {
				done, steps = true, append(steps, at)
			}
			last = at
		}
		if p.Step(last).Kind != End {
			return // it may be done, and go on
		}
	}
	if len(members) == 0 || float64(after) > afterDone*float64(work) {
		return
	}
	for _, at := range steps {
		p.Step(at).Op = NoOp
	}
	for _, g := range members {
		p.Gs[g].Done = id
	}
	o := &p.Objects[id]
	o.ops[Done], o.seen.goes, o.seen.counted = 0, true, false
}

// needs finds how many ends each Join of those needs: of all goroutines that were created before it
// was over.
func (p *Program) needs() {
	created := make([][]trace.Time, len(p.Objects))
	for i := range p.Gs {
		if id := p.Gs[i].Done; id != 0 {
			created[id] = append(created[id], p.Gs[i].Created)
		}
	}
	for id := range StepID(p.Steps.Len()) {
		s := p.Step(id)
		if s.Op != Join || !p.Objects[s.Obj].seen.goes {
			continue
		}
		n, _ := slices.BinarySearchFunc(created[s.Obj], s.At, cmp.Compare)
		s.SetDones(n)
	}
}
