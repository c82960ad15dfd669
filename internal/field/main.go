// Command field tries qinst as a stranger would: on well-known programs, at default settings, with
// bottlenecks put in whose truth the programs know themselves. For each case it prints the place of
// the truth among the conclusions of the first screen, the number shown there beside the true one,
// and where a profile by processor time and the execution tracer's profile of waits have it.
//
//	field -qinst PATH -dir testdata/field [-only KIND,...] [-turns N] [-keep FOLDER] [PROGRAM ...]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"qinst.dev/lab"
)

func main() {
	qinst := flag.String("qinst", "", "path of the qinst command")
	dir := flag.String("dir", ".", "directory of the programs' module")
	only := flag.String("only", "", "these kinds of bottlenecks alone")
	turns := flag.Int("turns", 1, "run each case so often")
	duel := flag.Bool("duel", true, "run the other tools as well")
	keep := flag.String("keep", "", "a folder for programs and traces, which stays; programs in it are used as they are")
	flag.Parse()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	s := &suite{ctx: ctx, qinst: *qinst, dir: *dir, scratch: *keep, duel: *duel}
	if err := s.run(flag.Args(), strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }), *turns); err != nil {
		fmt.Fprintln(os.Stderr, "field:", err)
		os.Exit(1)
	}
}

// suite is what all trials use.
type suite struct {
	ctx        context.Context
	qinst, dir string // the command; the drivers' module
	scratch    string // for copies of modules, programs and traces
	duel       bool
}

// run tries programs, those that are named or all, with each kind of bottleneck.
func (s *suite) run(names, only []string, turns int) error {
	if s.scratch == "" {
		tmp, err := os.MkdirTemp("", "field-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		s.scratch = tmp
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	var all []outcome
	for _, p := range programs {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		b, err := s.build(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, k := range kinds {
			if len(only) > 0 && !slices.Contains(only, k.name) {
				continue
			}
			for turn := range turns {
				o, err := s.try(b, k, turn)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, k.name, err)
				}
				fmt.Fprintln(w, strings.Join(o.row(), "\t"))
				_ = w.Flush() // what it prints to has nobody to tell of errors
				all = append(all, o)
			}
		}
	}
	summary(all)
	return nil
}
