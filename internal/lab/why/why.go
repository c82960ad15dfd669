// Package why finds out what to change in a program: it runs it at the default settings, computes
// what changes would gain, lets parts of it take longer in an experiment, and tries settings of the
// Go runtime's.
//
//	study, err := why.Run(ctx, runner, why.Options{Program: "./prog", By: 20, Seed: 1, File: "prog.why.json"})
//	answer, err := analysis.Judge(study)
package why

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/analysis/advice"
	analysis "qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/delays"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// Options describe what is asked.
type Options struct {
	Program  string
	Args     []string
	Varies   bool    // what it prints differs from run to run, as times do
	Settings string  // of the recorder, as in QINST
	Load     string  // command of the shell that the program serves; "": it ends by itself
	By       float64 // percent by which parts take less
	Seed     uint64
	File     string // in which results are kept, and found again
	// Rebuild builds the program again with more of qinst's flags; nil: it was not built here.
	Rebuild func(flags ...string) (program string, err error)
}

const (
	runs = 5
	// usualRest is how many runs an experiment has, and what belongs to it.
	usualRest = 75
	tries     = 3 // of a run whose program fails
	// longest is the limit of a run: one that takes longer has no answer in a useful time, and may
	// wait for something that never comes.
	longest = 5 * time.Minute
	// shortest is the length of a run below which starting and ending is most of it.
	shortest = trace.Time(20 * time.Millisecond)
)

// study is one that is being made.
type study struct {
	*why.Study
	o Options
	r *lab.Runner
}

// Run makes a study, or the rest of it if its file has some. Of a program that fails each time it
// returns an error, and what the last run shows, if that is something.
func Run(ctx context.Context, r *lab.Runner, o Options) (*why.Study, error) {
	hash, err := delays.HashOfFile(o.Program)
	if err != nil {
		return nil, err
	}
	s := &study{o: o, r: r}
	if s.Study, err = kept(o, hash); err != nil {
		return nil, err
	}
	if s.Study == nil {
		s.Study = &why.Study{Version: why.FileVersion, Kind: why.FileKind,
			Program: why.Program{Name: filepath.Base(o.Program), Hash: hash, Args: o.Args, Load: o.Load},
			Machine: analysis.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU()},
			Began:   time.Now().UTC(), Seed: o.Seed, By: o.By}
	}
	for _, step := range []func(context.Context) error{s.reveal, s.observe, s.try, s.test} {
		if err := step(ctx); err != nil {
			if s.Failed != "" {
				return s.Study, err
			}
			if _, none := os.Stat(o.File); ctx.Err() != nil && none == nil {
				err = fmt.Errorf("%w; what was run is in %s, and the same command goes on", context.Cause(ctx), o.File)
			}
			return nil, err
		}
	}
	return s.Study, nil
}

