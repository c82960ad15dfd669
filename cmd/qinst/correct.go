package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
)

// setupCorrect takes the cost of probes out of a trace.
func setupCorrect(fs *flagSet) action {
	asJSON, density, plain, n, out := false, "", "", 20, ""
	fs.group("Form")
	fs.boolean(&asJSON, "json", "print one JSON object")
	fs.text(&out, "o", "write the trace with corrected times to a `file`, too (- for the standard output, alone)")
	fs.group("Assumptions")
	model, receive, exit := correct.Fit, correct.FIFO, sim.ExitRecorded
	oneOf(fs, &model, correct.Models, "model", "how long it takes until who could run does, on an idle processor: `fit`, as usual in this run after as long an idle time; optimistic, no time, and probes cost the most they may; pessimistic, as it did, and they cost the least")
	oneOf(fs, &receive, correct.Receives, "receive",
		"who is served first at a channel with several senders or receivers: `fifo`, who waits longest, as in Go; preserve, as in the run; lifo, who came last")
	oneOf(fs, &exit, sim.Exits, "exit", "in which order goroutines leave barriers of conditions and closed channels: `recorded`; fifo, as they came; reverse, the last one first; fixed, as they were created")
	fs.group("Prices")
	fs.text(&density, "density", "a `file` of another run of the same program, with more or fewer events: the price of events follows from the difference")
	fs.group("Comparison")
	fs.text(&plain, "baseline", "a `command` that runs the program without probes, in words separated by blanks: the correction is compared with how long that takes; a program with probes in place of the file is run by turns with it")
	fs.number(&n, "n", "run each so often")
	return func(e *env, args []string) error {
		if n < 2 {
			return usageError{fmt.Errorf("correct: found -n=%d, expected 2 or more: one run does not show how far others are from it", n)}
		}
		o := correct.Options{Model: model, Receive: receive, Exit: exit}
		if density != "" {
			d, err := trace.Open(density)
			if err != nil {
				return err
			}
			defer d.Close()
			o.Density = d
		}
		var r *correct.Result
		var facts *advice.Facts
		b := &baseline{plain: strings.Fields(plain), n: n}
		if len(args) > 0 && isProgram(args[0]) {
			if plain == "" || out != "" {
				return usageError{fmt.Errorf("correct: found a program, %s, expected a trace, unless with -baseline and without -o", args[0])}
			}
			b.probed = args
		} else {
			file, err := oneFile(e, "correct", args)
			if err != nil {
				return err
			}
			if r, facts, err = correctFile(e, out, file, o); err != nil {
				return err
			}
		}
		if plain != "" {
			var err error
			if r, err = b.compare(e, o, r); err != nil {
				return fmt.Errorf("-baseline: %w", err)
			}
		}
		if out == "-" { // the trace is all that is on the standard output
			return nil
		}
		if asJSON {
			return json.NewEncoder(e.stdout).Encode(correctObject{r, conclude(facts)})
		}
		return writeText(e, report.Correct(r, facts))
	}
}

// correctObject is what correct -json prints.
type correctObject struct {
	*correct.Result
	*concluded
}

// oneOf defines a flag whose value is one of a few words.
func oneOf[T ~string](fs *flagSet, to *T, words []T, name, usage string) {
	var offered []string
	for _, w := range words {
		offered = append(offered, string(w))
	}
	fs.offer(name, offered...)
	fs.function(name, usage, func(s string) error {
		if !slices.Contains(words, T(s)) {
			return fmt.Errorf("found -%s=%s, expected one of %v", name, s, words)
		}
		*to = T(s)
		return nil
	})
}
