//go:build linux

// Command machine runs one program on machines that interfere: alone, with a quota of a fifth of a processor, beside a
// competitor on each processor, stopped for half a second, and with locks whose holders are preempted. For each it prints
// what the profile says beside what the system gave the process, each procedure's time beside that of the run alone, and how much of the
// time without a processor has the right reason: where the system tells of switches (os=on), and where it does not.
//
// With -quotas it makes that many runs instead, each with a quota of its own from its start, beside the competitors, and prints how the busy
// time of their profiles compares with what the system counted.
//
//	machine -program PATH [-turns N | -quotas N] [-kept FILE [-update]]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"qinst.dev/internal/kept"
	"qinst.dev/internal/lab"
)

func main() {
	program := flag.String("program", "", "the program, with probes")
	turns := flag.Int("turns", 3, "run each so often, and take the median")
	quotas := flag.Int("quotas", 0, "make so many runs with a quota of 10 to 90 % of a processor beside competitors, and nothing else")
	file := flag.String("kept", "", "the file that keeps results")
	update := flag.Bool("update", false, "keep what is measured in the file")
	flag.Parse()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	table, err := kept.Table{}, error(nil)
	if *quotas > 0 {
		table, err = underQuotas(ctx, *program, *quotas)
	} else {
		table, err = measure(ctx, *program, *turns)
	}
	if err == nil {
		table.Print()
		if *update {
			err = kept.Keep(*file, []kept.Table{table})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "machine:", err)
		os.Exit(1)
	}
}

// measure runs the program under all conditions.
func measure(ctx context.Context, program string, turns int) (kept.Table, error) {
	t := kept.Table{Columns: []string{"machine", "os", "busy / used", "heavy / alone", "light / alone", "off-CPU", "right reason", "advice first"}}
	scratch, err := os.MkdirTemp("", "machine")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(scratch)
	alone := map[string]outcome{}
	for _, c := range conditions {
		for _, asked := range []string{"on", "off"} {
			var all []outcome
			for range turns {
				o, err := try(ctx, c, program, scratch, asked)
				if err != nil {
					return t, fmt.Errorf("%s: %w", c.name, err)
				}
				all = append(all, o)
			}
			o := median(all)
			key := asked + strings.Join(c.args, " ")
			if c.name == "alone" || c.name == "alone, locked" {
				alone[key] = o
			}
			t.Rows = append(t.Rows, o.row(c, asked, alone[key]))
		}
	}
	return t, nil
}

// median takes each number's median.
func median(all []outcome) (m outcome) {
	m = all[0]
	for _, f := range []func(*outcome) *float64{
		func(o *outcome) *float64 { return &o.busy }, func(o *outcome) *float64 { return &o.used }, func(o *outcome) *float64 { return &o.heavy },
		func(o *outcome) *float64 { return &o.light }, func(o *outcome) *float64 { return &o.off }, func(o *outcome) *float64 { return &o.right }} {
		var list []float64
		for i := range all {
			list = append(list, *f(&all[i]))
		}
		slices.Sort(list)
		*f(&m) = list[len(list)/2]
	}
	return m
}
