package predict

import (
	"math"
	"runtime"
	"sync"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// The next run of a program is another one: its work takes a little longer here and shorter there,
// and its scheduler steals elsewhere. How much that matters is known from the run at hand, in which
// the same work was done many times: lengths are drawn anew, each from those of its kind, and the
// run is computed with them. Work that was done once has no others to draw from, so that an
// interval is too short if most of the run is such work.

// drawnAbout is by how much a value of the run on the recorded number of processors varies with
// lengths, as a share of it, 9 times of 10. On other numbers it is taken to vary as much.
func (r *runner) drawnAbout(policy sim.Policy, requests bool) float64 {
	k := widthKey{policy, requests}
	if _, ok := r.widths[k]; !ok {
		of := func(run *sim.Run) float64 { return run.T }
		if requests {
			of = r.value
		}
		o := sim.Options{Procs: r.p.Procs, Policy: policy}
		r.widths[k] = r.interval(o, of) / max(of(r.at(o.Procs, policy)), 1)
	}
	return r.widths[k]
}

// interval returns by how much a value of a run may be less or more than computed, 9 times of 10.
func (r *runner) interval(o sim.Options, of func(*sim.Run) float64) float64 {
	// The recorded run was drawn as the next one is: their difference has twice the variance.
	var list []float64
	for seed := range uint64(draws(r.p)) {
		o.Seed, o.Length = seed+1, r.drawn.lengths(r.p, seed)
		list = append(list, of(r.simulate(o)))
	}
	return about(list) * math.Sqrt2
}

const (
	mostGains  = 10
	gainsSteps = 1e6
)

// normal is the 95th percentile of a normal distribution.
const normal = 1.645

// gained is what a change gains, in ns, and by how much less (below 0) and more that may be, 9
// times of 10.
type gained struct{ ns, less, more float64 }

// gains returns the gain of a change. It is not known better than the following, which add up as
// independent errors do: how lengths vary; how much work the change applies to, where samples
// divide it; how fast the program runs, which differs within a run and between runs; and the
// recorded run, of which what the computed one differs by may be gained, or not. If it were to
// become less only with the work, 7 of 51 gains would be outside of their intervals, and not 1 of
// 52. Policies differ in who runs when several could: the interval contains the gains by all of
// them. It contains what the collector's work would be if memory changed as the work does.
func (r *runner) gains(w *WhatIf, o sim.Options) (g gained) {
	run := r.value(r.at(o.Procs, o.Policy))
	speed := max(normal*r.differ, student(blocks/2)*r.drift) * math.Sqrt2 * run
	var lengths float64
	g.ns, lengths = r.drawnGains(o, math.Hypot(speed, r.off*run)/3)
	off := 0.
	for _, x := range []float64{lengths, normal * w.unsure(r.p) * g.ns, speed, r.off * run} {
		off = math.Hypot(off, x)
	}
	least, most := g.ns, g.ns
	for _, policy := range sim.Policies {
		if base := r.at(o.Procs, policy); policy != o.Policy && base.Sound() {
			o.Policy = policy
			if now := r.simulate(o); now.Sound() {
				ns := (1 - r.value(now)/r.value(base)) * run
				least, most = min(least, ns), max(most, ns)
			}
		}
	}
	g.less, g.more = least-g.ns-off, most-g.ns+off
	if of := r.ofMemory(w, o); of > 0 {
		g.more += of
	} else {
		g.less += of
	}
	return g
}

// drawnGains returns the mean gain of a change over the random choices of Go's scheduler, and its
// error, 9 times of 10: lengths vary, which runs without random choices show, and the number of
// runs is finite. It ends when that error is less than others, which add up with it, make it
// matter. The gain in a long run is known no better than the run itself.
func (r *runner) drawnGains(o sim.Options, enough float64) (ns, off float64) {
	n := min(mostGains, int(gainsSteps/float64(r.p.Steps.Len())))
	if n < leastDraws {
		was := r.value(r.at(o.Procs, o.Policy))
		return was - r.value(r.simulate(o)), r.drawnAbout(o.Policy, r.watch != nil) * was
	}
	still := o
	if still.Policy == sim.Go {
		still.Policy = sim.Sharing
	}
	off = about(r.paired(still, n, true, enough)) * math.Sqrt2
	if o.Policy != sim.Go {
		return r.value(r.at(o.Procs, o.Policy)) - r.value(r.simulate(o)), off
	}
	runs := r.paired(o, n, false, enough)
	for _, d := range runs {
		ns += d / float64(len(runs))
	}
	return ns, math.Hypot(off, about(runs)/math.Sqrt(float64(len(runs))))
}

// paired computes n runs with and without a change, each pair with the same chances, and if drawn
// with the same lengths drawn anew; fewer, if they are that near to each other. It returns by how
// much those with it are shorter. As many pairs are computed at a time as there are processors:
// what is returned does not depend on that.
func (r *runner) paired(o sim.Options, n int, drawn bool, enough float64) (list []float64) {
	together := min(runtime.GOMAXPROCS(0), leastDraws)
	for first := 0; first < n; first += together {
		pairs := make([]pair, min(together, n-first))
		var all sync.WaitGroup
		for i := range pairs {
			all.Go(func() { pairs[i] = r.pair(o, uint64(first+i), drawn) })
		}
		all.Wait()
		for i, p := range pairs {
			r.pairs[pairKey{o.Procs, o.Policy, uint64(first + i), drawn}] = p.plain
		}
		for _, p := range pairs {
			list = append(list, r.value(r.note(p.plain))-r.value(r.note(p.changed)))
			if len(list) >= leastDraws && about(list) <= enough {
				return list
			}
		}
	}
	return list
}

// pair is a run without a change, and with it.
type pair struct{ plain, changed seen }

// pair computes those of a seed.
func (r *runner) pair(o sim.Options, seed uint64, drawn bool) (p pair) {
	plain := sim.Options{Procs: o.Procs, Policy: o.Policy, Seed: seed}
	o.Seed = seed
	if changed := o.Length; drawn {
		plain.Length = r.drawn.lengths(r.p, seed)
		lengths := r.drawn.lengths(r.p, seed)
		o.Length = func(id steps.StepID) float64 {
			if work := r.p.Step(id).Work; work > 0 && changed != nil {
				return lengths(id) * changed(id) / float64(work)
			}
			return lengths(id)
		}
	}
	var known bool
	if p.plain, known = r.pairs[pairKey{o.Procs, o.Policy, seed, drawn}]; !known {
		p.plain = r.see(plain)
	}
	p.changed = r.see(o)
	return p
}

// about is how far a value drawn as these may be from their mean, 9 times of 10.
func about(list []float64) float64 {
	n := float64(len(list))
	sum, squares := 0., 0.
	for _, x := range list { // differences from the first one are exact enough
		d := x - list[0]
		sum, squares = sum+d, squares+d*d
	}
	return student(len(list)-1) * math.Sqrt(max(0, squares-sum*sum/n)/(n-1))
}

// student is the 95th percentile of Student's t, within 1 % from three degrees of freedom on.
func student(degrees int) float64 {
	d := float64(degrees)
	return 1.6449 + 1.53/d + 1.4/(d*d) + 1.2/(d*d*d)
}
