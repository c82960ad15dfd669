package critpath

import (
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// entry is the number of an entry.
func (b *builder) entry(l line) int {
	i, ok := b.index[l]
	if ok {
		return i
	}
	i = len(b.res.Entries)
	b.index[l] = i
	b.res.Entries = append(b.res.Entries, b.named(l))
	b.lines = append(b.lines, l)
	b.sums = append(b.sums, sums{})
	return i
}

// delayOf is the line of a step's delay.
func (b *builder) delayOf(step steps.StepID) line {
	switch {
	case step == 0 && b.options.Policy == sim.Go: // a processor was woken
		return line{KindWait, int64(steps.WakeUp)}
	case step == 0:
		return line{KindWait, int64(steps.Unknown)}
	}
	if b.p.Step(step).Kind == steps.Take { // what another goroutine wrote
		return line{KindWait, int64(steps.Network)}
	}
	return line{KindWait, int64(b.p.Step(step).Cause())}
}

// named is a new entry with the names that profiles have.
func (b *builder) named(l line) Entry {
	t := b.r.T
	switch l.kind {
	case KindWait:
		c := steps.Cause(l.of).String()
		return Entry{ID: "wait:" + c, Kind: KindWait, Name: "[" + c + "]"}
	case KindGoroutine:
		g := b.r.Groups.Group(replay.GroupID(l.of))
		e := Entry{ID: "go:" + g.Func + "<", Kind: KindGoroutine, Name: b.r.Groups.Origin(replay.GroupID(l.of)).Name}
		if g.Creator != trace.NoPoint {
			e.ID += t.Points[g.Creator].Name
		}
		if g.Named {
			e.ID = "name:" + g.Func
		}
		return e
	case KindRegion:
		name := b.regions[l.of]
		return Entry{ID: "region:" + name, Kind: KindRegion, Name: name}
	case KindSync:
		p := &t.Points[l.of]
		return Entry{ID: "sync:" + p.Name, Kind: KindSync, Name: p.Name, File: p.File, Line: p.Line}
	}
	if trace.PointID(l.of) == trace.NoPoint {
		return Entry{ID: noProcedure, Kind: KindProc, Name: "[no procedure]"}
	}
	p := &t.Points[l.of]
	e := Entry{ID: fmt.Sprintf("%016x", p.ID), Kind: l.kind, Name: t.NameOf(trace.PointID(l.of)), File: p.File,
		Line: p.Line}
	if b.r.IsSystem(trace.PointID(l.of)) {
		e.ID = p.Name
	}
	return e
}

// seen are the entries of a context's loops and of its group of goroutines.
func (b *builder) seen(c replay.ContextID) []int {
	for int(c) >= len(b.views) {
		b.views = append(b.views, nil)
	}
	if b.views[c] != nil {
		return b.views[c]
	}
	node := b.r.Contexts.Node(c)
	views := []int{}
	for set := node.Set; set != 0; set = b.r.Sets.Parent(set) {
		if p := b.r.Sets.Last(set).Point(); p >= 0 && int(p) < len(b.r.T.Points) &&
			b.r.T.Points[p].Kind == spec.PointLoop {
			views = append(views, b.entry(line{KindLoop, int64(p)}))
		}
	}
	if node.Group != replay.NoGroup {
		views = append(views, b.entry(line{KindGoroutine, int64(node.Group)}))
	}
	b.views[c] = views
	return views
}

func newHolds(b *builder) *holds {
	h := &holds{sets: [][]int{nil}}
	index, single := map[string]int32{}, map[steps.ObjectID]int32{}
	begins, ends := b.regionSteps()
	for g := range b.p.Gs {
		var objects []steps.ObjectID // that it holds
		var regions []int            // entries of those that it is in
		set := int32(0)
		for id := b.p.Gs[g].First; id != 0; id = b.p.Step(id).Next {
			if set != 0 {
				h.steps[id] = set
			}
			s := b.p.Step(id)
			switch {
			case s.Kind == steps.Operate && s.Obj == 0 && len(begins) > 0 && b.atRegion(id, begins, ends, &regions):
			case s.Op == steps.Lock || s.Op == steps.RLock:
				objects = append(objects, s.Obj)
			case s.Op == steps.Unlock || s.Op == steps.RUnlock:
				objects = remove(objects, s.Obj)
			default:
				continue
			}
			if h.steps == nil {
				h.steps = steps.MakeLarge[int32](b.p.Steps.Len())
			}
			if len(objects) != 1 || len(regions) > 0 {
				set = h.set(b, index, objects, regions)
				continue
			}
			var known bool
			if set, known = single[objects[0]]; !known {
				set = h.set(b, index, objects, nil)
				single[objects[0]] = set
			}
		}
	}
	return h
}

// regionSteps are the steps with which regions began and ended, and their entries.
func (b *builder) regionSteps() (begins, ends map[steps.StepID]int) {
	begins, ends = map[steps.StepID]int{}, map[steps.StepID]int{}
	index := map[string]int{}
	for i := range b.p.Requests {
		q := &b.p.Requests[i]
		if q.Kind != steps.RequestRegion {
			continue
		}
		n, ok := index[q.Name]
		if !ok {
			n = len(b.regions)
			index[q.Name] = n
			b.regions = append(b.regions, q.Name)
		}
		entry := b.entry(line{KindRegion, int64(n)})
		begins[q.Begin], ends[q.End] = entry, entry
	}
	return begins, ends
}

// atRegion lets a step begin or end a region, and reports whether it does.
func (b *builder) atRegion(id steps.StepID, begins, ends map[steps.StepID]int, regions *[]int) bool {
	entry, in := begins[id]
	if in {
		*regions = append(*regions, entry)
		return true
	}
	entry, out := ends[id]
	if out {
		*regions = remove(*regions, entry)
	}
	return out
}

// remove takes the last one that is x from a list.
func remove[T comparable](list []T, x T) []T {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == x {
			return slices.Delete(list, i, i+1)
		}
	}
	return list
}

// set is the number of a set of entries.
func (h *holds) set(b *builder, index map[string]int32, objects []steps.ObjectID, regions []int) int32 {
	if len(regions) == 0 && len(objects) == 0 {
		return 0
	}
	list := slices.Clone(regions)
	for _, o := range objects {
		if name := b.p.Objects[o].Name; name != trace.NoPoint {
			list = append(list, b.entry(line{KindSync, int64(b.p.NamedBy(name))}))
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	key := fmt.Sprint(list)
	n, ok := index[key]
	if !ok {
		n = int32(len(h.sets))
		index[key] = n
		h.sets = append(h.sets, list)
	}
	return n
}

// waits adds up how long goroutines waited for locks.
func (b *builder) waits() {
	for obj, ns := range b.waited {
		name := b.p.Objects[obj].Name
		if obj == 0 || name == trace.NoPoint {
			continue
		}
		if i, ok := b.index[line{KindSync, int64(b.p.NamedBy(name))}]; ok {
			b.res.Entries[i].Waited += ns
		}
	}
}

// under are the entries of the locks and regions in which the work of a step was done.
func (h *holds) under(s steps.StepID) []int {
	if h.steps == nil {
		return nil
	}
	return h.sets[h.steps[s]]
}
