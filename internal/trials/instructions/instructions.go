// Package instructions counts the overhead of probes in programs that call much: instructions, by
// cachegrind, in per cent of those of a plain build, and the size and compile time of instrumented
// packages. Counts repeat where times do not, so that a kept file of them shows a change of one per
// cent. With -time it measures processor time instead.
package instructions

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

// trial is the state of all measurements.
type trial struct {
	*bench.Env
	dir           string            // of the programs' module
	plain, probed string            // folders with the programs
	printed       map[string][]byte // by program and length, what it printed first
}

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("[PROGRAM ...]")
	t := &trial{Env: e, printed: map[string][]byte{}}
	fs.StringVar(&t.dir, "dir", "testdata/instructions", "the `folder` of the programs' module")
	check := fs.Bool("check", false, "compare with the counts that the file keeps")
	turns := fs.Int("time", 0, "measure processor time in this many turns, and count no instructions")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	if e.Updates() && fs.NArg() > 0 {
		return bench.Usage("found names of programs, expected none with -update: the file keeps all")
	}
	tables, err := t.run(*turns, fs.Args())
	if err == nil && *check && !e.Updates() {
		err = compare(e.Results, tables[0])
	}
	if err != nil {
		return err
	}
	return e.Keep(tables...)
}

// run measures programs, those that are named or all, and prints the tables.
func (t *trial) run(turns int, names []string) (tables []bench.Table, err error) {
	set, err := bench.Choose(programs, func(p program) string { return p.name }, names)
	if err != nil {
		return nil, err
	}
	if err := t.build(); err != nil {
		return nil, err
	}
	tables, err = t.measure(set, turns)
	for _, table := range tables {
		table.Print()
	}
	return tables, err
}

func (t *trial) measure(set []program, turns int) ([]bench.Table, error) {
	if turns > 0 {
		times, err := t.times(set, turns)
		return []bench.Table{times}, err
	}
	counts, err := t.counts(set)
	if err != nil {
		return nil, err
	}
	sizes, err := t.sizes(set)
	return []bench.Table{counts, sizes}, err
}

// build makes all programs both ways.
func (t *trial) build() error {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return fmt.Errorf("%w; expected valgrind to be installed", err)
	}
	t.plain, t.probed = filepath.Join(t.Scratch, "plain"), filepath.Join(t.Scratch, "probed")
	for folder, wrapper := range map[string][]string{t.plain: nil, t.probed: {t.Qinst}} {
		if err := os.Mkdir(folder, 0o777); err != nil {
			return err
		}
		v := lab.Variant{Name: "all programs", Dir: t.dir, Wrapper: wrapper, Args: []string{"./..."}}
		if err := t.Build(folder, v); err != nil {
			return err
		}
	}
	return nil
}
