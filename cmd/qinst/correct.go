package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"qinst.dev/cmd/internal/analysis/perturb"
	"qinst.dev/cmd/internal/analysis/predict"
	"qinst.dev/cmd/internal/lab"
	"qinst.dev/cmd/internal/report"
	"qinst.dev/cmd/internal/stats"
	"qinst.dev/cmd/internal/trace"
)

// setupCorrect takes the cost of probes out of a trace.
func setupCorrect(fs *flagSet) action {
	asJSON, density, baseline, n, out := false, "", "", 20, ""
	fs.group("Form")
	fs.boolean(&asJSON, "json", "print one JSON object")
	fs.text(&out, "o", "write the trace with corrected times to a `file`, too (- for the standard output, alone)")
	fs.group("Assumptions")
	model, receive, exit := perturb.Fit, perturb.FIFO, predict.ExitRecorded
	oneOf(fs, &model, perturb.Models, "model", "how long it takes until who could run does, on an idle processor: `fit`, as long as it did; optimistic, no time, and probes cost the most they may; pessimistic, as it did, and they cost the least")
	oneOf(fs, &receive, perturb.Receives, "receive", "who is served first at a channel with several senders or receivers: `fifo`, who waits longest, as in Go; preserve, as in the run; lifo, who came last")
	oneOf(fs, &exit, predict.Exits, "exit", "in which order goroutines leave barriers of conditions and closed channels: `recorded`; fifo, as they came; reverse, the last one first; fixed, as they were created")
	fs.group("Prices")
	fs.text(&density, "density", "a `file` of another run of the same program, with more or fewer events: the price of events follows from the difference")
	fs.group("Comparison")
	fs.text(&baseline, "baseline", "a `command` that runs the program without probes, in words separated by blanks: the correction is compared with how long that takes")
	fs.number(&n, "n", "run it so often")
	return func(e *env, args []string) error {
		if n < 2 {
			return usageError{fmt.Errorf("correct: found -n=%d, expected 2 or more: one run does not show how far others are from it", n)}
		}
		file, err := oneFile(e, "correct", args)
		if err != nil {
			return err
		}
		t, err := trace.Open(file)
		if err != nil {
			return err
		}
		defer t.Close()
		o := perturb.Options{Model: model, Receive: receive, Exit: exit}
		if density != "" {
			d, err := trace.Open(density)
			if err != nil {
				return err
			}
			defer d.Close()
			o.Density = d
		}
		r, err := correctTo(e, out, t, o)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if baseline != "" {
			if err := runPlain(e, strings.Fields(baseline), n, r); err != nil {
				return fmt.Errorf("-baseline: %w", err)
			}
		}
		if out == "-" { // the trace is all that is on the standard output
			return nil
		}
		if asJSON {
			return json.NewEncoder(e.stdout).Encode(r)
		}
		return writeText(e, report.Correct(r))
	}
}

// oneOf defines a flag whose value is one of a few words.
func oneOf[T ~string](fs *flagSet, to *T, words []T, name, usage string) {
	fs.function(name, usage, func(s string) error {
		if !slices.Contains(words, T(s)) {
			return fmt.Errorf("found -%s=%s, expected one of %v", name, s, words)
		}
		*to = T(s)
		return nil
	})
}

// shortBaseline is a time of which a process's start and end, which no trace has, are a part that matters.
const shortBaseline = 200 * time.Millisecond

// runPlain runs a program without probes n times, and notes how long it took.
func runPlain(e *env, words []string, n int, r *perturb.Result) error {
	if len(words) == 0 {
		return errors.New("found no command")
	}
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	var took []int64
	var first []byte
	others := 0
	plan := lab.Plan{Rounds: n, Cases: []lab.Case{{Name: words[0], Job: lab.Job{Program: words[0], Args: words[1:], Plain: true, Collect: true}}}}
	err := (&lab.Runner{Stdout: e.stderr, Stderr: e.stderr}).Run(ctx, plan, func(res lab.Result) error {
		if took = append(took, int64(res.Wall)); len(took) == 1 {
			first = res.Stdout
		} else if !bytes.Equal(res.Stdout, first) {
			others++
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Actual, r.ActualLo, r.ActualHi = stats.Median(took), stats.Quantile(took, 0.025), stats.Quantile(took, 0.975)
	if others > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d plain runs printed something else than the first one: they may not have done the same", others, n))
	}
	if time.Duration(r.Actual) < shortBaseline {
		r.Notes = append(r.Notes, "plain runs are shorter than 200 ms: the start and the end of a process, which the trace does not have, are a part of that")
	}
	return nil
}
