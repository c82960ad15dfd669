package sim_test

import (
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// op is a step of a goroutine of a test's program.
type op struct {
	name string // of work
	ns   int64
	step steps.Step
	obj  string
}

func do(name string, ns int64) op { return op{name: name, ns: ns} }
func sleep(ns int64) op           { return op{step: steps.Delays(steps.Timer, ns)} }
func operate(o steps.Op, obj string) op {
	return op{step: steps.Step{Kind: steps.Operate, Op: o}, obj: obj}
}
func signal(ch string) op { return operate(steps.Send, ch) }
func wait(ch string) op   { return operate(steps.Receive, ch) }
func lock(mu string) op   { return operate(steps.Lock, mu) }
func unlock(mu string) op { return operate(steps.Unlock, mu) }

// program is one that a test has written down.
type program struct {
	*steps.Program
	names map[steps.StepID]string
}

// write makes a program of goroutines that all begin at 0. It ends when all have.
func write(gs ...[]op) program { return writeWith(nil, gs...) }

// writeWith does so with channels of these capacities; others are unlimited.
func writeWith(caps map[string]int, gs ...[]op) program {
	p := program{&steps.Program{Last: -1, Objects: make([]steps.Object, 1), Tokens: 1}, map[steps.StepID]string{}}
	p.Steps.Add(steps.Step{})
	objects := map[string]steps.ObjectID{}
	for _, ops := range gs {
		g := steps.Goroutine{By: -1}
		last := steps.StepID(0)
		work, name := int64(0), ""
		add := func(s steps.Step) {
			id := steps.StepID(p.Steps.Len())
			s.Work = work
			if work, p.names[id] = 0, name; last == 0 {
				g.First = id
			} else {
				p.Step(last).Next = id
			}
			last = id
			p.Steps.Add(s)
		}
		for _, o := range ops {
			s := o.step
			switch {
			case o.name != "":
				work, name = o.ns, o.name
				s = steps.Step{Kind: steps.Operate, Obj: 0}
			case o.obj != "":
				id, ok := objects[o.obj]
				if !ok {
					id = steps.ObjectID(len(p.Objects))
					objects[o.obj] = id
					capacity, limited := caps[o.obj]
					if !limited {
						capacity = -1
					}
					p.Objects = append(p.Objects, steps.Object{Free: true, Cap: capacity})
				}
				s.Obj = id
			}
			add(s)
			name = ""
		}
		add(steps.Step{Kind: steps.End})
		p.Gs = append(p.Gs, g)
	}
	return p
}

// run is the result of a run: T, and for each name dT by the change of all work of that name.
type ran struct {
	t       float64
	weights map[string]float64 // sums of length and weight
	slopes  map[string]float64 // weights of single pieces, by name
}

func (p program) run(procs int, policy sim.Policy) ran {
	r := sim.Simulate(p.Program, sim.Options{Procs: procs, Policy: policy, Keep: true})
	x := ran{r.T, map[string]float64{}, map[string]float64{}}
	r.Weights(func(step steps.StepID, length, weight float64, delay bool) {
		name := p.names[step]
		if delay {
			name = "delay"
		}
		x.weights[name] += length * weight
		x.slopes[name] += weight
	})
	return x
}
