//go:build linux

// Command trials runs qinst on real programs and compares its effects, statements and costs with
// other evidence: the same program without probes, other tools, the system. Each trial takes
// minutes or hours.
//
//	go run ./internal/trials               lists them
//	go run ./internal/trials NAME -h       says which flags one has
//	go run ./internal/trials NAME [flags]
//
// The current directory has to be the repository's root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
	"qinst.dev/internal/trials/bottlenecks"
	"qinst.dev/internal/trials/cases"
	"qinst.dev/internal/trials/corrections"
	"qinst.dev/internal/trials/counts"
	"qinst.dev/internal/trials/delays"
	"qinst.dev/internal/trials/duel"
	"qinst.dev/internal/trials/fresh"
	"qinst.dev/internal/trials/gains"
	"qinst.dev/internal/trials/instructions"
	"qinst.dev/internal/trials/interference"
	"qinst.dev/internal/trials/othertests"
	"qinst.dev/internal/trials/paths"
	"qinst.dev/internal/trials/process"
	"qinst.dev/internal/trials/servers"
	"qinst.dev/internal/trials/soak"
	"qinst.dev/runtime/settings"
)

// trial is a row of the list.
type trial struct {
	name, doc string
	results   string // the file whose tables -update writes
	apart     bool   // its programs are in modules that go.work does not have
	run       func(e *bench.Env, args []string) error
}

var trials = []trial{
	{name: "arm64", doc: "programs with probes under qemu print what they print on amd64, and lose nothing (needs qemu-user-static)", run: arm64},
	{name: "bottlenecks", doc: "the first screen beside what well-known programs with bottlenecks know of themselves, and other tools (25 minutes)",
		results: "results/17-field-trials.json", apart: true, run: bottlenecks.Run},
	{name: "cases", doc: "first screens of programs with one bottleneck each, and of healthy ones, with the gains of their repaired forms (three minutes)",
		results: "results/28-cases.json", apart: true, run: cases.Run},
	{name: "corrections", doc: "corrected times beside plain runs (70 minutes with 20 runs of each)",
		results: "results/22-correction.json", apart: true, run: corrections.Run},
	{name: "counts", doc: "counts beside those of the cover tool, over other people's tests (6 minutes)", apart: true,
		run: counts.Run},
	{name: "delays", doc: "how long delays are, measured from outside, alone and beside busy processes (12 minutes)",
		results: "results/24-delays.json", apart: true, run: delays.Run},
	{name: "duel", doc: "what to change in programs whose bottleneck is known, by pprof, go tool trace, report and why (50 minutes)",
		results: "results/35-duel.json", apart: true, run: duel.Run},
	{name: "fresh", doc: "first screens of programs that are drawn by a seed, with the gains of their repaired forms (a quarter of an hour)",
		results: "results/29-fresh.json", apart: true, run: fresh.Run},
	{name: "fuzz", doc: "each fuzz target for a minute, or the given time", run: fuzz},
	{name: "gains", doc: "predicted gains beside those of programs that are really changed, drawn by a seed (a quarter of an hour)",
		results: "results/27-gains.json", apart: true, run: gains.Run},
	{name: "hostile", doc: "single bits of traces flipped, and mutated traces, read by every command (half an hour)",
		run: hostile},
	{name: "instructions", doc: "instructions that probes add to programs that call much, sizes, compile times (5 to 8 minutes; needs valgrind)",
		results: "results/15-instructions.json", run: instructions.Run},
	{name: "interference", doc: "the profile on machines that interfere, beside what the system gave the program (2 minutes; quotas need root)",
		results: "results/18-other-load.json", run: interference.Run},
	{name: "kill", doc: "a program killed at random times, and what is found of its trace (25 minutes)", run: kill},
	{name: "matrix", doc: "programs print the same with probes in every way that the go command builds them (15 minutes)", run: matrix},
	{name: "modules", doc: "tests of modules that are drawn from a list end the same with probes, and the first screens of their largest traces (5 minutes each)",
		apart: true, run: othertests.Drawn},
	{name: "othertests", doc: "other people's tests end the same with probes (25 minutes)", apart: true,
		run: othertests.Run},
	{name: "paths", doc: "predictions and weights of real runs beside what is measured, and paths at the default budget beside complete ones (2 minutes)",
		results: "results/21-critical-path.json", apart: true, run: paths.Run},
	{name: "process", doc: "what programs do to their own process works the same with probes (a minute; some cases need root)", run: process.Run},
	{name: "releases", doc: "all tests with other releases of Go (20 minutes each)", run: releases},
	{name: "servers", doc: "three servers under load: answers, ends and traces are right (15 minutes)", apart: true,
		run: servers.Run},
	{name: "soak", doc: "what a server takes in an hour under a steady load, beside the plain one", apart: true,
		run: soak.Run},
	{name: "states", doc: "what recorded scheduling events cost", run: states},
	{name: "storm", doc: "10^10 calls counted in line while goroutines are stopped, beside the numbers that are known (10 minutes)", run: storm},
	{name: "thorough", doc: "all tests with all of their random cases, ten times as many (15 minutes)", run: thorough},
}

func main() {
	lab.EndBySignals(os.Exit)
	os.Exit(status(os.Args[1:], os.Stdout, os.Stderr))
}

// status runs what a command line names, and returns the status of the process.
func status(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		list(stdout)
		return 0
	}
	i := slices.IndexFunc(trials, func(t trial) bool { return t.name == args[0] })
	if i < 0 {
		fmt.Fprintln(stderr, "trials:", unknown(args[0]))
		return 2
	}
	err := trials[i].start(args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(stderr, "trials: %s: %v\n", trials[i].name, err)
	var usage bench.UsageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

// start runs a trial, until a signal ends it.
func (t *trial) start(args []string) error {
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	e, leave, err := bench.New(ctx, t.name, t.doc, t.results)
	if err != nil {
		return err
	}
	defer leave()
	if t.apart {
		err = e.LeaveWorkspace()
	}
	if err == nil {
		err = t.run(e, args)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

func list(w io.Writer) {
	for _, t := range trials {
		keeps := ""
		if t.results != "" {
			keeps = "; -update writes " + t.results
		}
		fmt.Fprintf(w, "%-13s %s%s\n", t.name, t.doc, keeps)
	}
}

// unknown is the error for a name that no trial has.
func unknown(name string) string {
	var names []string
	for _, t := range trials {
		names = append(names, t.name)
	}
	if near := settings.NearestWord(name, names); near != "" {
		return fmt.Sprintf("found %q, expected the name of a trial (did you mean %s?)", name, near)
	}
	return fmt.Sprintf("found %q, expected one of %s", name, strings.Join(names, ", "))
}
