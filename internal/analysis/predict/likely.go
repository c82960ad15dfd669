package predict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// mostLikely is how many procedures are changed without being asked for, and by how much.
const mostLikely = 3

// likelyFrom is the share of the run that a procedure is worth at least to be changed.
const likelyFrom = 0.01

var likelyShares = []string{"-10%", "-25%", "-50%"}

// largeSteps is from how many steps on a report makes no predictions, and manySteps from how many
// one share must do.
const (
	largeSteps = 2e6
	manySteps  = 3e5
)

// likely are changes of the procedures whose own work is worth most on the recorded number of
// processors, or, if requests are asked for, is most of theirs.
func likely(p *steps.Program, policy sim.Policy, w *sim.Watch) (list []WhatIf) {
	worth, all := map[trace.PointID]float64{}, 0.
	add := func(step steps.StepID, weight float64) {
		for _, part := range p.PartsOf(step) {
			for _, s := range p.Shares(part.Context) {
				if s.Proc != trace.NoPoint && !p.R.IsSystem(s.Proc) {
					worth[s.Proc] += float64(part.Ns) * weight * s.Share
				}
			}
		}
	}
	if w != nil { // by the work within requests
		for _, q := range w.Of {
			for id := p.Step(q.Begin).Next; id != 0; id = p.Step(id).Next {
				add(id, 1)
				if all += float64(p.Step(id).Work); id == q.End || p.Step(id).At > p.Step(q.End).At {
					break
				}
			}
		}
	} else {
		run, _ := sim.SimulateWeighed(p, sim.Options{Procs: p.Procs, Policy: policy})
		all = run.T
		run.Weights(func(step steps.StepID, length, weight float64, delay bool) {
			if !delay {
				add(step, weight*length/float64(max(p.Step(step).Work, 1)))
			}
		})
	}
	procs := slices.SortedFunc(maps.Keys(worth), func(a, b trace.PointID) int {
		return cmp.Or(cmp.Compare(worth[b], worth[a]), cmp.Compare(a, b))
	})
	shares := likelyShares
	if p.Steps.Len() > manySteps {
		shares = shares[1:2]
	}
	for _, proc := range procs[:min(len(procs), mostLikely)] {
		for _, share := range shares {
			if w, err := ParseWhatIf("self:" + p.R.T.Points[proc].Name + "=" + share); err == nil &&
				worth[proc] > likelyFrom*all {
				list = append(list, w)
			}
		}
	}
	return append(list, likelyObjects(p)...)
}

// waitedFrom is the share of the run that goroutines must have waited for something, all together,
// to see what less of it would gain.
const waitedFrom = 0.05

// Crowd is something with a name that goroutines waited for.
type Crowd struct {
	Name   string
	Change string // with which they would wait less, as for [ParseWhatIf]
	Cap    int    // of a channel or semaphore, 0: it is a lock
	Waited int64  // ns, all together
}

// Crowds are those for which goroutines waited longest.
func Crowds(p *steps.Program) (list []Crowd) {
	waited, ops := make([]int64, len(p.Objects)), make([]steps.Op, len(p.Objects))
	for g := range p.Gs {
		at := p.Gs[g].Created
		for id := p.Gs[g].First; id != 0; {
			s := p.Step(id)
			if s.Kind == steps.Take && s.Obj != 0 && crowds(s.Op) {
				waited[s.Obj] += int64(s.At-at) - s.Work
				ops[s.Obj] = s.Op
			}
			at, id = s.At, s.Next
		}
	}
	all := map[string]*Crowd{}
	for obj, op := range ops {
		if c, ok := crowd(p, steps.ObjectID(obj), op); ok {
			if all[c.Change] == nil {
				all[c.Change] = &c
			}
			all[c.Change].Waited += waited[obj]
		}
	}
	for _, c := range slices.SortedFunc(maps.Values(all), func(a, b *Crowd) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Change, b.Change))
	}) {
		if float64(c.Waited) < waitedFrom*float64(p.End) || len(list) == mostLikely {
			break
		}
		list = append(list, *c)
	}
	return list
}

// crowds reports whether goroutines that wait in an operation may be a crowd.
func crowds(op steps.Op) bool {
	return op == steps.Lock || op == steps.RLock || op == steps.Send || op == steps.Acquire
}

// crowd is an object of such waits, if there is a change that would make them shorter.
func crowd(p *steps.Program, obj steps.ObjectID, op steps.Op) (c Crowd, ok bool) {
	o := &p.Objects[obj]
	if !crowds(op) || o.Name == trace.NoPoint {
		return c, false
	}
	c.Name = p.R.T.Points[o.Name].Name
	switch op {
	case steps.Lock, steps.RLock:
		c.Change = "hold:" + c.Name + "=-50%"
		return c, true
	default:
		if o.Free && o.Cap > 0 {
			c.Cap, c.Change = o.Cap, fmt.Sprintf("cap:%s=%d", c.Name, 2*o.Cap)
			return c, true
		}
	}
	return c, false
}

// likelyObjects are changes of the objects with the longest waits: half the time under a lock,
// twice as much room in a channel or semaphore, twice as many workers that take from a channel.
func likelyObjects(p *steps.Program) (list []WhatIf) {
	for _, c := range Crowds(p) {
		if w, err := ParseWhatIf(c.Change); err == nil && w.Check(p) == nil {
			list = append(list, w)
		}
	}
	return append(list, likelyWorkers(p)...)
}

// likelyWorkers is twice as many goroutines of the kind that is a pool of workers and has most of
// them.
func likelyWorkers(p *steps.Program) (list []WhatIf) {
	counts := map[string]int{}
	for g := range p.Gs {
		if group := p.R.Contexts.Node(p.Gs[g].Context).Group; group != replay.NoGroup && !p.Gs[g].System {
			counts[p.R.Groups.Origin(group).Name]++
		}
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a,
		b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), mostLikely)] {
		if counts[name] < 2 || counts[name] > mostOf/2 {
			continue
		}
		if w, err := ParseWhatIf(fmt.Sprintf("%s%s=%d", workersPrefix, name, 2*counts[name])); err == nil &&
			w.Check(p) == nil {
			return append(list, w)
		}
	}
	return nil
}
