// Command field tries qinst as a stranger would: on well-known programs, at default settings, with
// bottlenecks put in whose truth the programs know themselves. For each case it prints the place of
// the truth among the conclusions of the first screen, the number shown there beside the true one,
// and where a profile by processor time and the execution tracer's profile of waits have it.
//
// With -self it compares self times with a profile by processor time of the same process, with -cost N what
// the page says that the tool cost with so many pairs of runs. With -drawn M as well these are benchmarks of M modules, drawn
// from a list by -seed.
//
//	field -qinst PATH -dir testdata/field [-only KIND,...] [-turns N | -self | -cost N [-drawn M -seed S]] [-keep FOLDER] [-kept FILE [-update]] [PROGRAM ...]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/internal/kept"
	"qinst.dev/internal/lab"
)

func main() {
	qinst := flag.String("qinst", "", "path of the qinst command")
	dir := flag.String("dir", ".", "directory of the programs' module")
	only := flag.String("only", "", "these kinds of bottlenecks alone")
	turns := flag.Int("turns", 1, "run each case so often")
	duel := flag.Bool("duel", true, "run the other tools as well")
	self := flag.Bool("self", false, "compare self times instead")
	pairs := flag.Int("cost", 0, "compare the stated cost instead, with so many pairs of runs")
	draws := flag.Int("drawn", 0, "with -cost, take benchmarks of so many modules")
	seed := flag.Uint64("seed", 1, "of what is drawn")
	keep := flag.String("keep", "", "a folder for programs and traces, which stays; programs in it are used as they are")
	file := flag.String("kept", "", "the file that keeps results")
	update := flag.Bool("update", false, "keep what is measured in the file")
	flag.Parse()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	s := &suite{ctx: ctx, qinst: *qinst, dir: *dir, scratch: *keep, duel: *duel, kept: *file, update: *update}
	if *draws > 0 {
		if err := s.drawn(*draws, *seed, max(1, *pairs)); err != nil {
			fmt.Fprintln(os.Stderr, "field:", err)
			os.Exit(1)
		}
		return
	}
	measure := s.cases(strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }), *turns)
	switch {
	case *self:
		measure = rows(selfTable, s.selfTimes)
	case *pairs > 0:
		measure = rows(costTable, func(b *built) ([]string, error) { return s.cost(b, *pairs) })
	}
	if err := s.run(flag.Args(), measure); err != nil {
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

// measure is what is done with programs.
type measure struct {
	each func(b *built) error
	end  func() []kept.Table
}

// run measures programs, those that are named or all.
func (s *suite) run(names []string, m measure) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	for _, p := range programs {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		b, err := s.build(p)
		if err == nil {
			err = m.each(b)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	tables := m.end()
	for _, t := range tables {
		t.Print()
	}
	if !s.update {
		return nil
	}
	return kept.Keep(s.kept, tables)
}

// enter makes the folder for programs, if it is not to be kept.
func (s *suite) enter() (leave func(), err error) {
	if s.scratch != "" {
		return func() {}, nil
	}
	s.scratch, err = os.MkdirTemp("", "field-")
	return func() { _ = os.RemoveAll(s.scratch) }, err
}

// drawn compares the stated cost of benchmarks that are drawn.
func (s *suite) drawn(n int, seed uint64, pairs int) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	var list [][]string
	err = s.draw(filepath.Join(s.dir, "modules.txt"), seed, n, func(d *drawn) error {
		row, err := s.costOf(d.name, pairs, d.job)
		if err == nil {
			fmt.Fprintln(os.Stderr, strings.Join(row, " | "))
			list = append(list, row)
		}
		return err
	})
	t := costTable(list)
	t.Print()
	return err
}

// cases tries programs with each kind of bottleneck, or with those that are named.
func (s *suite) cases(only []string, turns int) measure {
	var all []outcome
	each := func(b *built) error {
		for _, k := range kinds {
			if b.parallel && k.alone {
				continue // what such a case would be is not known
			}
			if len(only) > 0 && !slices.Contains(only, k.name) {
				continue
			}
			for turn := range turns {
				o, err := s.try(b, k, turn)
				if err != nil {
					return fmt.Errorf("%s: %w", k.name, err)
				}
				fmt.Fprintln(os.Stderr, strings.Join(o.row(), " | "))
				all = append(all, o)
			}
		}
		return nil
	}
	return measure{each, func() []kept.Table {
		fmt.Println(screens(all))
		return []kept.Table{summary(all), tableOf(all)}
	}}
}

// rows measures programs of which each is a row of a table.
func rows(table func([][]string) kept.Table, one func(b *built) ([]string, error)) measure {
	var list [][]string
	each := func(b *built) error {
		row, err := one(b)
		if err == nil {
			fmt.Fprintln(os.Stderr, strings.Join(row, " | "))
			list = append(list, row)
		}
		return err
	}
	return measure{each, func() []kept.Table { return []kept.Table{table(list)} }}
}
