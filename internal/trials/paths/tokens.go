package paths

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

// workload is a program whose processors are tokens.
type workload struct {
	name, unit string
	// The known worth of procedures with their callees, in per cent of the run, by number of
	// processors.
	procs int
	worth map[string]float64
}

var workloads = []workload{
	{"fig4", "40ms", 4, map[string]float64{"main.b": 400. / 11, "main.f": 300. / 11, "main.a": 200. / 11,
		"main.e": 200. / 11, "main.d": 0}},
	{"pipeline", "4ms", 4, map[string]float64{"main.first": 200. / 105, "main.second": 10000. / 105,
		"main.third": 300. / 105}},
	{"convoy", "4ms", 8, map[string]float64{"main.outside": 400. / 404, "main.inside": 40000. / 404}},
	{"workers", "3ms", 2, map[string]float64{"main.slow": 100, "main.fast": 0}},
	{"plateau", "40ms", 2, map[string]float64{"main.foo": 0, "main.bar": 100}},
	{"sorter", "60ms", 8, nil},
	{"quicksort", "10ms", 4, nil},
}

// ladder are the numbers of processors.
var ladder = []int{1, 2, 4, 8}

var measured = regexp.MustCompile(`measured T = \S+ \((\S+)\)`)

// tokens measures how far predictions and weights are off.
func (t *trial) tokens() (bench.Table, error) {
	table := bench.Table{Columns: []string{"program", "predicted from 1", "from 2", "from 4", "from 8", "worth off by"}}
	sum, worst, n, points := 0., 0., 0, 0.
	for _, w := range workloads {
		files, took, err := t.climb(w)
		if err != nil {
			return table, fmt.Errorf("%s: %w", w.name, err)
		}
		row := []string{w.name}
		for _, p := range ladder {
			off, err := t.predicts(files[p], p, took)
			if err != nil {
				return table, err
			}
			most := 0.
			for _, e := range off {
				sum, n = sum+e, n+1
				most = max(most, e)
			}
			worst = max(worst, most)
			row = append(row, fmt.Sprintf("%.2f %%", 100*most))
		}
		off, err := t.worth(files, w)
		if err != nil {
			return table, err
		}
		points = max(points, off)
		row = append(row, fmt.Sprintf("%.2f points", off))
		table.Rows = append(table.Rows, row)
	}
	table.Rows = append(table.Rows, []string{"all", fmt.Sprintf("mean %.2f %%", 100*sum/float64(n)),
		fmt.Sprintf("worst %.2f %%", 100*worst), "", "", fmt.Sprintf("%.2f points", points)})
	return table, nil
}

// climb runs a workload on each number of processors, and returns its traces and its own
// measurements, in ns.
func (t *trial) climb(w workload) (files map[int]string, took map[int]float64, err error) {
	files, took = map[int]string{}, map[int]float64{}
	plan := lab.Plan{Rounds: 1, Traces: filepath.Join(t.Scratch, w.name+".traces")}
	for _, p := range ladder {
		plan.Cases = append(plan.Cases, lab.Case{Name: strconv.Itoa(p),
			Job: t.job("budget=off,limit=0", "w-"+w.name, "-unit", w.unit, "-vcpu", strconv.Itoa(p))})
	}
	if err := os.Mkdir(plan.Traces, 0o777); err != nil {
		return nil, nil, err
	}
	err = (&lab.Runner{}).Run(t.Ctx, plan, func(r lab.Result) error {
		m := measured.FindSubmatch(r.Stdout)
		if m == nil {
			return fmt.Errorf("found %q, expected a measured time", r.Stdout)
		}
		of, err := time.ParseDuration(string(m[1]))
		p, err2 := strconv.Atoi(r.Case)
		files[p], took[p] = r.Trace, float64(of)
		return errors.Join(err, err2)
	})
	return files, took, err
}

// predicts returns the relative errors of the predictions of a run for all numbers of processors.
func (t *trial) predicts(file string, procs int, took map[int]float64) (off []float64, err error) {
	var r predict.Result
	args := []string{"predict", "-json", "-vcpu", strconv.Itoa(procs), "-procs",
		strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ladder)), ","), "[]"), file}
	if err := t.Ask(&r, args...); err != nil {
		return nil, err
	}
	for _, of := range r.Runs {
		off = append(off, math.Abs(float64(of.T)/took[of.Procs]-1))
	}
	return off, nil
}

// worth returns by how many points of the run the worth of procedures is off, whatever the run was
// recorded on.
func (t *trial) worth(files map[int]string, w workload) (most float64, err error) {
	if len(w.worth) == 0 {
		return 0, nil
	}
	for procs, file := range files {
		var r critpath.Result
		if err := t.Ask(&r, "critical", "-json", "-vcpu", strconv.Itoa(procs), "-procs", strconv.Itoa(w.procs),
			file); err != nil {
			return 0, err
		}
		for i := range r.Entries {
			e := &r.Entries[i]
			if want, ok := w.worth[e.Name]; ok && e.Kind == critpath.KindProc {
				most = max(most, math.Abs(100*float64(e.WeightedInclusive)/float64(r.Replay)-want))
			}
		}
	}
	return most, nil
}
