package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"golang.org/x/tools/txtar"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/stats"
	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

//go:embed cost.txtar
var costProgram []byte

// costEntry is the cost of the probes of one call, entry and exit, in one mode.
type costEntry struct {
	Mode    string  `json:"mode"`
	Threads int     `json:"threads"`
	CallNS  float64 `json:"call_ns"` // of the plain call on as many threads
	PairNS  float64 `json:"pair_ns"` // more than the plain call takes
	Ratio   float64 `json:"ratio"`   // of PairNS to two readings of the clock
	Traced  float64 `json:"traced"`  // share of the entries that wrote events
}

type costReport struct {
	Version int         `json:"version"` // 1; changes when a field's meaning does
	ClockNS float64     `json:"clock_ns"`
	CallNS  float64     `json:"call_ns"` // of the plain call
	Entries []costEntry `json:"entries"`
}

// costModes are what is measured: a setting of the run-time mode, and whether
// the calls come from a package that is instrumented too.
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

// costSettings are the run-time settings of a mode.
var costSettings = map[string]string{"off": "mode=off", "count": "mode=count", "sample": "mode=sample", "time": "kind:proc=time,kind:loop=time", "trace": "mode=trace"}

// setupCost measures what a probe costs on this machine, with a small program that
// it builds plain and instrumented.
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
	dir, err := os.MkdirTemp("", "qinst-cost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := buildCost(e, dir); err != nil {
		return err
	}
	r, err := measureCost(e, dir)
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	return printCost(e.stdout, r)
}

// buildCost writes the program out and builds it both ways.
func buildCost(e *env, dir string) error {
	for _, f := range txtar.Parse(costProgram).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			return err
		}
	}
	e.progress("building the program that is measured")
	plain := exec.Command("go", "build", "-C", dir, "-o", "plain", ".")
	plain.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := plain.CombinedOutput(); err != nil {
		return fmt.Errorf("cost: %w\n%s", err, out)
	}
	probed, err := goArgs("build", dir, toolexec.Selection{Exclude: []string{"cost/drive"}}, "-o", "probed", ".")
	if err != nil {
		return err
	}
	cmd := exec.Command("go", probed...)
	cmd.Env = plain.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cost: %w\n%s", err, out)
	}
	return nil
}

// costKey names one time that the program prints.
type costKey struct {
	loop    string
	threads int
}

// measureCost runs the program in every mode by turns, several times, and takes
// the median of the differences within a turn: what disturbs the machine for a
// while then disturbs both sides.
func measureCost(e *env, dir string) (*costReport, error) {
	const turns = 9
	times := map[string]map[costKey][]float64{"plain": {}}
	for mode := range costSettings {
		times[mode] = map[costKey][]float64{}
	}
	traced := map[string]float64{}
	for turn := range turns {
		e.progress("measuring, %d of %d", turn+1, turns)
		for _, mode := range []string{"plain", "off", "count", "sample", "time", "trace"} {
			share, err := runCost(dir, mode, times[mode])
			if err != nil {
				return nil, err
			}
			traced[mode] += share / turns
		}
	}
	base := times["plain"]
	one := costKey{"clock", 1}
	r := &costReport{Version: 1, ClockNS: stats.Median(base[one]), CallNS: stats.Median(base[costKey{"drive", 1}])}
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
			ns := medianDifference(times[m.mode][k], base[k])
			r.Entries = append(r.Entries, costEntry{m.name, n, round(stats.Median(base[k])), round(ns), round(ns / (2 * r.ClockNS)), round(traced[m.mode])})
		}
	}
	r.ClockNS, r.CallNS = round(r.ClockNS), round(r.CallNS)
	return r, nil
}

// runCost runs the program once and adds what it prints to times. It returns
// the share of calls that were traced.
func runCost(dir, mode string, times map[costKey][]float64) (traced float64, err error) {
	const rounds, calls = "7", "200000"
	file := filepath.Join(dir, "cost.sddf")
	defer os.Remove(file)
	cmd := exec.Command(filepath.Join(dir, "probed"), rounds, calls)
	cmd.Env = append(os.Environ(), "QINST="+costSettings[mode]+",limit=0,budget=off,out="+file)
	if mode == "plain" {
		cmd = exec.Command(filepath.Join(dir, "plain"), rounds, calls)
	}
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("cost: the measured program: %w", err)
	}
	in := bufio.NewScanner(bytes.NewReader(out))
	for in.Scan() {
		f := strings.Fields(in.Text())
		if len(f) != 3 {
			return 0, fmt.Errorf("cost: the measured program printed %q, expected name, threads, ns", in.Text())
		}
		n, err1 := strconv.Atoi(f[1])
		ns, err2 := strconv.ParseFloat(f[2], 64)
		if err := errors.Join(err1, err2); err != nil {
			return 0, fmt.Errorf("cost: the measured program printed %q: %w", in.Text(), err)
		}
		k := costKey{f[0], n}
		times[k] = append(times[k], ns)
	}
	if mode != "trace" {
		return 0, nil
	}
	return tracedShare(file)
}

// tracedShare is the share of procedure entries in a file that wrote an event.
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

// round leaves as many digits as the measurement supports.
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
