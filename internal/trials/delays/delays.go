// Package delays measures from outside how long delays are: it runs a program with delays of some
// length and of 0 by turns, and prints by how much longer it took for each hit, in time that passed
// and in time of processors. It does so alone, and beside busy processes.
package delays

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// points are the kinds of the program, and the rule that names what each reaches.
var points = []struct{ kind, rule string }{{"calls", "main.called"}, {"turns", "loop:range uint64(n)"},
	{"loop", "loop:range uint64(n)"}, {"lock", "hold:main.mu"}}

var lengths = []time.Duration{200, 500, 1000, 2000, 5000, 10_000, 50_000, 1_000_000}

const (
	together = 600 * time.Millisecond // delays of a run
	bar      = 0.02                   // from 5 us on
	barShort = 20.                    // ns
	long     = 5000
)

type trial struct {
	*bench.Env
	program string
	n       int
	only    []string
}

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("")
	t := trial{Env: e}
	fs.StringVar(&t.program, "program", "", "the program, with probes; without, testdata/delays is built")
	fs.IntVar(&t.n, "n", 10, "runs of each")
	busy := fs.Int("busy", -1, "so many processes that only compute, beside them; without, once none and once 2")
	only := fs.String("only", "", "these `kinds` alone, with commas")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	t.only = bench.Words(*only)
	if t.program == "" {
		var err error
		if t.program, err = e.Probed("program", "testdata/delays", "."); err != nil {
			return err
		}
	}
	beside := []int{0, 2}
	if *busy >= 0 {
		beside = []int{*busy}
	}
	for _, n := range beside {
		if err := t.beside(n); err != nil {
			return err
		}
	}
	return nil
}

// beside measures all kinds beside some processes.
func (t *trial) beside(busy int) error {
	end, err := t.Compete(busy)
	if err != nil {
		return err
	}
	defer end()
	beside := "nothing beside"
	if busy > 0 {
		beside = fmt.Sprintf("%d busy processes beside", busy)
	}
	table := bench.Table{Columns: []string{beside, "delay", "hits", "goroutines", "passed, each", "of processors, each",
		"spread", ""}}
	for _, p := range points {
		if len(t.only) > 0 && !slices.Contains(t.only, p.kind) {
			continue
		}
		for _, d := range lengths {
			if err := t.measure(&table, p.kind, p.rule, d, 1); err != nil {
				return err
			}
		}
	}
	for _, workers := range []int{2, 4, 8} {
		if workers > runtime.NumCPU() || busy > 0 {
			break
		}
		for _, p := range points[:3] { // holds are one after the other
			if err := t.measure(&table, p.kind, p.rule, 10_000, workers); err != nil {
				return err
			}
		}
	}
	table.Print()
	return t.Keep(table)
}

// measure compares runs with a delay, and with one of 0.
func (t *trial) measure(table *bench.Table, kind, rule string, d time.Duration, workers int) error {
	hits := int(together / d)
	job := func(d time.Duration) lab.Job {
		// Samplers use processors, too.
		return lab.Job{Program: t.program, Args: []string{kind, fmt.Sprint(hits), fmt.Sprint(workers)}, Collect: true,
			Settings: fmt.Sprintf("mode=count,sample=off,%s=+%dns", rule, d)}
	}
	var passed, used []float64
	var with lab.Result
	err := t.Turns(t.n, []lab.Case{{Name: "with", Job: job(d)}, {Name: "without", Job: job(0)}},
		func(r lab.Result) error {
			if said := string(r.Stdout) + string(r.Stderr); strings.Contains(said, "qinst") {
				// a rule that names nothing
				return fmt.Errorf("%s: %s", kind, said)
			}
			if r.Case == "with" {
				with = r
				return nil
			}
			passed = append(passed, float64(with.Wall-r.Wall)/float64(hits)*float64(workers))
			used = append(used, float64(with.CPU-r.CPU)/float64(hits))
			return nil
		})
	if err != nil {
		return err
	}
	slices.Sort(used)
	// the time that passed has what others took, and that of processors has the tool's threads
	each := min(stats.Median(passed), stats.Median(used))
	verdict, off := "", each-float64(d)
	if d >= long && (off > bar*float64(d) || off < -bar*float64(d)) || d < long && (off > barShort || off < -barShort) {
		verdict = "NOT within 2 % or 20 ns"
	}
	ns := func(v float64) string { return fmt.Sprintf("%.0f ns", v) }
	table.Add([]string{kind, d.String(), fmt.Sprint(hits), fmt.Sprint(workers), ns(stats.Median(passed)),
		ns(stats.Median(used)), ns(used[0]) + " to " + ns(used[t.n-1]), verdict})
	return nil
}
