// Command field tries qinst as a stranger would: on well-known programs, at default settings, with
// bottlenecks put in whose truth the programs know themselves. For each case it prints the place of
// the truth among the conclusions of the first screen, the number shown there beside the true one,
// and where a profile by processor time and the execution tracer's profile of waits have it.
//
//	field -qinst PATH -dir testdata/field [-only KIND,...] [-turns N] [-keep FOLDER] [-kept FILE [-update]] [PROGRAM ...]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"qinst.dev/internal/kept"
	"qinst.dev/lab"
)

func main() {
	qinst := flag.String("qinst", "", "path of the qinst command")
	dir := flag.String("dir", ".", "directory of the programs' module")
	only := flag.String("only", "", "these kinds of bottlenecks alone")
	turns := flag.Int("turns", 1, "run each case so often")
	duel := flag.Bool("duel", true, "run the other tools as well")
	keep := flag.String("keep", "", "a folder for programs and traces, which stays; programs in it are used as they are")
	file := flag.String("kept", "", "the file that keeps results")
	update := flag.Bool("update", false, "keep what is measured in the file")
	flag.Parse()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	s := &suite{ctx: ctx, qinst: *qinst, dir: *dir, scratch: *keep, duel: *duel, kept: *file, update: *update}
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
	kept       string // the file of results
	update     bool
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
			if p.parallel && k.alone {
				continue // what such a case would be is not known
			}
			if len(only) > 0 && !slices.Contains(only, k.name) {
				continue
			}
			for turn := range turns {
				o, err := s.try(b, k, turn)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, k.name, err)
				}
				fmt.Fprintln(os.Stderr, strings.Join(o.row(), " | "))
				all = append(all, o)
			}
		}
	}
	tables := []kept.Table{summary(all), tableOf(all)}
	for _, t := range tables {
		t.Print()
	}
	fmt.Println(screens(all))
	if !s.update {
		return nil
	}
	return kept.Keep(s.kept, tables)
}
