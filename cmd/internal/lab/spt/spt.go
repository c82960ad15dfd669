// Package spt runs experiments with delays: it finds the parts of a program that may matter, lets them take longer in runs of a plan, and keeps what each run gave.
package spt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"qinst.dev/cmd/internal/analysis/doe"
	"qinst.dev/cmd/internal/analysis/spt"
	"qinst.dev/cmd/internal/lab"
	"qinst.dev/cmd/internal/stats"
	"qinst.dev/cmd/internal/trace"
)

// Options are what an experiment is to be.
type Options struct {
	Program    string
	Args       []string // {} in them is the number of processors
	Rules      []string // of factors, or names of barriers; none: they are chosen by a first run
	Barriers   bool     // it is about barriers
	Candidates int      // at most
	Delay      float64  // ns of each visit; 0: each factor's is such that its delays of a run take the share Work of it
	Procs      []int    // numbers of processors; none: as the program has it
	Virtual    int      // processors that the program hands out itself; 0: it has real ones
	Metric     Metric
	Seed       uint64
	Alpha      float64
	File       string // in which results are kept, and found again
}

const (
	work        = 0.2 // of a run: the delays of one factor together, if nothing else is asked for
	mostWork    = 1.0 // likewise, of one that is visited so often that they cannot be as short
	leastDelay  = 100 // ns: shorter ones are not exact
	mostDelay   = 1e8
	baseRuns    = 3
	tries       = 3   // of a run whose program fails
	screened    = 24  // runs of a screening, or of pairs of barriers, at least: few runs tell too little of the error
	mostRuns    = 64  // as many at most, if each is short
	quick       = 30  // s, which the runs of a screening may take together if more of them tell more
	patience    = 200 // s, likewise, if otherwise no run would be made twice
	fullerRuns  = 32
	mostFuller  = 5   // factors of the fuller plan
	mayMatter   = 0.5 // corrected p
	leastVisits = 1
	mostBlocks  = 1 << 10 // orders of blocks differ from those of the next seed
)

// experiment is one that is being run.
type experiment struct {
	*spt.Experiment
	o      Options
	r      *lab.Runner
	output []byte // of the first run
	differ int
	void   int       // barriers at which the tool's own waited in vain
	took   []float64 // s, of a run without delays, for each plan
}

// Run runs an experiment, or what is left of it if its file has some of its runs.
func Run(ctx context.Context, r *lab.Runner, o Options) (*spt.Experiment, error) {
	hash, err := hashOf(o.Program)
	if err != nil {
		return nil, err
	}
	x := &experiment{o: o, r: r}
	if x.Experiment, err = kept(o, hash); err != nil {
		return nil, err
	}
	if x.Experiment == nil {
		if err := x.begin(ctx, hash); err != nil {
			return nil, err
		}
	}
	for {
		for i := range x.Plans {
			if err := x.run(ctx, &x.Plans[i]); err != nil {
				return nil, err
			}
		}
		more, err := x.fuller()
		if err != nil {
			return nil, err
		}
		if !more {
			return x.Experiment, nil
		}
	}
}

// kept is the experiment that a file has, nil if there is none. It must be the same one.
func kept(o Options, hash string) (*spt.Experiment, error) {
	f, err := os.Open(o.File)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, err := spt.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	if e.Hash != hash || !slices.Equal(e.Args, o.Args) || e.Metric != o.Metric.Text {
		return nil, fmt.Errorf("%s has an experiment with another program, other arguments or another metric: expected the same, to go on with it, or another file (-o)", o.File)
	}
	a, was := o.asked(), e.Asked
	if !slices.Equal(a.Rules, was.Rules) || a.Candidates != was.Candidates || a.Delay != was.Delay || a.Barriers != was.Barriers || a.Virtual != was.Virtual || !slices.Equal(a.Procs, was.Procs) || o.Seed != e.Seed {
		return nil, fmt.Errorf("%s has an experiment with other factors, delays, processors or another seed: expected the same, to go on with it, or another file (-o)", o.File)
	}
	return e, nil
}

func (o *Options) asked() spt.Asked {
	return spt.Asked{Rules: o.Rules, Candidates: o.Candidates, Delay: o.Delay, Procs: o.Procs, Barriers: o.Barriers, Virtual: o.Virtual}
}

