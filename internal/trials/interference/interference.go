//go:build linux

// Package interference runs one program on machines that interfere: alone, with a quota of a fifth
// of a processor, with a competitor on each processor, stopped for half a second, and with locks
// whose holders are preempted. For each it prints the profile's times and the system's account of
// the process, each procedure's time compared with the run alone, and the share of the time without
// a processor that has the right reason: with the system's records of switches (os=on), and
// without.
//
// With -quotas it makes that many runs instead, each with a quota of its own, with the competitors,
// and compares the busy time of their profiles with the system's count.
package interference

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/trials/bench"
)

type trial struct {
	*bench.Env
	program string
}

// Run is the trial.
func Run(e *bench.Env, args []string) (err error) {
	fs := e.ToolFlags("")
	t := trial{Env: e}
	fs.StringVar(&t.program, "program", "", "the program, with probes; without, testdata/programs/steady is built")
	turns := fs.Int("turns", 3, "run each so often, and take the median")
	quotas := fs.Int("quotas", 0, "make so many runs with a quota of 10 to 90 % of a processor beside competitors, and nothing else")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	if t.program == "" {
		if t.program, err = e.Probed("steady", "testdata/programs", "./steady"); err != nil {
			return err
		}
	}
	var table bench.Table
	if *quotas > 0 {
		table, err = t.underQuotas(*quotas)
	} else {
		table, err = t.measure(*turns)
	}
	if err != nil {
		return err
	}
	table.Print()
	return e.Keep(table)
}

// measure runs the program under all conditions.
func (t *trial) measure(turns int) (bench.Table, error) {
	table := bench.Table{Columns: []string{"machine", "os", "busy / used", "heavy / alone", "light / alone", "off-CPU",
		"right reason", "advice first"}}
	alone := map[string]outcome{}
	for _, c := range conditions {
		for _, asked := range []string{"on", "off"} {
			var all []outcome
			for range turns {
				o, err := t.try(c, asked)
				if err != nil {
					return table, fmt.Errorf("%s: %w", c.name, err)
				}
				all = append(all, o)
			}
			o := median(all)
			key := asked + strings.Join(c.args, " ")
			if c.name == "alone" || c.name == "alone, locked" {
				alone[key] = o
			}
			table.Rows = append(table.Rows, o.row(c, asked, alone[key]))
		}
	}
	return table, nil
}

// median takes each number's median.
func median(all []outcome) (m outcome) {
	m = all[0]
	for _, f := range []func(*outcome) *float64{
		func(o *outcome) *float64 { return &o.busy }, func(o *outcome) *float64 { return &o.used },
		func(o *outcome) *float64 { return &o.heavy },
		func(o *outcome) *float64 { return &o.light }, func(o *outcome) *float64 { return &o.off },
		func(o *outcome) *float64 { return &o.right }} {
		var list []float64
		for i := range all {
			list = append(list, *f(&all[i]))
		}
		slices.Sort(list)
		*f(&m) = list[len(list)/2]
	}
	return m
}
