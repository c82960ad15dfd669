// Package bottlenecks tries qinst as a stranger would: on well-known programs, at default settings,
// with inserted bottlenecks that the programs measure themselves. For each case it prints the place
// of the truth among the conclusions of the first screen, the number shown there and the true one,
// and where a profile by processor time and the execution tracer's profile of waits have it.
//
// With -self it compares self times with a profile by processor time of the same process, with
// -cost N the page's statement of the tool's cost with N pairs of runs. With -drawn M these are
// benchmarks of M modules, drawn from a list by -seed.
package bottlenecks

import (
	"fmt"
	"path/filepath"
	"slices"

	"qinst.dev/internal/trials/bench"
)

// suite is the state of all measurements. Its scratch folder has copies of modules, programs and
// traces.
type suite struct {
	*bench.Env
	dir  string // the drivers' module
	duel bool
}

// Run is the trial.
func Run(e *bench.Env, args []string) (err error) {
	fs := e.ToolFlags("[PROGRAM ...]")
	s := &suite{Env: e}
	fs.StringVar(&s.dir, "dir", "testdata/field", "the `folder` of the programs' module")
	only := fs.String("only", "", "these `kinds` of bottlenecks alone, with commas")
	turns := fs.Int("turns", 1, "run each case so often")
	fs.BoolVar(&s.duel, "duel", true, "run the other tools as well")
	self := fs.Bool("self", false, "compare self times instead")
	pairs := fs.Int("cost", 0, "compare the stated cost instead, with so many pairs of runs")
	draws := fs.Int("drawn", 0, "with -cost, take benchmarks of so many modules")
	seed := fs.Uint64("seed", 1, "of what is drawn")
	keep := fs.String("keep", "", "a `folder` for programs and traces, which stays; programs in it are used as they are")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	if *keep != "" {
		if e.Scratch, err = filepath.Abs(*keep); err != nil {
			return err
		}
	}
	if *draws > 0 {
		return s.drawn(*draws, *seed, max(1, *pairs))
	}
	measure := s.cases(bench.Words(*only), *turns)
	switch {
	case *self:
		measure = rows(selfTable, s.selfTimes)
	case *pairs > 0:
		measure = rows(costTable, func(b *built) ([]string, error) { return s.cost(b, *pairs) })
	}
	return s.run(fs.Args(), measure)
}

// measure is one kind of measurement.
type measure struct {
	each func(b *built) error
	end  func() []bench.Table
}

// run measures programs, those that are named or all.
func (s *suite) run(names []string, m measure) error {
	chosen, err := bench.Choose(programs, func(p program) string { return p.name }, names)
	if err != nil {
		return err
	}
	for _, p := range chosen {
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
	return s.Keep(tables...)
}

// drawn compares the stated cost of benchmarks that are drawn.
func (s *suite) drawn(n int, seed uint64, pairs int) error {
	var list bench.Table
	err := s.draw(filepath.Join(s.dir, "modules.txt"), seed, n, func(d *drawn) error {
		row, err := s.costOf(d.name, pairs, d.job)
		if err == nil {
			list.Add(row)
		}
		return err
	})
	costTable(list.Rows).Print()
	return err
}

// cases tries programs with each kind of bottleneck, or with those that are named.
func (s *suite) cases(only []string, turns int) measure {
	var all []outcome
	t := tableOfCases()
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
				t.Add(o.row())
				all = append(all, o)
			}
		}
		return nil
	}
	return measure{each, func() []bench.Table {
		fmt.Println(screens(all))
		return []bench.Table{summary(all), t}
	}}
}

// rows measures programs, each a row of a table.
func rows(table func([][]string) bench.Table, one func(b *built) ([]string, error)) measure {
	var list bench.Table
	each := func(b *built) error {
		row, err := one(b)
		if err == nil {
			list.Add(row)
		}
		return err
	}
	return measure{each, func() []bench.Table { return []bench.Table{table(list.Rows)} }}
}
