package delays

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/doe"
)

// How long delays are.
const (
	work        = 0.2 // of a run: the delays of one factor together, if nothing else is asked for
	mostWork    = 1.0 // the same, of one with too many visits for delays of that length
	leastDelay  = 100 // ns: shorter ones are not exact
	mostDelay   = 1e8
	leastVisits = 1
)

// How many runs there are.
const (
	screened   = 24  // of a screening, or of pairs of barriers, at least: few runs give a poor estimate of the error
	mostRuns   = 64  // as many at most, if each is short
	quick      = 30  // s, for all runs of a screening if more of them are better
	patience   = 200 // s, if otherwise no run would be made twice
	blockRuns  = 8   // of a block, at least, if none is
	mostParts  = 4   // blocks, then
	fullerRuns = 32
	mostFuller = 5       // factors of the fuller plan
	mayMatter  = 0.5     // corrected p
	mostBlocks = 1 << 10 // orders of blocks differ from those of the next seed
)

// lengths chooses how long each factor's delay is. Those that are visited too often are left out:
// even short delays would take too long.
func (x *experiment) lengths(took float64) {
	least := float64(leastDelay)
	if x.o.Barriers {
		least = leastHold
	}
	x.Factors = slices.DeleteFunc(x.Factors, func(f delays.Factor) bool {
		if f.Visits < leastVisits {
			x.leaveOut(&f, "has no visits")
			return true
		}
		if mostWork*took*1e9/f.Visits < least && x.o.Delay == 0 {
			if f.Construct != delays.Crossing { // its arrivals have had the note
				x.leaveOut(&f, fmt.Sprintf("is visited %.0f times: %.0f ns each would take %.1f s of a run of %.1f s, so that it is no factor", f.Visits, least, f.Visits*least/1e9, took))
			}
			return true
		}
		if f.Void != "" {
			if f.Construct != delays.Crossing {
				x.Notes = append(x.Notes, fmt.Sprintf("%s: the tool's barrier waited in vain, so that it is no factor: %s", f.Name, f.Void))
			}
			return true
		}
		return false
	})
	for i := range x.Factors {
		f := &x.Factors[i]
		if f.Delay = x.o.Delay; f.Delay == 0 {
			f.Delay = math.Round(max(least, min(work*took*1e9/f.Visits, mostDelay)))
		}
	}
}

// leaveOut says why a part is no factor.
func (x *experiment) leaveOut(f *delays.Factor, why string) {
	if x.Notes = append(x.Notes, f.Name+" "+why); x.o.Refuse != nil {
		x.o.Refuse(f.Rule, "it "+why)
	}
}

// screening plans the first stage: main effects clear of interactions of two factors.
func (x *experiment) screening(p *delays.Plan, factors []int, seed uint64) error {
	once := delays.Plan{}
	if err := x.plan(&once, factors, doe.Options{Seed: seed}); err != nil {
		return err
	}
	if n := replicates(len(once.Runs), p.Took); n > 1 {
		return x.plan(p, factors, doe.Options{Seed: seed, Replicates: n})
	}
	blocks := 1
	for 2*blocks*blockRuns <= len(once.Runs) && blocks < mostParts {
		blocks *= 2
	}
	for ; ; blocks /= 2 { // each takes an interaction away, and may not take a main effect
		if err := x.plan(p, factors, doe.Options{Seed: seed, Blocks: blocks}); err == nil || blocks <= 1 {
			return err
		}
	}
}

// replicates is the number of times that each run is made: as few as the estimate of the error
// needs, or more if they are short.
func replicates(runs int, took float64) int {
	n := (screened-1)/runs + 1
	one := float64(runs) * took * (1 + work) // s
	if n == 1 && 2*one <= patience {
		n = 2
	}
	return max(n, min(mostRuns/runs, int(quick/one)))
}

// plan fills a plan in. Each replicate is a block, or several, whose runs follow each other in an
// order of their own: a machine that becomes slower meanwhile makes blocks differ, and not effects.
func (x *experiment) plan(p *delays.Plan, factors []int, o doe.Options) error {
	names := make([]string, len(factors))
	for i, f := range factors {
		names[i] = strconv.Itoa(f)
	}
	p.Runs = nil
	times, center, seed := max(1, o.Replicates), o.Center, o.Seed*mostBlocks
	for b := range times {
		o.Replicates, o.Center, o.Seed = 1, center*(b+1)/times-center*b/times, seed+uint64(b)
		d, err := doe.New(names, o)
		if err != nil {
			return err
		}
		p.Design, p.Resolution, p.Factors = d.Design, d.Resolution, factors
		for _, r := range d.Runs {
			p.Runs = append(p.Runs, delays.Run{Block: b*max(1, o.Blocks) + r.Block, Levels: r.Levels})
		}
	}
	return nil
}

// matter are the factors of the second stage: those that matter, and if there is room those that
// may, because the first stage is less exact for each than for all.
func (x *experiment) matter(effects []delays.Effect) (list []int) {
	most := mostFuller
	if float64(int(2)<<most)*x.Plans[0].Took*(1+work) > patience {
		most-- // half as many runs
	}
	for _, only := range []func(*delays.Effect) bool{
		func(e *delays.Effect) bool { return e.Significant },
		func(e *delays.Effect) bool { return !e.Significant && e.PHolm <= mayMatter },
	} {
		for i := range effects {
			if e := &effects[i]; only(e) && len(list) < most {
				list = append(list, e.Factor)
			}
		}
	}
	slices.Sort(list)
	return list
}

// fuller plans the second stage, and reports whether there is one more plan.
func (x *experiment) fuller() (bool, error) {
	// on several numbers of processors all factors are compared
	if len(x.Plans) != 1 || x.o.Barriers || x.o.Refuse != nil {
		return false, nil
	}
	res, err := delays.Analyze(x.Experiment)
	if err != nil {
		return false, err
	}
	matter := x.matter(res.Plans[0].Effects)
	if len(matter) == 0 {
		return false, nil
	}
	p := delays.Plan{Procs: x.Plans[0].Procs, Stage: delays.Fuller, Base: x.Plans[0].Base, Took: x.Plans[0].Took}
	o := doe.Options{Kind: doe.Full, Seed: x.Seed + 1, Replicates: max(2, fullerRuns>>len(matter)), Center: 2}
	if err := x.plan(&p, matter, o); err != nil {
		return false, err
	}
	x.Plans = append(x.Plans, p)
	return true, x.save()
}
