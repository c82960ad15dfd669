package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strconv"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
)

// replayFlags are what the commands "critical" and "predict" have in common.
type replayFlags struct {
	policy    string
	vcpu      int
	asJSON    bool
	corrected bool
}

func (f *replayFlags) define(fs *flagSet, policy sim.Policy) {
	f.policy = string(policy)
	fs.group("Form")
	fs.boolean(&f.asJSON, "json", "print one JSON object")
	fs.group("Interpretation")
	fs.text(&f.policy, "policy", "how goroutines get processors: `ps`, all that could run share them evenly; fifo, each keeps one until it waits; go, as Go's scheduler does")
	var policies []string
	for _, p := range sim.Policies {
		policies = append(policies, string(p))
	}
	fs.offer("policy", policies...)
	correctedFlag(fs, &f.corrected)
	fs.processors(&f.vcpu, "vcpu", "the program hands out `n` processors of its own: regions named \"vcpu\" are running, \"vready\" ready (default: none)")
}

func (f *replayFlags) check(command string) (sim.Policy, error) {
	for _, p := range sim.Policies {
		if string(p) == f.policy {
			return p, nil
		}
	}
	return "", usageError{fmt.Errorf("%s: found -policy=%s, expected ps, fifo or go", command, f.policy)}
}

// build reads a trace, or a part of it.
func (f *replayFlags) build(e *env, file string, from, to time.Duration) (*steps.Program, *profile.Profile, error) {
	part := partOf{from: from, to: to, corrected: f.corrected, within: profile.Within{Procs: f.vcpu}}
	var p *steps.Program
	var pr *profile.Profile
	t, err := part.read(e, file, func(t *trace.Trace) (err error) {
		pr, p, err = advice.ProfileAndSteps(t, part.within, math.MaxUint64)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	if p.Steps.Len() > manySteps {
		debug.SetGCPercent(10)
	}
	return p, pr, nil
}

// manySteps is the number of steps above which memory is collected ten times as often. Nearly all
// of it is lists without pointers, which the collector need not scan. So this takes no longer, and
// saves half of the memory.
const manySteps = 1_000_000

// setupCritical shows what determines how long a run takes.
func setupCritical(fs *flagSet) action {
	f, procs := replayFlags{}, ""
	request, requests, html := "", false, ""
	var from, to time.Duration
	f.define(fs, sim.Sharing)
	fs.text(&html, "html", "write a page for the browser to this `file` (- for the standard output)")
	fs.text(&procs, "procs", "the path of the run on `n` processors, which is computed, or on as many as goroutines (max); default: that of the run as it was")
	fs.group("Part of the trace")
	fs.boolean(&requests, "requests", "list requests: regions and tasks of runtime/trace, labels of runtime/pprof, calls of handlers of net/http and grpc, tests")
	fs.text(&request, "request", "the paths of all requests of this `name`, added up")
	fs.interval(&from, &to)
	return func(e *env, args []string) error {
		policy, err := f.check("critical")
		if err != nil {
			return err
		}
		switch paths := requests || request != ""; {
		case html != "" && (f.asJSON || paths):
			return usageError{errors.New("critical: found -html with -json, -requests or -request, expected one of them")}
		case paths && procs != "":
			return usageError{errors.New("critical: found -procs with -requests or -request, whose paths are those of the run as it was")}
		}
		o := critpath.Options{Policy: policy, Max: procs == "max", AsRun: procs == "", Brief: !f.asJSON && html == ""}
		if n, err := strconv.Atoi(procs); err == nil && n > 0 && n <= trace.MaxProcs {
			o.Procs = n
		} else if !o.Max && !o.AsRun {
			return usageError{fmt.Errorf("critical: found -procs=%s, expected a number of processors, %d at most, or max", procs, trace.MaxProcs)}
		}
		file, err := oneFile(e, "critical", args)
		if err != nil {
			return err
		}
		p, pr, err := f.build(e, file, from, to)
		if err != nil {
			return err
		}
		if requests || request != "" {
			r := critpath.NewRequests(p)
			if request != "" {
				if r, err = critpath.NewRequest(p, request); err != nil {
					return usageError{fmt.Errorf("critical: -request: %w; qinst critical -requests lists them", err)}
				}
			}
			if f.asJSON {
				return json.NewEncoder(e.stdout).Encode(r)
			}
			return writeText(e, report.Requests(r))
		}
		facts := advice.From(p, pr)
		if o.AsRun && !f.asJSON && html == "" && facts.Served != "" {
			r, err := critpath.NewRequest(p, facts.Served)
			if err != nil {
				return err
			}
			return writeText(e, report.Served(r, int64(p.End), facts))
		}
		o.Held = advice.Held(pr)
		r := facts.Path
		if r == nil || !o.AsRun || !o.Brief || o.Policy != sim.Sharing {
			r = critpath.New(p, o)
		}
		switch {
		case f.asJSON:
			return json.NewEncoder(e.stdout).Encode(criticalObject{r, conclude(facts)})
		case html != "":
			page, err := report.CriticalPage(p, r, facts, predict.Gains(p, r.Procs, sim.Sharing))
			if err != nil {
				return err
			}
			return writeTo(e, html, func(w io.Writer) error { return page.WriteHTML(w, report.Look()) })
		}
		return writeText(e, report.Critical(r, facts))
	}
}

// criticalObject is what critical -json prints.
type criticalObject struct {
	*critpath.Result
	*concluded
}

// concluded are the conclusions as every JSON object about a trace has them.
type concluded struct {
	Advice []advice.Item `json:"advice"`
}

// conclude is nil without facts.
func conclude(f *advice.Facts) *concluded {
	if f == nil {
		return nil
	}
	return &concluded{advice.Of(f)}
}