func hashOf(program string) (string, error) {
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// begin finds factors, how often each is visited, and how long delays are to be, and plans the screening.
func (x *experiment) begin(ctx context.Context, hash string) error {
	o := x.o
	x.Experiment = &spt.Experiment{Version: spt.FileVersion, Program: filepath.Base(o.Program), Hash: hash, Args: o.Args, Seed: o.Seed, Unit: o.Metric.unit(), Metric: o.Metric.Text, Alpha: o.Alpha, Asked: o.asked(),
		Machine: spt.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU()}, Began: time.Now().UTC()}
	procs := o.Procs
	if len(procs) == 0 {
		procs = []int{0}
	}
	most := slices.Max(procs)
	if err := x.factors(ctx, most); err != nil {
		return err
	}
	base, took, err := x.base(ctx, most)
	if err != nil {
		return err
	}
	x.lengths(took)
	if len(x.Factors) == 0 {
		return errors.New("no factor is left: " + strings.Join(x.Notes, "; "))
	}
	for _, p := range procs {
		plan, seconds := spt.Plan{Procs: p, Stage: x.first(), Base: base}, took
		if p != most {
			if plan.Parts, err = x.parts(ctx, p); err != nil {
				return err
			}
			if plan.Base, seconds, err = x.base(ctx, p); err != nil {
				return err
			}
		}
		x.Plans, x.took = append(x.Plans, plan), append(x.took, seconds)
	}
	for i := range x.Plans {
		all := make([]int, len(x.Factors))
		for k := range all {
			all[k] = k
		}
		if err := x.screening(&x.Plans[i], all, x.took[i], o.Seed+uint64(i)); err != nil {
			return err
		}
	}
	return x.save()
}

// first is what the first plans are for.
func (x *experiment) first() spt.Stage {
	if x.o.Barriers {
		return spt.Pairs
	}
	return spt.Screening
}

// factors finds them by a first run.
func (x *experiment) factors(ctx context.Context, procs int) error {
	return x.see(ctx, "a first run", procs, func(t *trace.Trace, f *found) (err error) {
		if x.Machine.Procs = x.o.virtual(procs); x.Machine.Procs == 0 {
			x.Machine.Procs = int(t.Int("gomaxprocs"))
		}
		if x.o.Barriers {
			if f.barriers, err = barriersIn(t); err == nil {
				x.Factors, x.Notes, err = f.meant(x.o.Rules)
			}
			return err
		}
		if x.Factors, err = f.chosen(&x.o); err != nil {
			return err
		}
		if len(x.o.Rules) == 0 {
			x.Notes = f.leftOut(x.Factors)
		}
		return f.weigh(t, x.o.virtual(procs), x.Factors)
	})
}

// parts are what factors are on another number of processors than that of the first run.
func (x *experiment) parts(ctx context.Context, procs int) (list []spt.Part, err error) {
	err = x.see(ctx, fmt.Sprintf("a first run with %d processors", procs), procs, func(t *trace.Trace, f *found) error {
		factors := slices.Clone(x.Factors)
		if err := f.weigh(t, x.o.virtual(procs), factors); err != nil {
			return err
		}
		for _, factor := range factors {
			part := spt.Part{Weight: factor.Weight}
			if y := f.named(factor.Rule); y != nil {
				part.Visits, part.Takes = y.Visits, y.Takes
			}
			list = append(list, part)
		}
		return nil
	})
	return list, err
}

// see runs the program as it is, for what that shows.
func (x *experiment) see(ctx context.Context, name string, procs int, each func(*trace.Trace, *found) error) error {
	return x.once(ctx, name, procs, "", func(res lab.Result) error {
		t, err := trace.Open(res.Trace)
		if err != nil {
			return err
		}
		defer t.Close()
		f, err := look(t, x.o.virtual(procs))
		if err != nil {
			return err
		}
		return each(t, f)
	})
}

// chosen are the factors that were named, or those of the run that may matter.
func (f *found) chosen(o *Options) (list []spt.Factor, err error) {
	if len(o.Rules) == 0 {
		if list = f.candidates(o.Candidates); len(list) == 0 {
			return nil, errors.New("found no procedure with a probe that has 1 % of the processor time, and no lock that anybody waited for; -factors names what to delay")
		}
		return list, nil
	}
	for _, rule := range o.Rules {
		factor := f.shown(rule)
		if factor == nil {
			return nil, fmt.Errorf("-factors: %s: %s", rule, f.why(rule, o.Program))
		}
		list = append(list, *factor)
	}
	return list, nil
}

