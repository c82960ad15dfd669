// Command delays measures from outside how long delays are: it runs a program with delays of some length and of 0 by turns, and prints by how much longer it took for
// each hit, in time that passed and in time of processors.
//
//	delays -program PATH [-n N] [-busy N] [-only KIND,...] [-kept FILE [-update]]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/kept"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
)

// points are the kinds of the program, and the rule that names what each reaches.
var points = []struct{ kind, rule string }{{"calls", "main.called"}, {"turns", "loop:range uint64(n)"}, {"loop", "loop:range uint64(n)"}, {"lock", "hold:main.mu"}}

var lengths = []time.Duration{200, 500, 1000, 2000, 5000, 10_000, 50_000, 1_000_000}

const (
	together = 600 * time.Millisecond // delays of a run
	bar      = 0.02                   // from 5 us on
	barShort = 20.                    // ns
	long     = 5000
)

func main() {
	program := flag.String("program", "", "the program, with probes")
	n := flag.Int("n", 10, "runs of each")
	busy := flag.Int("busy", 0, "so many processes that only compute, beside them")
	only := flag.String("only", "", "these kinds alone")
	file := flag.String("kept", "", "the file that keeps results")
	update := flag.Bool("update", false, "keep what is measured in the file")
	flag.Parse()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	if err := run(ctx, *program, *n, *busy, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }), *file, *update); err != nil {
		fmt.Fprintln(os.Stderr, "delays:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program string, n, busy int, only []string, file string, update bool) error {
	for range busy {
		end := neighbour(ctx)
		defer end()
	}
	beside := "nothing beside"
	if busy > 0 {
		beside = fmt.Sprintf("%d busy processes beside", busy)
	}
	t := kept.Table{Columns: []string{beside, "delay", "hits", "goroutines", "passed, each", "of processors, each", "spread", ""}}
	for _, p := range points {
		if len(only) > 0 && !slices.Contains(only, p.kind) {
			continue
		}
		for _, d := range lengths {
			row, err := measure(ctx, program, p.kind, p.rule, d, n, 1)
			if err != nil {
				return err
			}
			t.Rows = append(t.Rows, row)
			fmt.Fprintln(os.Stderr, strings.Join(row, " | "))
		}
	}
	for _, workers := range []int{2, 4, 8} {
		if workers > runtime.NumCPU() || busy > 0 {
			break
		}
		for _, p := range points[:3] { // holds are one after the other
			row, err := measure(ctx, program, p.kind, p.rule, 10_000, n, workers)
			if err != nil {
				return err
			}
			t.Rows = append(t.Rows, row)
			fmt.Fprintln(os.Stderr, strings.Join(row, " | "))
		}
	}
	t.Print()
	if !update {
		return nil
	}
	return kept.Keep(file, []kept.Table{t})
}

// measure compares runs with a delay, and with one of 0.
func measure(ctx context.Context, program, kind, rule string, d time.Duration, n, workers int) ([]string, error) {
	hits := int(together / d)
	var passed, used []float64
	for range n {
		with, err := once(ctx, program, kind, hits, workers, fmt.Sprintf("%s=+%dns", rule, d))
		if err != nil {
			return nil, err
		}
		without, err := once(ctx, program, kind, hits, workers, rule+"=+0ns")
		if err != nil {
			return nil, err
		}
		passed = append(passed, (with.passed-without.passed)/float64(hits)*float64(workers))
		used = append(used, (with.used-without.used)/float64(hits))
	}
	slices.Sort(passed)
	slices.Sort(used)
	each := min(stats.Median(passed), stats.Median(used)) // the time that passed has what others took, and that of processors has the tool's threads
	verdict, off := "", each-float64(d)
	if d >= long && (off > bar*float64(d) || off < -bar*float64(d)) || d < long && (off > barShort || off < -barShort) {
		verdict = "NOT within 2 % or 20 ns"
	}
	ns := func(v float64) string { return fmt.Sprintf("%.0f ns", v) }
	return []string{kind, d.String(), fmt.Sprint(hits), fmt.Sprint(workers), ns(stats.Median(passed)), ns(stats.Median(used)), ns(used[0]) + " to " + ns(used[n-1]), verdict}, nil
}

type took struct{ passed, used float64 } // ns

func once(ctx context.Context, program, kind string, hits, workers int, rule string) (took, error) {
	dir, err := os.MkdirTemp("", "delays")
	if err != nil {
		return took{}, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, program, kind, fmt.Sprint(hits), fmt.Sprint(workers))
	cmd.Env = append(os.Environ(), "QINST=mode=count,sample=off,out="+dir+"/run.sddf,"+rule) // samplers use processors, too
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return took{}, fmt.Errorf("%s: %w\n%s", kind, err, out)
	}
	if strings.Contains(string(out), "qinst") { // a rule that names nothing
		return took{}, fmt.Errorf("%s: %s", kind, out)
	}
	return took{float64(time.Since(began)), float64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())}, nil
}

// neighbour is a process that computes until it is ended.
func neighbour(ctx context.Context) (end func()) {
	cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
	if cmd.Start() != nil {
		return func() {}
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
