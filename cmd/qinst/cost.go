package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"golang.org/x/tools/txtar"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

//go:embed cost.txtar
var costProgram []byte

// costEntry is the cost of the probes of one call, entry and exit, in one mode.
type costEntry struct {
	Mode    string  `json:"mode"`
	Threads int     `json:"threads"`
	CallNS  float64 `json:"call_ns"` // of the plain call on as many threads
	PairNS  float64 `json:"pair_ns"` // in addition to the plain call
	Ratio   float64 `json:"ratio"`   // of PairNS to two readings of the clock
	Traced  float64 `json:"traced"`  // share of the entries that wrote events
}

type costReport struct {
	Version int         `json:"version"` // 1; changes when a field's meaning does
	ClockNS float64     `json:"clock_ns"`
	CallNS  float64     `json:"call_ns"` // of the plain call
	Entries []costEntry `json:"entries"`
}

// costModes lists the measurements: a run-time mode and a loop of the program for each. The
// loops "drive" and "defers" are in a package without probes, so that their calls have no
// counters.
var costModes = []struct{ name, mode, loop string }{
	{"off", "off", "drive"},
	{"count", "count", "drive"},
	{"count+pairs", "count", "calls"},
	{"sample", "sample", "drive"},
	{"defer, counted", "count", "defers"},
	{"defer, sampled", "sample", "defers"},
	{"time", "time", "drive"},
	{"trace", "trace", "drive"},
	{"lock, counted", "count", "locks"},
	{"lock, traced", "trace", "locks"},
	{"channel, counted", "count", "channels"},
	{"channel, traced", "trace", "channels"},
	{"loop, counted", "count", "loops"},
	{"loop, sampled", "sample", "loops"},
	{"loop, timed", "time", "loops"},
	{"loop, traced", "trace", "loops"},
	{"iteration, counted", "count", "iterations"},
	{"iteration, traced", "trace", "iterations"},
}

// costSettings maps each mode to its run-time settings.
var costSettings = map[string]string{"off": "mode=off", "count": "mode=count", "sample": "mode=sample",
	"time": "kind:proc=time,kind:loop=time", "trace": "mode=trace"}

// setupCost measures the cost of a probe on this machine. It builds a small program with
// and without probes and compares their times.
func setupCost(fs *flagSet) action {
	var asJSON bool
	fs.group("Output")
	fs.boolean(&asJSON, "json", "print one JSON object")
	return func(e *env, args []string) error {
		if len(args) > 0 {
			return usageError{fmt.Errorf("cost: found %q, expected no arguments", args[0])}
		}
		return cost(e, asJSON)
	}
}

func cost(e *env, asJSON bool) error {
	tmp, err := lab.MkdirTemp("", "qinst-cost-")
	if err != nil {
		return err
	}
	defer tmp.Remove()
	dir := string(tmp)
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	runner := &lab.Runner{Stdout: e.stderr, Stderr: e.stderr} // the standard output is the table's
	if err := buildCost(ctx, runner, dir); err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	r, err := measureCost(ctx, runner, dir)
	if err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	if asJSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	return printCost(e.stdout, r)
}

// buildCost writes the program's source and builds it with and without probes.
func buildCost(ctx context.Context, runner *lab.Runner, dir string) error {
	for _, f := range txtar.Parse(costProgram).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			return err
		}
	}
	wrapper, err := wrapperOf(toolexec.Selection{Exclude: []string{"cost/drive"}})
	if err != nil {
		return err
	}
	v := lab.Variant{Name: "the program that is measured", Dir: dir, Args: []string{"."},
		Env: []string{"GOWORK=off", "GOFLAGS="}}
	if err := runner.Build(ctx, filepath.Join(dir, "plain"), v); err != nil {
		return err
	}
	v.Wrapper = wrapper
	return runner.Build(ctx, filepath.Join(dir, "probed"), v)
}

// costKey identifies one of the times that the program prints.
type costKey struct {
	loop    string
	threads int
}

// costRuns holds the times that the program printed, by mode.
type costRuns struct {
	times  map[string]map[costKey][]float64
	traced float64 // share of the calls that were traced in mode "trace", on average
}

// costTurns is how often each mode runs.
const costTurns = 9

