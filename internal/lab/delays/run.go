package delays

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/lab"
)

const (
	tries   = 3  // of a run whose program fails
	slowest = 10 // times as long as expected a run may take, and
	grace   = 10 // s
)

// longest is the limit of a run of a plan: several times its length with the sum of all delays.
// With delays a program may wait for an event that never comes. 0: not known.
func (x *experiment) longest(p *delays.Plan) time.Duration {
	if p.Took == 0 {
		return 0
	}
	s := p.Took
	for _, f := range x.Factors {
		s += f.Visits * f.Delay / 1e9
	}
	return time.Duration((slowest*s + grace) * 1e9).Round(time.Second)
}

// run makes the runs of a plan that were not made.
func (x *experiment) run(ctx context.Context, p *delays.Plan) error {
	x.limit = x.longest(p)
	x.r.Expect(p.Missing())
	for i := range p.Runs {
		r := &p.Runs[i]
		if r.Made {
			continue
		}
		name := fmt.Sprintf("%s, run %d of %d", p.Stage, i+1, len(p.Runs))
		r.Load = LoadNow()
		for try := 1; ; try++ {
			differ, voids := x.differ, x.void
			err := x.once(ctx, name, p.Procs, x.settings(p.Factors, r.Levels), func(res lab.Result) (err error) {
				r.Response, err = x.o.Metric.of(res)
				return err
			})
			p.Strange += x.differ - differ
			if err == nil && x.void == voids && x.disturbed(p, r) {
				p.Again++
				continue
			}
			if err == nil && x.void == voids {
				break
			}
			if err == nil { // a barrier's wait in vain is in the time: once more, without that barrier
				try--
				continue
			}
			if ctx.Err() != nil {
				return fmt.Errorf("%w; what was run is in %s, and the same command goes on", context.Cause(ctx),
					x.o.File)
			}
			if p.Failed++; try == tries {
				return fmt.Errorf("%s failed %d times with its delays, which may change what it does (timeouts): %w",
					filepath.Base(x.o.Program), tries, err)
			}
		}
		r.Made = true
		if err := x.save(); err != nil {
			return err
		}
	}
	return nil
}

// disturbed reports whether a run took so much longer than it does without delays that these cannot
// be why: the machine did something else. It is made again, as long as few are: one such run among
// fifty hides all effects.
func (x *experiment) disturbed(p *delays.Plan, r *delays.Run) bool {
	if x.o.Metric.Text != "" || x.o.Load != "" || p.Took == 0 || p.Again >= len(p.Runs)/mostAgain {
		return false
	}
	s := p.Took
	for k, level := range r.Levels {
		f := &x.Factors[p.Factors[k]]
		s += f.Visits * f.Delay / 1e9 * float64(level+1) / 2
	}
	return r.Response > tooLong*s
}

const (
	tooLong   = 1.5 // times as long as with all delays one after the other
	mostAgain = 4   // so many of the runs are made again at most, as a part of all
)

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
		case f.Void != "" || f.Construct == delays.Crossing:
		case f.Construct == delays.Arrival:
			list = append(list, fmt.Sprintf("%s=+%.0fns+%.0fns*%d", f.Rule, delay(i), delay(i+1), f.Participants))
		default:
			list = append(list, fmt.Sprintf("%s=+%.0fns", f.Rule, delay(i)))
		}
	}
	return strings.Join(list, ",")
}

// once runs the program one time.
func (x *experiment) once(ctx context.Context, name string, procs int, settings string,
	each func(lab.Result) error) error {
	j := lab.Job{Program: x.o.Program, Settings: settings, NoTrace: settings == plainly,
		Collect: true, Limit: x.limit}
	for _, a := range x.o.Args {
		j.Args = append(j.Args, withProcs(a, procs))
	}
	var served lab.Load
	if x.o.Load != "" {
		j.Load = func(ctx context.Context) error { return served.Run(ctx, withProcs(x.o.Load, procs)) }
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
		if x.o.Load != "" { // what the program takes to start and to end is not its service
			res.Wall, res.Stdout = served.Took, append(res.Stdout, served.Output...)
		}
		return each(res)
	})
}

func withProcs(text string, procs int) string {
	return strings.ReplaceAll(text, "{}", strconv.Itoa(procs))
}

// voids notes barriers at which the tool's own waited in vain, as the program's recorder says.
func (x *experiment) voids(said string) {
	for line := range strings.Lines(said) {
		rest, ok := strings.CutPrefix(line, "qinst: barrier ")
		for i := range x.Factors {
			f := &x.Factors[i]
			if why, about := strings.CutPrefix(rest, strings.TrimPrefix(f.Rule, "barrier:")+": "); ok && about &&
				f.Participants > 0 {
				f.Void, _, _ = strings.Cut(strings.TrimSuffix(why, "; from then on it was not delayed\n"),
					", and nobody")
				x.void++
			}
		}
	}
}

// virtual is the number of processors that the program hands out itself; 0: none.
func (o *Options) virtual(procs int) int {
	if o.Virtual > 0 && procs > 0 {
		return procs
	}
	return o.Virtual
}

// LoadNow is how many processes could run, on average, in the last minute.
func LoadNow() float64 {
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
