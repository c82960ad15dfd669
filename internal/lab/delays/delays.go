// Package delays runs experiments with delays: it finds the parts of a program that may matter,
// lets them take longer in runs of a plan, and keeps what each run gave.
package delays

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
)

// Options describe an experiment.
type Options struct {
	Program    string
	Args       []string // {} in them is the number of processors
	Rules      []string // of factors, or names of barriers; none: they are chosen by a first run
	Barriers   bool     // it is about barriers
	Candidates int      // at most
	Delay      float64  // ns of each visit; 0: each factor's is such that its delays of a run take the share Work of it
	Procs      []int    // numbers of processors; none: as the program has it
	Virtual    int      // processors that the program hands out itself; 0: it has real ones
	// a command of the shell, {} as in Args, that the program serves until it is done; "": the
	// program ends by itself
	Load   string
	Metric Metric
	Seed   uint64
	Alpha  float64
	File   string // in which results are kept, and found again
	// Refuse takes the reason why a rule names nothing that can be delayed; nil: that is an error.
	// With it the experiment is a single plan, which others evaluate.
	Refuse func(rule, why string)

	input string // hash of the input of each run
}

// ErrNoFactor is the error of an experiment in which nothing can be delayed.
var ErrNoFactor = errors.New("no factor is left")

// experiment is one that is being run.
type experiment struct {
	*delays.Experiment
	o      Options
	r      *lab.Runner
	output []byte // of the first run
	differ int
	void   int           // barriers at which the tool's own waited in vain
	limit  time.Duration // of a run; 0: none
}

// Run runs an experiment, or the rest of it if its file has some of its runs.
func Run(ctx context.Context, r *lab.Runner, o Options) (*delays.Experiment, error) {
	hash, err := HashOfFile(o.Program)
	if err != nil {
		return nil, err
	}
	in, err := r.Input()
	if err != nil {
		return nil, err
	}
	if in != nil {
		if o.input, err = hashOf(in); err != nil {
			return nil, err
		}
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
func kept(o Options, hash string) (*delays.Experiment, error) {
	f, err := os.Open(o.File)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, err := delays.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	if e.Hash != hash || !slices.Equal(e.Args, o.Args) || e.Metric != o.Metric.Text {
		return nil, fmt.Errorf("%s has an experiment with another program, other arguments or another metric: expected the same, to go on with it, or another file (-o)", o.File)
	}
	a, was := o.asked(), e.Asked
	if !slices.Equal(a.Rules, was.Rules) || a.Candidates != was.Candidates || a.Delay != was.Delay ||
		a.Barriers != was.Barriers || a.Virtual != was.Virtual || a.Load != was.Load || a.Input != was.Input ||
		!slices.Equal(a.Procs, was.Procs) || o.Seed != e.Seed {
		return nil, fmt.Errorf("%s has an experiment with other factors, delays, processors or input, or another seed: expected the same, to go on with it, or another file (-o)", o.File)
	}
	return e, nil
}

func (o *Options) asked() delays.Asked {
	return delays.Asked{Rules: o.Rules, Candidates: o.Candidates, Delay: o.Delay, Procs: o.Procs, Barriers: o.Barriers,
		Virtual: o.Virtual, Load: o.Load, Input: o.input}
}

// HashOfFile identifies a file by its content: SHA-256, as hexadecimal digits.
func HashOfFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashOf(f)
}

func hashOf(from io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, from); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// begin finds factors, their visits and the length of delays, and plans the screening.
func (x *experiment) begin(ctx context.Context, hash string) error {
	o := x.o
	x.Experiment = &delays.Experiment{Version: delays.FileVersion, Program: filepath.Base(o.Program), Hash: hash,
		Args: o.Args, Seed: o.Seed, Unit: o.Metric.unit(), Metric: o.Metric.Text, Alpha: o.Alpha, Asked: o.asked(),
		Machine: delays.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU()},
		Began:   time.Now().UTC()}
	procs := o.Procs
	if len(procs) == 0 {
		procs = []int{0}
	}
	most := slices.Max(procs)
	if err := x.factors(ctx, most); err != nil {
		if ctx.Err() != nil && o.Load == "" {
			err = fmt.Errorf("%w, and the first run had not ended; a program that does not end by itself needs -load",
				err)
		}
		return err
	}
	plain, err := x.timed(ctx, "as it is", most, func() string { return plainly })
	if err != nil {
		return err
	}
	base, err := x.withoutSlow(ctx, most, plain.took)
	if err != nil {
		return err
	}
	x.lengths(base.took)
	if len(x.Factors) == 0 {
		return fmt.Errorf("%w: %s", ErrNoFactor, strings.Join(x.Notes, "; "))
	}
	for _, p := range procs {
		plan := delays.Plan{Procs: p, Stage: x.first(), Base: base.responses, Took: base.took, Plain: plain.responses}
		if p != most {
			if plan.Parts, err = x.parts(ctx, p); err != nil {
				return err
			}
			here, err := x.base(ctx, p)
			if err != nil {
				return err
			}
			plan.Base, plan.Took, plan.Plain = here.responses, here.took, nil
		}
		x.Plans = append(x.Plans, plan)
	}
	for i := range x.Plans {
		all := make([]int, len(x.Factors))
		for k := range all {
			all[k] = k
		}
		if err := x.screening(&x.Plans[i], all, o.Seed+uint64(i)); err != nil {
			return err
		}
	}
	return x.save()
}

// first is the purpose of the first plans.
func (x *experiment) first() delays.Stage {
	if x.o.Barriers {
		return delays.Pairs
	}
	return delays.Screening
}