// base runs the program without delays, and returns the responses and the median time.
func (x *experiment) base(ctx context.Context, procs int) (responses []float64, took float64, err error) {
	var times []float64
	for i := 0; i <= baseRuns; {
		voids := x.void
		err := x.once(ctx, "without delays", procs, x.settings(nil, nil), func(res lab.Result) error {
			y, err := x.o.Metric.of(res)
			if i > 0 && x.void == voids { // the first one warms caches up
				responses, times = append(responses, y), append(times, res.Wall.Seconds())
			}
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		if x.void == voids { // else the barrier's wait is in the time
			i++
		}
	}
	slices.Sort(times)
	return responses, stats.Median(times), nil
}

// lengths chooses how long each factor's delay is. Those that are visited too often are left out: even short delays would take too long.
func (x *experiment) lengths(took float64) {
	least := float64(leastDelay)
	if x.o.Barriers {
		least = leastHold
	}
	x.Factors = slices.DeleteFunc(x.Factors, func(f spt.Factor) bool {
		if f.Visits < leastVisits {
			x.Notes = append(x.Notes, f.Name+" has no visits")
			return true
		}
		if mostWork*took*1e9/f.Visits < least && x.o.Delay == 0 {
			if f.Construct != spt.Crossing { // it has been told of its arrivals
				x.Notes = append(x.Notes, fmt.Sprintf("%s is visited %.0f times: %.0f ns each would take %.1f s of a run of %.1f s, so that it is no factor", f.Name, f.Visits, least, f.Visits*least/1e9, took))
			}
			return true
		}
		if f.Void != "" {
			if f.Construct != spt.Crossing {
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

// screening plans the first stage: main effects clear of interactions of two factors. A run takes so many seconds.
func (x *experiment) screening(p *spt.Plan, factors []int, took float64, seed uint64) error {
	once := spt.Plan{}
	if err := x.plan(&once, factors, doe.Options{Seed: seed}); err != nil {
		return err
	}
	return x.plan(p, factors, doe.Options{Seed: seed, Replicates: replicates(len(once.Runs), took)})
}

// replicates is how often each of so many runs is made: as few times as tell the error, or more if they are short.
func replicates(runs int, took float64) int {
	n := (screened-1)/runs + 1
	one := float64(runs) * took * (1 + work) // s
	if n == 1 && 2*one <= patience {
		n = 2
	}
	return max(n, min(mostRuns/runs, int(quick/one)))
}

// plan fills a plan in. Each replicate is a block, whose runs follow each other in an order of their own: a machine that becomes slower meanwhile makes
// blocks differ, and not effects.
func (x *experiment) plan(p *spt.Plan, factors []int, o doe.Options) error {
	names := make([]string, len(factors))
	for i, f := range factors {
		names[i] = strconv.Itoa(f)
	}
	blocks, center, seed := max(1, o.Replicates), o.Center, o.Seed*mostBlocks
	for b := range blocks {
		o.Replicates, o.Center, o.Seed = 1, center*(b+1)/blocks-center*b/blocks, seed+uint64(b)
		d, err := doe.New(names, o)
		if err != nil {
			return err
		}
		p.Design, p.Resolution, p.Factors = d.Design, d.Resolution, factors
		for _, r := range d.Runs {
			p.Runs = append(p.Runs, spt.Run{Block: b + 1, Levels: r.Levels})
		}
	}
	return nil
}

// matter are the factors of the second stage: those that matter, and if there is room those that may, because the first stage tells of each less than of all.
func (x *experiment) matter(effects []spt.Effect) (list []int) {
	most := mostFuller
	if took := stats.Median(slices.Sorted(slices.Values(x.Plans[0].Base))); x.o.Metric.Text == "" && float64(int(2)<<most)*took*(1+work) > patience {
		most-- // half as many runs
	}
	for _, only := range []func(*spt.Effect) bool{
		func(e *spt.Effect) bool { return e.Significant },
		func(e *spt.Effect) bool { return !e.Significant && e.PHolm <= mayMatter },
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
	if len(x.Plans) != 1 || x.o.Barriers { // on several numbers of processors all factors are compared
		return false, nil
	}
	res, err := spt.Analyze(x.Experiment)
	if err != nil {
		return false, err
	}
	matter := x.matter(res.Plans[0].Effects)
	if len(matter) == 0 {
		return false, nil
	}
	p := spt.Plan{Procs: x.Plans[0].Procs, Stage: spt.Fuller, Base: x.Plans[0].Base}
	o := doe.Options{Kind: doe.Full, Seed: x.Seed + 1, Replicates: max(2, fullerRuns>>len(matter)), Center: 2}
	if err := x.plan(&p, matter, o); err != nil {
		return false, err
	}
	x.Plans = append(x.Plans, p)
	return true, x.save()
}

// run makes the runs of a plan that were not made.
func (x *experiment) run(ctx context.Context, p *spt.Plan) error {
	for i := range p.Runs {
		r := &p.Runs[i]
		if r.Made {
			continue
		}
		name := fmt.Sprintf("%s, run %d of %d", p.Stage, i+1, len(p.Runs))
		r.Load = load()
		for try := 1; ; try++ {
			differ, voids := x.differ, x.void
			err := x.once(ctx, name, p.Procs, x.settings(p.Factors, r.Levels), func(res lab.Result) (err error) {
				r.Response, err = x.o.Metric.of(res)
				return err
			})
			p.Strange += x.differ - differ
			if err == nil && x.void == voids {
				break
			}
			if err == nil { // a barrier's wait in vain is in the time: once more, without that barrier
				try--
				continue
			}
			if ctx.Err() != nil {
				return fmt.Errorf("%w; what was run is in %s, and the same command goes on", context.Cause(ctx), x.o.File)
			}
			if p.Failed++; try == tries {
				return fmt.Errorf("%s failed %d times with its delays, which may change what it does (timeouts): %w", filepath.Base(x.o.Program), tries, err)
			}
		}
		r.Made = true
		if err := x.save(); err != nil {
			return err
		}
	}
	return nil
}

// settings are those of a run: each factor's delay, of 0 too, so that all runs go the same way.
func (x *experiment) settings(factors []int, levels []int8) string {
	list := []string{x.o.Metric.mode()}
	if x.o.Virtual > 0 {
		list = append(list, "vcpu")
	}
	delay := func(i int) float64 {
		if k := slices.Index(factors, i); k >= 0 {
			return x.Factors[i].Delay * float64(levels[k]+1) / 2
		}
		return 0
	}
	for i := range x.Factors {
		switch f := &x.Factors[i]; {
		case f.Void != "" || f.Construct == spt.Crossing:
		case f.Construct == spt.Arrival:
			list = append(list, fmt.Sprintf("%s=+%.0fns+%.0fns*%d", f.Rule, delay(i), delay(i+1), f.Participants))
		default:
			list = append(list, fmt.Sprintf("%s=+%.0fns", f.Rule, delay(i)))
		}
	}
	return strings.Join(list, ",")
}

// once runs the program one time.
func (x *experiment) once(ctx context.Context, name string, procs int, settings string, each func(lab.Result) error) error {
	j := lab.Job{Program: x.o.Program, Settings: settings, Collect: true}
	for _, a := range x.o.Args {
		j.Args = append(j.Args, strings.ReplaceAll(a, "{}", strconv.Itoa(procs)))
	}
	if procs > 0 && x.o.Virtual == 0 {
		j.Env = append(j.Env, "GOMAXPROCS="+strconv.Itoa(procs))
	}
	return x.r.Once(ctx, name, j, func(res lab.Result) error {
		if _, said, ok := bytes.Cut(res.Stderr, []byte("qinst: QINST: ")); ok { // a rule is about nothing
			line, _, _ := bytes.Cut(said, []byte("\n"))
			return errors.New(string(line))
		}
		x.voids(string(res.Stderr))
		if x.output == nil {
			x.output = append([]byte{}, res.Stdout...)
		} else if x.o.Metric.output == nil && !bytes.Equal(x.output, res.Stdout) {
			x.differ++
		}
		return each(res)
	})
}

// voids notes barriers at which the tool's own waited in vain, as the program's recorder says.
func (x *experiment) voids(said string) {
	for line := range strings.Lines(said) {
		rest, ok := strings.CutPrefix(line, "qinst: barrier ")
		for i := range x.Factors {
			f := &x.Factors[i]
			if why, about := strings.CutPrefix(rest, strings.TrimPrefix(f.Rule, "barrier:")+": "); ok && about && f.Participants > 0 {
				f.Void, _, _ = strings.Cut(why, ", and nobody")
				x.void++
			}
		}
	}
}

// virtual is how many processors the program hands out itself, if that was asked with so many; 0: none.
func (o *Options) virtual(procs int) int {
	if o.Virtual > 0 && procs > 0 {
		return procs
	}
	return o.Virtual
}

// load is how many processes could run, on average, in the last minute.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	word, _, _ := strings.Cut(string(text), " ")
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0
	}
	return v
}

// save writes what there is. It takes the place of the file at once, so that an end in between loses nothing.
func (x *experiment) save() error {
	text, err := json.MarshalIndent(x.Experiment, "", " ")
	if err != nil {
		return err
	}
	tmp := x.o.File + ".tmp"
	if err := os.WriteFile(tmp, append(text, '\n'), 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, x.o.File)
}
