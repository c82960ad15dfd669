package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	analysis "qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/delays"
	"qinst.dev/internal/report"
	"qinst.dev/ratecontrol"
)

// setupSpt runs experiments with delays.
func setupSpt(fs *flagSet) action {
	o := delays.Options{Candidates: 15, Alpha: 0.05}
	form, shown, delay, seed := sptForm{}, "", "", 1
	var factors []string
	fs.group("Form")
	fs.boolean(&form.asJSON, "json", "print one JSON object")
	fs.text(&form.html, "html", "write a page for the browser to this `file` (- for the standard output)")
	fs.text(&o.File, "o", "keep what each run gave in a `file`, and go on with what it has (default: PROGRAM.spt.json)")
	fs.text(&shown, "report", "run nothing, and show what a `file` of earlier runs tells")
	fs.group("Experiment")
	fs.function("factors", "`names` of what is delayed, separated by commas: main.f, loop:NAME, hold:NAME, id:ID (default: chosen by a first run)", func(s string) error {
		factors = strings.Split(s, ",")
		return nil
	})
	fs.optional("barriers", "tell at which barriers goroutines wait for the last one: those that a first run shows, or -barriers=NAME,NAME*3, procedures or WaitGroups (*3: of three)", func(s string) error {
		if o.Barriers = true; s != "" {
			o.Rules = append(o.Rules, strings.Split(s, ",")...)
		}
		return nil
	})
	fs.number(&o.Candidates, "candidates", "as many factors at most, if they are chosen")
	fs.text(&delay, "delay", "a `time` that each visit of every factor takes longer (default: each factor's such that its delays take a fifth of a run together)")
	fs.function("procs", "`numbers` of processors, separated by commas: GOMAXPROCS, and {} in the arguments",
		func(s string) (err error) {
			o.Procs, err = processorsOf("procs", s)
			return err
		})
	fs.text(&o.Load, "load", "`command` of the shell that the program serves, {} as in arguments: its time counts, and the program is asked to end after it (default: the program ends by itself)")
	fs.processors(&o.Virtual, "vcpu", "the program hands out `n` processors of its own, or those of -procs: delays are slept in its regions \"vcpu\" (default: none)")
	fs.function("metric", "`what` is measured: an expression that finds a number, in its group, in the program's output; region:NAME:p99, how long regions last; rate:NAME, hits of a point a second (default: the time that passes)", func(s string) (err error) {
		var ok bool
		if o.Metric, ok = delays.ParseMetric(s); !ok {
			err = fmt.Errorf("found -metric=%s, expected %s", s, delays.MetricExpected)
		}
		return err
	})
	fs.number(&seed, "seed", "of the order of the runs")
	fs.program = func() bool { return true }
	return func(e *env, args []string) error {
		if shown != "" {
			return sptShow(e, shown, args, form)
		}
		if len(args) == 0 {
			return incomplete("spt", "no program", "one that was built with -toolexec qinst, and its arguments",
				"spt ./prog arguments")
		}
		if o.Barriers && (factors != nil || len(o.Procs) > 1) {
			return usageError{errors.New("spt: found -barriers with -factors, or with several numbers of processors, expected it alone: what is waited for at barriers says nothing of other parts, and their participants may be as many as processors")}
		}
		if delay != "" {
			l, _, ok := ratecontrol.ParseLimit("+" + delay)
			if !ok || l.Delay <= 0 {
				return usageError{fmt.Errorf("spt: found -delay=%s, expected a time such as 5us", delay)}
			}
			o.Delay = l.Delay
		}
		o.Rules = append(o.Rules, factors...)
		o.Program, o.Args, o.Seed = args[0], args[1:], uint64(seed)
		if o.File == "" {
			o.File = filepath.Base(o.Program) + ".spt.json"
		}
		ctx, stop := lab.Signals(context.Background())
		defer stop()
		x, err := delays.Run(ctx, &lab.Runner{Stdin: os.Stdin, Stdout: e.stderr, Stderr: e.stderr}, o)
		if errors.As(err, new(lab.Stopped)) { // the user who stopped it knows that, but not how to go on
			fmt.Fprintln(e.stderr, "qinst: spt:", err)
		}
		if err != nil {
			return fmt.Errorf("spt: %w", err)
		}
		return form.answer(e, x)
	}
}

// sptShow shows a file's results.
func sptShow(e *env, file string, args []string, form sptForm) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("spt: found %s, expected nothing to run with -report", args[0])}
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	x, err := analysis.Read(&bounded{from: f, total: mostText, line: mostText})
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return form.answer(e, x)
}

// sptForm is how an experiment is shown.
type sptForm struct {
	asJSON bool
	html   string
}

// sptObject is what spt -json prints.
type sptObject struct {
	*analysis.Result
	*concluded
}

func (f *sptForm) answer(e *env, x *analysis.Experiment) error {
	r, err := analysis.Analyze(x)
	if err != nil {
		return fmt.Errorf("spt: %w", err)
	}
	switch {
	case f.asJSON:
		return json.NewEncoder(e.stdout).Encode(sptObject{r, &concluded{x.Advice}})
	case f.html != "":
		page, err := report.DelaysPage(x, r)
		if err != nil {
			return err
		}
		return writeTo(e, f.html, func(w io.Writer) error { return page.WriteHTML(w, report.Look()) })
	}
	return writeText(e, report.Delays(x, r))
}
