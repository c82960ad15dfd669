// Package corrections compares corrected times with plain runs: for each program, everything traced
// and at the default budget, it alternates the plain program and the one with probes, as qinst
// correct -baseline does, and prints the corrected time relative to the plain one.
package corrections

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// programs are the commands, whose binaries exist plain and with probes.
var programs = []string{
	"perturb control", "perturb small", "perturb tree 600", "perturb pipeline", "perturb pingpong", "perturb lock",
	"perturb wait", "perturb condition", "perturb closed", "perturb receiver",
	"perturb barrier 2 1000 200000 500", "perturb barrier 4 1000 200000 500", "perturb barrier 8 500 200000 500",
	"perturb barrier 16 250 200000 500",
	"perturb transposed 2 1000 4000", "perturb transposed 4 1000 4000", "perturb transposed 8 500 4000",
	"perturb transposed 4 2000 4000 1", "perturb transposed 8 2000 4000 1",
	"perturb server",
	"convoy -n 2 -unit 4ms", "fig4", "imbalance", "logging -unit 4ms", "pipeline -unit 5ms", "plateau", "quicksort",
	"sorter", "workers",
	"goldmark 500", "toml 400", "zstd 1000", "interp 4000",
}

const everything = "budget=off,limit=0"

// settings are what programs are run with, those whose names begin with one of some words, if there
// are any. With second prices follow from another run at the default budget, which is for programs
// that probes make much slower.
var settings = []struct {
	name, value string
	of          []string
	second      bool
}{
	{"everything traced", everything, nil, false},
	{"everything traced, with a second run", everything,
		[]string{"perturb small", "perturb wait", "perturb condition", "perturb transposed", "goldmark", "toml", "zstd",
			"interp"}, true},
	{"default budget", "", nil, false},
	{"events take 15 ns more", everything + ",extra=15ns", []string{"perturb barrier"}, false},
	{"events take 45 ns more", everything + ",extra=45ns", []string{"perturb barrier"}, false},
	{"events take 75 ns more", everything + ",extra=75ns", []string{"perturb barrier"}, false},
}

// folders are the modules of the programs, below testdata, and the programs that are built.
var folders = []struct {
	dir   string
	names []string
}{
	{"perturb", []string{"perturb"}},
	{"workloads", []string{"convoy", "fig4", "imbalance", "logging", "pipeline", "plateau", "quicksort", "sorter",
		"workers"}},
	{"instructions", []string{"goldmark", "toml", "zstd", "interp"}},
}

type trial struct {
	*bench.Env
	bin string
	n   int
}

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("")
	t := trial{Env: e}
	fs.StringVar(&t.bin, "bin", "", "the `folder` of the programs, NAME.plain and NAME; without, they are built")
	fs.IntVar(&t.n, "n", 20, "runs of each")
	only := fs.String("only", "", "programs that begin with one of these `words` alone, with commas")
	with := fs.String("with", "", "settings whose names begin with one of these `words` alone, with commas")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	if t.bin == "" {
		t.bin = e.Scratch
		if err := t.build(bench.Words(*only)); err != nil {
			return err
		}
	}
	return t.run(bench.Words(*only), bench.Words(*with))
}

// build builds the programs that are run.
func (t *trial) build(only []string) error {
	for _, f := range folders {
		for _, name := range f.names {
			if !slices.ContainsFunc(programs, func(p string) bool {
				return strings.Fields(p)[0] == name &&
					begins(p, only)
			}) {
				continue
			}
			pkg := "./" + name
			if name == f.dir {
				pkg = "."
			}
			if _, _, err := t.Both(name, "testdata/"+f.dir, pkg); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *trial) run(only, with []string) error {
	var tables []bench.Table
	for _, s := range settings {
		if !begins(s.name, with) {
			continue
		}
		table := bench.Table{Columns: []string{s.name, "plain, s", "spread, %", "measured, times", "left, %",
			"lowest and highest", "between", "closer", ""}}
		for _, p := range programs {
			if !begins(p, s.of) || !begins(p, only) {
				continue
			}
			if !s.second {
				r, err := t.ask(p, s.value, t.n, "")
				if err != nil {
					return fmt.Errorf("%s: %w", p, err)
				}
				table.Add(row(p, r))
			} else if r, err := t.askTwice(p, s.value); err == nil {
				table.Add(row(p, r))
			} else if t.Ctx.Err() != nil {
				return err
			} else {
				fmt.Fprintf(os.Stderr, "%s: %v\n", p, err)
				table.Add([]string{p, "", "", "", "", "", "", "", "refused"})
			}
		}
		tables = append(tables, table)
	}
	for _, t := range tables {
		t.Print()
	}
	return t.Keep(tables...)
}

// begins reports whether a program's name begins with one of some words, if there are any.
func begins(program string, words []string) bool {
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(program, w) })
}

// askTwice is ask with prices from a second run, a new one for every two of the program.
func (t *trial) askTwice(program, settings string) (all correct.Result, err error) {
	const each = 2 // runs, as qinst correct wants at least
	words := strings.Fields(program)
	job := lab.Job{Program: t.bin + "/" + words[0], Args: words[1:], Collect: true}
	var plain []int64
	err = t.Turns((t.n+each-1)/each, []lab.Case{{Name: program, Job: job}}, func(second lab.Result) error {
		r, err := t.ask(program, settings, each, second.Trace)
		all.Turns = append(all.Turns, r.Turns...)
		plain = append(plain, r.ActualLo, r.ActualHi) // which are its two runs
		return err
	})
	if err != nil {
		return all, err
	}
	all.Beside(plain)
	return all, nil
}

// ask runs a program both ways alternately, and returns the tool's result. Prices follow from
// another trace, if that has a name.
func (t *trial) ask(program, settings string, n int, second string) (r correct.Result, err error) {
	words := strings.Fields(program)
	exe := t.bin + "/" + words[0]
	plain := strings.Join(append([]string{exe + ".plain"}, words[1:]...), " ")
	text, err := t.Tool(settings, append([]string{"correct", "-json", "-density", second, "-n", fmt.Sprint(n),
		"-baseline", plain, "--", exe}, words[1:]...)...)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// row is a program's: its length, the ratio with probes, and the ratio after the correction.
func row(program string, r correct.Result) []string {
	t := float64(r.Actual)
	off := func(ns int64) float64 { return 100 * (float64(ns)/t - 1) }
	between := 0
	for _, x := range r.Turns {
		if x.Optimistic <= r.Actual && r.Actual <= x.Pessimistic {
			between++
		}
	}
	all, left := r.Over()
	n, times, model := len(r.Turns), float64(stats.Median(all))/t, stats.Median(left)
	verdict := ""
	if bar := bar(times); off(model) > bar || off(model) < -bar {
		verdict = fmt.Sprintf("NOT within %.0f %%", bar)
	}
	return []string{program, fmt.Sprintf("%.2f", t/1e9), fmt.Sprintf("%.1f", off(r.ActualHi)-off(r.ActualLo)),
		fmt.Sprintf("%.2f", times),
		fmt.Sprintf("%+.1f", off(model)), fmt.Sprintf("%+.1f to %+.1f", off(left[0]), off(left[n-1])),
		fmt.Sprintf("%d of %d", between, n), fmt.Sprintf("%d of %d", r.Closer(), n), verdict}
}

// bar is the largest error of a correction, in per cent, of a run that takes the given multiple of
// the plain time.
func bar(times float64) float64 {
	switch {
	case times <= 2:
		return 5
	case times <= 3:
		return 10
	}
	return 100
}
