package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// pipeline is a chain of stages, each a goroutine, with a channel between two.
type pipeline struct {
	items [][]int64 // by stage: how long it works on each
	caps  []int     // of the channel behind each stage but the last
	procs int
}

func randomPipeline(r *rand.Rand) (p pipeline) {
	p.procs = 1 + r.IntN(4)
	stages, items := 1+r.IntN(5), 200+r.IntN(200)
	for s := range stages {
		mean := 2000 + r.Int64N(30_000)
		list := make([]int64, items)
		for i := range list {
			list[i] = mean/2 + r.Int64N(mean)
		}
		p.items = append(p.items, list)
		if s < stages-1 {
			p.caps = append(p.caps, []int{0, 1, 4, 16, 64}[r.IntN(5)])
		}
	}
	return p
}

// program is the pipeline as steps.
func (p *pipeline) program() program {
	caps := map[string]int{}
	var gs [][]op
	for s, list := range p.items {
		var ops []op
		for _, ns := range list {
			if s > 0 {
				ops = append(ops, wait(fmt.Sprint("c", s-1)))
			}
			ops = append(ops, do(fmt.Sprint("s", s), ns))
			if s < len(p.items)-1 {
				ops = append(ops, signal(fmt.Sprint("c", s)))
			}
		}
		gs = append(gs, ops)
	}
	for i, n := range p.caps {
		caps[fmt.Sprint("c", i)] = n
	}
	return writeWith(caps, gs...)
}

// stage is the state of one in a run by brute force.
type stage struct {
	item     int     // at hand
	left     float64 // of its work
	has      bool    // the item
	sent     int
	received int
	waits    bool
	on       bool // a processor
	rank     int  // among those that could run, by when they could
}

// run computes a run by brute force: it looks at all stages after each event.
func (p *pipeline) run(share bool, scale func(stage int) float64) (t float64) {
	n := len(p.items)
	st, items, rank := make([]stage, n), len(p.items[0]), 0
	room := func(s int) bool { // behind stage s, for what it has done
		if p.caps[s] > 0 || st[s+1].waits && !st[s+1].has {
			return st[s].sent-st[s+1].received < max(p.caps[s], 1)
		}
		return false
	}
	for i := range st {
		st[i] = stage{rank: i, waits: i > 0, has: i == 0}
		if i == 0 {
			st[i].left = float64(p.items[0][0]) * scale(0)
		}
	}
	for {
		for changed := true; changed; { // hand over all that can be
			changed = false
			for s := range st {
				x := &st[s]
				if x.item == items {
					continue
				}
				switch {
				case x.has && x.left <= 1e-9 && s < n-1 && room(s):
					x.sent++
				case x.has && x.left <= 1e-9 && s < n-1:
					x.waits = true
					continue
				case x.has && x.left <= 1e-9:
				case !x.has && s > 0 && st[s-1].sent > x.received:
					x.received++
					x.has, x.left = true, float64(p.items[s][x.item])*scale(s)
					if x.waits {
						x.waits, x.rank = false, n+rank
						rank++
					}
					changed = true
					continue
				default:
					continue
				}
				changed, x.has = true, false
				if x.item++; x.waits {
					x.waits, x.rank = false, n+rank
					rank++
				}
				if x.item < items && s == 0 {
					x.has, x.left = true, float64(p.items[0][x.item])*scale(0)
				} else if x.item < items && st[s-1].sent == x.received {
					x.waits = true
				}
			}
		}
		var ready, running []*stage
		for s := range st {
			switch x := &st[s]; {
			case x.waits || x.item == items:
				x.on = false
			case x.on || share:
				running = append(running, x)
			default:
				ready = append(ready, x)
			}
		}
		slices.SortFunc(ready, func(a, b *stage) int { return a.rank - b.rank })
		for ; len(ready) > 0 && len(running) < p.procs; ready = ready[1:] {
			ready[0].on = true
			running = append(running, ready[0])
		}
		if len(running) == 0 {
			return t
		}
		rate := 1.
		if share {
			rate = min(1, float64(p.procs)/float64(len(running)))
		}
		step := math.Inf(1)
		for _, x := range running {
			step = min(step, x.left)
		}
		for _, x := range running {
			x.left -= step
		}
		t += step / rate
	}
}

// TestPipelines: runs of pipelines, as they are and with a stage that takes less time, are those by
// brute force. Under Go's scheduler less work never gains more than it could.
func TestPipelines(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	for i := range 20 {
		p := randomPipeline(r)
		w := p.program()
		w.HoldOff, w.WakeUp = 70_000, 5000
		changed := r.IntN(len(p.items))
		for _, less := range []float64{0, .1, .2, .4} {
			scale := func(s int) float64 {
				if s == changed {
					return 1 - less
				}
				return 1
			}
			run := func(policy sim.Policy) float64 {
				return sim.Simulate(w.Program, sim.Options{Procs: p.procs, Policy: policy, Times: sim.Times{
					Length: func(id steps.StepID) float64 {
						if w.names[id] == fmt.Sprint("s", changed) {
							return float64(w.Step(id).Work) * (1 - less)
						}
						return float64(w.Step(id).Work)
					}}}).T
			}
			for policy, off := range map[sim.Policy]float64{sim.Sharing: 1e-9, sim.List: 0.02} {
				// in turn, who could run at the same moment may have another order
				if got, want := run(policy), p.run(policy == sim.Sharing, scale); math.Abs(got-want) > off*want {
					t.Errorf("pipeline %d, %s, %v less of stage %d: it takes %v, expected %v", i, policy, less, changed,
						got, want)
				}
			}
			if got, least := run(sim.Go), p.run(true, scale); got < .98*least {
				t.Errorf("pipeline %d, %v less of stage %d: under Go's scheduler it takes %v, expected %v at least", i,
					less, changed, got, least)
			}
		}
	}
}