// measureCost runs the program several times in every mode, alternately, and takes the median
// of the differences within a turn. Modes alternate because a disturbance of the machine
// then affects both sides of a difference.
func measureCost(ctx context.Context, runner *lab.Runner, dir string) (*costReport, error) {
	const rounds, calls = "7", "200000"
	plan := lab.Plan{Rounds: costTurns}
	runs := &costRuns{times: map[string]map[costKey][]float64{}}
	for _, mode := range []string{"plain", "off", "count", "sample", "time", "trace"} {
		job := lab.Job{Program: filepath.Join(dir, "probed"), Args: []string{rounds, calls},
			Settings: costSettings[mode] + ",limit=0,budget=off", Collect: true}
		switch mode {
		case "plain":
			job.Program, job.Plain = filepath.Join(dir, "plain"), true
		case "off":
			job.NoTrace = true
		}
		runs.times[mode] = map[costKey][]float64{}
		plan.Cases = append(plan.Cases, lab.Case{Name: mode, Job: job})
	}
	if err := runner.Run(ctx, plan, runs.add); err != nil {
		return nil, err
	}
	return runs.report(), nil
}

// add records the times that a run printed.
func (c *costRuns) add(res lab.Result) error {
	times := c.times[res.Case]
	in := bufio.NewScanner(bytes.NewReader(res.Stdout))
	for in.Scan() {
		f := strings.Fields(in.Text())
		if len(f) != 3 {
			return fmt.Errorf("the measured program printed %q, expected name, threads, ns", in.Text())
		}
		n, err1 := strconv.Atoi(f[1])
		ns, err2 := strconv.ParseFloat(f[2], 64)
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("the measured program printed %q: %w", in.Text(), err)
		}
		k := costKey{f[0], n}
		times[k] = append(times[k], ns)
	}
	if res.Case != "trace" {
		return nil
	}
	share, err := tracedShare(res.Trace)
	c.traced += share / costTurns
	return err
}

func (c *costRuns) report() *costReport {
	base := c.times["plain"]
	r := &costReport{Version: 1, ClockNS: stats.Median(base[costKey{"clock", 1}]),
		CallNS: stats.Median(base[costKey{"drive", 1}])}
	var threads []int
	for k := range base {
		if !slices.Contains(threads, k.threads) {
			threads = append(threads, k.threads)
		}
	}
	slices.Sort(threads)
	for _, n := range threads {
		for _, m := range costModes {
			k := costKey{m.loop, n}
			if base[k] == nil {
				continue // measured on one thread
			}
			traced := 0.0
			if m.mode == "trace" {
				traced = c.traced
			}
			ns := medianDifference(c.times[m.mode][k], base[k])
			r.Entries = append(r.Entries, costEntry{m.name, n, round(stats.Median(base[k])), round(ns),
				round(ns / (2 * r.ClockNS)), round(traced)})
		}
	}
	r.ClockNS, r.CallNS = round(r.ClockNS), round(r.CallNS)
	return r
}

// tracedShare returns the share of procedure entries in a file that wrote an event.
func tracedShare(file string) (float64, error) {
	t, err := trace.Open(file)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	var hits, traced uint64
	for _, p := range t.Points {
		if p.Kind == spec.PointProc {
			hits += p.Hits
			traced += p.Traced
		}
	}
	return float64(traced) / float64(max(hits, 1)), nil
}

func medianDifference(xs, ys []float64) float64 {
	var d []float64
	for i := range min(len(xs), len(ys)) {
		d = append(d, xs[i]-ys[i])
	}
	return stats.Median(d)
}

// round keeps two decimals, because the measurement is not more precise.
func round(x float64) float64 { return math.Round(100*x) / 100 }

func printCost(w io.Writer, r *costReport) error {
	fmt.Fprintf(w, "one reading of the clock %.2f ns, one plain call %.2f ns\n\n", r.ClockNS, r.CallNS)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "mode\tthreads\tplain ns\tns a call\tratio\ttraced\t")
	for _, c := range r.Entries {
		traced := "-"
		if strings.HasSuffix(c.Mode, "trace") {
			traced = fmt.Sprintf("%.0f%%", 100*c.Traced)
		}
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%s\t\n", c.Mode, c.Threads, c.CallNS, c.PairNS, c.Ratio, traced)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, `
ns a call: entry and exit together, beyond the plain call; ratio: to two readings
of the clock. count+pairs has the counter of the call site as well. A lock is Lock
and Unlock without a wait, a channel a send and a receive without one, a loop one
of two iterations, a defer a procedure with a deferred call: its exit is deferred, too.
Events that find no room, since the disk is slower than the
program, are counted instead.
`)
	return nil
}
