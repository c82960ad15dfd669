//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// states measures the cost of recorded scheduling events: testdata/programs/states, plain and with
// probes alternately, medians of five runs of each. GOMAXPROCS is used as it is set.
func states(e *bench.Env, args []string) error {
	if err := e.Parse(e.ToolFlags(""), args); err != nil {
		return err
	}
	plain, probed, err := e.Both("states", "testdata/programs", "./states")
	if err != nil {
		return err
	}
	ns := map[string]map[string][]float64{} // by the program's activity, and the build
	err = e.Turns(5, []lab.Case{
		{Name: "plain", Job: lab.Job{Program: plain, Plain: true, Collect: true}},
		{Name: "instrumented", Job: lab.Job{Program: probed, Settings: "budget=off", Collect: true}},
	}, func(r lab.Result) error {
		for line := range strings.Lines(string(r.Stdout)) {
			var what string
			var took float64
			if _, err := fmt.Sscan(line, &what, &took); err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
			if ns[what] == nil {
				ns[what] = map[string][]float64{}
			}
			ns[what][r.Case] = append(ns[what][r.Case], took)
		}
		return nil
	})
	if err != nil {
		return err
	}
	t := bench.Table{Columns: []string{"states", "plain, ns", "instrumented, ns", "%"}}
	for _, what := range slices.Sorted(maps.Keys(ns)) {
		p, q := stats.Median(ns[what]["plain"]), stats.Median(ns[what]["instrumented"])
		t.Rows = append(t.Rows, []string{what, fmt.Sprintf("%.1f", p), fmt.Sprintf("%.1f", q),
			fmt.Sprintf("%+.1f", 100*(q/p-1))})
	}
	t.Print()
	return nil
}
