package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
)

// setupPredict shows how long a program would take on other numbers of processors, or changed.
func setupPredict(fs *flagSet) action {
	f, ask, html, times := replayFlags{}, predict.Ask{}, "", 0
	f.define(fs, sim.Go)
	fs.text(&html, "html", "write a page for the browser to this `file` (- for the standard output)")
	fs.group("What is predicted")
	fs.function("procs", "numbers of processors, separated by commas: `1,2,4` (default: up to twice those of the run)",
		func(s string) (err error) {
			ask.Procs, err = processorsOf("procs", s)
			return err
		})
	fs.function("what-if", "a `change` of the program, may be repeated, or several at the same time, with \" + \" between them: main.f=-30%, with what it calls and starts; calls:main.f=-30%, without what it starts; self:main.f=-30%; hold:main.mu=-50%, of what is done under a lock; wait:main.f=-50%, of waits for timers, the network and the system in a procedure; balance:main.worker=even, as much work for each; split:main.mu=4, into as many locks; cap:main.ch=64, of a channel; workers:main.worker=8, who take jobs from a channel; gc=off", func(s string) error {
		w, err := predict.ParseWhatIf(s)
		ask.WhatIf = append(ask.WhatIf, w)
		return err
	})
	fs.offerNames("changes", "what-if")
	fs.text(&ask.Request, "request", "how long requests of this `name` take, and how many are answered; those from outside come when they came")
	fs.group("Several runs")
	fs.number(&times, "n", "run a program so often, and predict from all runs together (default: from traces)")
	fs.program = func() bool { return times != 0 }
	return func(e *env, args []string) error {
		policy, err := f.check("predict")
		if err != nil {
			return err
		}
		if html != "" && f.asJSON {
			return usageError{errors.New("predict: found -html with -json, expected one of them")}
		}
		ask.Policy = policy
		var runs []predicted
		if times != 0 {
			runs, err = f.record(e, times, args)
		} else {
			runs, err = f.traces(e, args)
		}
		if err != nil {
			return err
		}
		r, err := predictFrom(runs, ask)
		if err != nil {
			return err
		}
		var facts *advice.Facts
		if len(runs) == 1 && len(ask.WhatIf) == 0 && ask.Request == "" {
			facts = advice.From(runs[0].p, runs[0].pr)
		}
		switch {
		case f.asJSON:
			return json.NewEncoder(e.stdout).Encode(predictObject{r, conclude(facts)})
		case html != "":
			page, err := report.PredictPage(r, facts)
			if err != nil {
				return err
			}
			return writeTo(e, html, func(w io.Writer) error { return page.WriteHTML(w, report.Look()) })
		}
		return writeText(e, report.Predict(r, facts))
	}
}

// predictObject is what predict -json prints. There is no advice if something was asked for.
type predictObject struct {
	*predict.Result
	*concluded
}

// predicted is a run from which something is predicted.
type predicted struct {
	name string
	p    *steps.Program
	pr   *profile.Profile
}

func (f *replayFlags) trace(e *env, file string) (predicted, error) {
	p, pr, err := f.build(e, file, 0, 0)
	return predicted{file, p, pr}, err
}

// traces reads traces of one program; without names, the newest one.
func (f *replayFlags) traces(e *env, files []string) (runs []predicted, err error) {
	if len(files) == 0 {
		file, err := newestFile(e)
		if err != nil {
			return nil, err
		}
		files = []string{file}
	}
	for _, file := range files {
		run, err := f.trace(e, file)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// mostRuns bounds how often a program is run.
const mostRuns = 100

// record runs a program, and reads what each run leaves.
func (f *replayFlags) record(e *env, times int, program []string) (runs []predicted, err error) {
	if times < 1 || times > mostRuns {
		return nil, usageError{fmt.Errorf("predict: found -n=%d, expected a number from 1 to %d", times, mostRuns)}
	}
	if len(program) == 0 {
		return nil, incomplete("predict", "-n and no program", "one that was built with -toolexec qinst, and its arguments",
			"predict -n 5 ./prog arguments")
	}
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	r := &lab.Runner{Stdin: os.Stdin, Stdout: e.stderr, Stderr: e.stderr}
	job := lab.Job{Program: program[0], Args: program[1:]}
	plan := lab.Plan{Rounds: times, Cases: []lab.Case{{Name: program[0], Job: job}}}
	err = r.Run(ctx, plan, func(res lab.Result) error {
		run, err := f.trace(e, res.Trace)
		run.name = fmt.Sprintf("run %d", res.Round+1)
		runs = append(runs, run)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	return runs, nil
}

// predictFrom predicts from all runs together.
func predictFrom(runs []predicted, ask predict.Ask) (*predict.Result, error) {
	var programs []*steps.Program
	var took []trace.Time
	for _, run := range runs {
		if err := predict.SameProgram(runs[0].p.R.T, run.p.R.T); err != nil {
			return nil, fmt.Errorf("predict: %s and %s: %w", runs[0].name, run.name, err)
		}
		programs, took = append(programs, run.p), append(took, run.p.End)
	}
	ask.Differ = predict.Differ(took)
	most, served := 0, critpath.Served(programs[0])
	for _, p := range programs {
		if most = max(most, p.Procs); critpath.Served(p) != served {
			served = "" // of some the outside decides how long they take, of others it does not
		}
	}
	if len(ask.Procs) == 0 {
		ask.Procs = predict.UsualProcs(most)
	}
	var results []*predict.Result
	for _, run := range runs {
		of, err := askOf(run, ask, served)
		if err != nil {
			return nil, err
		}
		results = append(results, predict.New(run.p, of))
	}
	return predict.Join(results), nil
}

// askOf is what is asked of one run, of requests by a name if they are served to the outside.
func askOf(run predicted, ask predict.Ask, served string) (_ predict.Ask, err error) {
	ask.Held, ask.WhatIf, ask.Outside = advice.Held(run.pr), slices.Clone(ask.WhatIf), served != ""
	for i := range ask.WhatIf {
		if err := ask.WhatIf[i].Check(run.p); err != nil {
			return ask, usageError{fmt.Errorf("predict: %w", err)}
		}
	}
	if ask.Request == "" {
		ask.Request = served
	} else if ask.Request, err = run.p.RequestNamed(ask.Request); err != nil {
		return ask, usageError{fmt.Errorf("predict: -request: %w; qinst critical -requests lists them", err)}
	}
	return ask, nil
}