// factors finds them by a first run.
func (x *experiment) factors(ctx context.Context, procs int) error {
	return x.see(ctx, "a first run", procs, func(t *trace.Trace, f *found) (err error) {
		if x.Machine.Procs = x.o.virtual(procs); x.Machine.Procs == 0 {
			x.Machine.Procs = int(t.Int("gomaxprocs"))
		}
		x.Advice = advice.Of(advice.Gather(t, f.p))
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
		f.contains(x.Factors)
		// a gain is of the run's time, and there is one first run of it
		return f.weigh(t, x.o.virtual(procs), x.Factors,
			x.o.Metric.Text == "" && x.o.Load == "" && x.o.Refuse == nil)
	})
}

// parts are what factors are on another number of processors than that of the first run.
func (x *experiment) parts(ctx context.Context, procs int) (list []delays.Part, err error) {
	err = x.see(ctx, fmt.Sprintf("a first run with %d processors", procs), procs, func(t *trace.Trace, f *found) error {
		factors := slices.Clone(x.Factors)
		if err := f.weigh(t, x.o.virtual(procs), factors, false); err != nil {
			return err
		}
		for _, factor := range factors {
			part := delays.Part{Weight: factor.Weight}
			if y := f.named(factor.Rule); y != nil {
				part.Visits, part.Takes = y.Visits, y.Takes
			}
			list = append(list, part)
		}
		return nil
	})
	return list, err
}

// see runs the program without delays, to profile it.
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
func (f *found) chosen(o *Options) (list []delays.Factor, err error) {
	if len(o.Rules) == 0 {
		if list = f.candidates(o.Candidates); len(list) == 0 {
			return nil, errors.New("found no procedure with a probe that has 1 % of the processor time, and no lock that anybody waited for; -factors names what to delay")
		}
		return list, nil
	}
	for _, rule := range o.Rules {
		factor := f.shown(rule)
		if factor == nil && o.Refuse == nil {
			return nil, fmt.Errorf("-factors: %s: %s", rule, f.why(rule, o.Program))
		}
		if factor == nil {
			o.Refuse(rule, f.why(rule, o.Program))
			continue
		}
		list = append(list, *factor)
	}
	return list, nil
}

// runs are some of the same kind.
type runs struct {
	responses []float64
	took      float64 // the median, in s
}

const (
	baseRuns = 3
	plainly  = "mode=off" // the setting of runs that record nothing
	// without delays the probes of a factor may make the run this share longer, else there is no
	// telling what its delays do. Each takes so many ns at most: more is another difference of
	// runs.
	mostSlow  = 0.1
	mostProbe = 1000
)

// base runs the program without delays.
func (x *experiment) base(ctx context.Context, procs int) (runs, error) {
	return x.timed(ctx, "without delays", procs, func() string { return x.settings(nil, nil) })
}

// timed runs the program some times. The settings change as soon as it is known that the tool waits
// in vain at a barrier.
func (x *experiment) timed(ctx context.Context, name string, procs int, settings func() string) (some runs,
	err error) {
	var times []float64
	for i := 0; i <= baseRuns; {
		voids, set := x.void, settings()
		err := x.once(ctx, name, procs, set, func(res lab.Result) (err error) {
			if i == 0 || x.void != voids { // the first one warms caches up
				return nil
			}
			times = append(times, res.Wall.Seconds())
			if set == plainly && x.o.Metric.traced() {
				return nil
			}
			y, err := x.o.Metric.of(res)
			some.responses = append(some.responses, y)
			return err
		})
		if err != nil {
			return some, err
		}
		if x.void == voids { // else the barrier's wait is in the time
			i++
		}
	}
	slices.Sort(times)
	some.took = stats.Median(times)
	return some, nil
}

// withoutSlow runs the program without delays. It leaves out factors whose probes alone make the
// run longer by more than mostSlow: a probe that may delay checks for that at each visit.
func (x *experiment) withoutSlow(ctx context.Context, procs int, plain float64) (runs, error) {
	base, err := x.base(ctx, procs)
	visits := 0.
	for _, f := range x.Factors {
		visits += f.Visits
	}
	probes := min(base.took-plain, visits*mostProbe/1e9)
	if err != nil || x.o.Barriers || x.o.Virtual > 0 || probes <= mostSlow*plain {
		return base, err
	}
	none, err := x.timed(ctx, "without factors", procs, x.o.Metric.mode)
	if err != nil {
		return base, err
	}
	var rest []delays.Factor
	for _, f := range x.Factors {
		one, err := x.timed(ctx, "without delays of "+f.Name, procs,
			func() string { return x.o.Metric.mode() + "," + f.Rule + "=+0ns" })
		if err != nil {
			return base, err
		}
		if slower := min(one.took-none.took, f.Visits*mostProbe/1e9); slower > mostSlow*plain {
			x.leaveOut(&f, fmt.Sprintf("is visited %.0f times: without any delay its probe alone makes the run %.0f %% longer, so that it is no factor", f.Visits, 100*slower/plain))
			continue
		}
		rest = append(rest, f)
	}
	if len(rest) == len(x.Factors) {
		return base, nil
	}
	if x.Factors = rest; len(rest) == 0 {
		return base, nil
	}
	return x.base(ctx, procs)
}

// save writes what there is.
func (x *experiment) save() error {
	text, err := json.MarshalIndent(x.Experiment, "", " ")
	if err != nil {
		return err
	}
	return lab.Replace(x.o.File, append(text, '\n'))
}