// kept is the study that a file has, nil if there is none. It must be the same one.
func kept(o Options, hash string) (*why.Study, error) {
	f, err := os.Open(o.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := why.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	if s.Program.Hash != hash || !slices.Equal(s.Program.Args, o.Args) || s.Program.Load != o.Load || s.By != o.By ||
		s.Seed != o.Seed {
		return nil, fmt.Errorf("%s has the study of another program, or with other arguments: expected the same, to go on with it, or another file (-o)", o.File)
	}
	return s, nil
}

// observed reports whether the program was run at the default settings, and done whether nothing is
// left to run.
func (s *study) observed() bool { return len(s.Runs) == runs }
func (s *study) done() bool     { return s.Tested.Experiment != nil }

// save writes what there is.
func (s *study) save() error {
	text, err := json.MarshalIndent(s.Study, "", " ")
	if err != nil {
		return err
	}
	return lab.Replace(s.o.File, append(text, '\n'))
}

// reveal finds parts with much work that the compiler inlines, or that are so small that they are
// only counted, and gives them probes: else what calls them would be named in their place, and
// nothing could be delayed.
func (s *study) reveal(ctx context.Context) (err error) {
	switch {
	case s.o.Rebuild == nil || s.done():
		return nil
	case s.observed():
		if len(s.Program.Factors) > 0 {
			s.o.Program, err = s.o.Rebuild(s.factorFlags(nil)...)
		}
		return err
	}
	best, first := s.o.Program, time.Duration(0)
	var tried []string
	for left := deepest; ; left-- { // what is called by what has probes now
		took, hidden, err := s.glance(ctx)
		for range glances { // one run may be slower because of other load
			if err != nil || first == 0 || float64(took) <= slower*float64(first) {
				break
			}
			var again time.Duration
			again, hidden, err = s.glance(ctx)
			took = min(took, again)
		}
		if err != nil {
			return err
		}
		if first = cmp.Or(first, took); float64(took) > slower*float64(first) {
			s.Notes = append(s.Notes, fmt.Sprintf("probes in %s would take more than %.0f %% of processor time, so that what calls it is named in its place", strings.Join(tried, ", "), 100*(slower-1)))
			break
		}
		best, s.Program.Factors = s.o.Program, append(s.Program.Factors, tried...)
		if tried = hidden; len(hidden) == 0 || left == 0 {
			break
		}
		if s.o.Program, err = s.o.Rebuild(s.factorFlags(hidden)...); err != nil {
			return err
		}
	}
	s.o.Program = best
	return nil
}

// factorFlags are the flags of a build with probes in more procedures than have some now.
func (s *study) factorFlags(more []string) (flags []string) {
	for _, name := range slices.Concat(s.Program.Factors, more) {
		flags = append(flags, "-factors="+name)
	}
	return flags
}

// glance runs the program, and finds how much processor time that takes, and what has much work and
// no probe.
func (s *study) glance(ctx context.Context) (took time.Duration, hidden []string, err error) {
	err = s.once(ctx, "a run that shows what has no probe", lab.Job{Settings: s.o.Settings}, func(res lab.Result) (err error) {
		took = res.CPU
		hidden, err = s.hidden(res.Trace)
		return err
	})
	return took, hidden, err
}

const (
	deepest = 3    // so many times more probes are inserted
	slower  = 1.15 // times as much processor time may runs take with them,
	glances = 3    // the least of some
)

// observe runs the program at the default settings, and finds changes.
func (s *study) observe(ctx context.Context) error {
	if s.observed() {
		return nil
	}
	dir, err := lab.MkdirTemp("", "qinst-why-")
	if err != nil {
		return err
	}
	defer dir.Remove()
	var traces []string
	var printed []byte
	differ := false
	s.r.Expect(runs + usualRest)
	for len(traces) < runs {
		trace := filepath.Join(string(dir), fmt.Sprintf("%d.sddf", len(traces)))
		load, took := delays.LoadNow(), int64(0)
		name := fmt.Sprintf("run %d of %d", len(traces)+1, runs)
		err := s.once(ctx, name, lab.Job{Settings: s.o.Settings}, func(res lab.Result) error {
			wall, err := long(res.Trace)
			if err != nil {
				return err
			}
			if took = int64(wall); s.o.Load != "" {
				took = int64(res.Wall)
			}
			if len(traces) == 0 {
				s.warn(res.Wall)
			}
			differ = differ || printed != nil && !bytes.Equal(printed, res.Stdout)
			printed = append([]byte{}, res.Stdout...)
			return os.Rename(res.Trace, trace)
		})
		if err != nil {
			return err
		}
		traces = append(traces, trace)
		s.Runs = append(s.Runs, why.Run{T: took, Load: load})
	}
	if differ && !s.o.Varies {
		s.Notes = append(s.Notes, "the program does not print the same in each run: runs may differ in what they do")
	}
	if err := s.look(traces); err != nil {
		return err
	}
	return s.save()
}

// warn says how long a study of a long program will take.
func (s *study) warn(run time.Duration) {
	if whole := run * fewest; whole > patience && s.r.Stderr != nil {
		fmt.Fprintf(s.r.Stderr, "qinst: a run takes %v, so that this takes %v or more; an interrupt keeps what there is, and the same command goes on\n",
			run.Round(time.Second), whole.Round(time.Minute))
	}
}

const (
	fewest   = 40 // runs of a study of a long program
	patience = 6 * time.Minute
)

// long is the length of a run, and an error if that is too short.
func long(file string) (trace.Time, error) {
	t, err := trace.Open(file)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	if t.Wall() < shortest {
		return 0, fmt.Errorf("found a run of %s, expected 20ms or more: of a shorter one most is its start and its end (-test.count=20 at the end of the command line runs tests 20 times)",
			measure.Time(t.Wall()))
	}
	return t.Wall(), nil
}

// once runs the program, again if it fails.
func (s *study) once(ctx context.Context, name string, j lab.Job, each func(lab.Result) error) (err error) {
	j.Program, j.Args, j.Collect, j.Limit = cmp.Or(j.Program, s.o.Program), s.o.Args, true, longest
	j.Failing = true
	var served lab.Load
	if s.o.Load != "" {
		j.Load = func(ctx context.Context) error { return served.Run(ctx, s.o.Load) }
	}
	for try := 1; ; try++ {
		ran, late := false, false
		err = s.r.Once(ctx, name, j, func(res lab.Result) error {
			if late = res.Wall >= longest; res.Failed != nil {
				if !s.observed() && (try == tries || late) {
					s.fails(&res)
				}
				return res.Failed
			}
			if ran = true; s.o.Load != "" { // what the program takes to start and to end is not its service
				res.Wall = served.Took
			}
			return each(res)
		})
		switch {
		case err == nil || ran || ctx.Err() != nil:
			return err
		case try == tries || late:
			return fmt.Errorf("expected a program that ends by itself with status 0, found %w", err)
		}
		s.Notes = append(s.Notes, fmt.Sprintf("a run failed, and was made again: %v", err))
	}
}

// fails finds what is wrong in a run that failed: that another change gains something is of no use
// before.
func (s *study) fails(res *lab.Result) {
	f, _, err := s.read(res.Trace)
	if err != nil {
		return // why the program fails is said
	}
	if s.Found = conclusions(f, advice.Of(f)); len(s.Found) > 0 {
		status, _, _ := strings.Cut(res.Failed.Error(), "\n")
		s.Failed = status
		s.Runs, s.Bound, s.Notes = []why.Run{{T: f.Wall}}, "", nil
	}
}

// test lets the parts that promise most, and those with most work, take longer.
func (s *study) test(ctx context.Context) error {
	rules := s.factors()
	if s.Tested.Experiment != nil || len(rules) == 0 {
		return nil
	}
	file := s.o.File + ".spt"
	refuse := func(rule, reason string) {
		s.Tested.Refused = append(s.Tested.Refused, why.Refused{Factor: rule, Why: reason})
	}
	x, err := delays.Run(ctx, s.r, delays.Options{Program: s.o.Program, Args: s.o.Args, Rules: rules, Load: s.o.Load,
		Seed: s.o.Seed, Alpha: alpha, File: file, Refuse: refuse})
	if errors.Is(err, delays.ErrNoFactor) {
		s.Notes = append(s.Notes, "no part that promises something can be delayed")
		return s.save()
	}
	if err != nil {
		return errors.Join(err, s.save()) // why parts were refused
	}
	if s.Tested.Model, err = s.model(ctx, x); err != nil {
		return err
	}
	s.Tested.Experiment = x
	if err := s.save(); err != nil {
		return err
	}
	return os.Remove(file)
}

// alpha is the probability that any effect is found where there is none.
const alpha = 0.05
