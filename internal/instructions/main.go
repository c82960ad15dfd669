// Command instructions counts what probes add to programs that call much: instructions, by
// cachegrind, in per cent of those of a plain build, and the size and compile time of what is
// instrumented. Counts repeat where times do not, so that a kept file of them shows a change of
// one per cent. With -time it measures processor time instead.
//
//	instructions -qinst PATH -dir testdata/instructions [-kept FILE [-check | -update]] [-time N] [NAME ...]
//
// With -check it exits with status 1 if a setting costs more than the kept file says.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"qinst.dev/internal/kept"
	"qinst.dev/internal/lab"
)

// bench is what all measurements use.
type bench struct {
	ctx           context.Context
	quiet         lab.Runner        // of runs: their plans are of one run each, so lab's progress tells nothing
	qinst, dir    string            // the command; the programs' module
	plain, probed string            // folders with the programs
	scratch       string            // for the two folders
	printed       map[string][]byte // by program and length, what it printed first
}

func main() {
	qinst := flag.String("qinst", "", "path of the qinst command")
	dir := flag.String("dir", ".", "directory of the programs' module")
	file := flag.String("kept", "", "the file that keeps results")
	check := flag.Bool("check", false, "compare with the counts that the file keeps")
	update := flag.Bool("update", false, "keep what is measured in the file")
	turns := flag.Int("time", 0, "measure processor time in this many turns, and count no instructions")
	flag.Parse()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	b := &bench{ctx: ctx, quiet: lab.Runner{Stdout: io.Discard, Stderr: io.Discard}, qinst: *qinst, dir: *dir, printed: map[string][]byte{}}
	tables, err := b.run(*turns, flag.Args())
	switch {
	case err != nil:
	case *update && flag.NArg() > 0:
		err = errors.New("found names of programs, expected none with -update: the file keeps all")
	case *update:
		err = kept.Keep(*file, tables)
	case *check:
		err = compare(*file, tables[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "instructions:", err)
		os.Exit(1)
	}
}

// run measures programs, those that are named or all, and prints the tables.
func (b *bench) run(turns int, names []string) (tables []kept.Table, err error) {
	set := slices.DeleteFunc(slices.Clone(programs), func(p program) bool {
		return len(names) > 0 && !slices.Contains(names, p.name)
	})
	if len(set) == 0 {
		return nil, fmt.Errorf("found no programs named %q", names)
	}
	if b.scratch, err = os.MkdirTemp("", "instructions-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.scratch)
	if err := b.build(); err != nil {
		return nil, err
	}
	tables, err = b.measure(set, turns)
	for _, t := range tables {
		t.Print()
	}
	return tables, err
}

func (b *bench) measure(set []program, turns int) ([]kept.Table, error) {
	if turns > 0 {
		times, err := b.times(set, turns)
		return []kept.Table{times}, err
	}
	counts, err := b.counts(set)
	if err != nil {
		return nil, err
	}
	sizes, err := b.sizes(set)
	return []kept.Table{counts, sizes}, err
}

// build makes all programs both ways.
func (b *bench) build() error {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return fmt.Errorf("%w; expected valgrind to be installed", err)
	}
	b.plain, b.probed = filepath.Join(b.scratch, "plain"), filepath.Join(b.scratch, "probed")
	loud := lab.Runner{Stdout: os.Stdout, Stderr: os.Stderr} // what the go command says
	for folder, wrapper := range map[string][]string{b.plain: nil, b.probed: {b.qinst}} {
		if err := os.Mkdir(folder, 0o777); err != nil {
			return err
		}
		v := lab.Variant{Name: "all programs", Dir: b.dir, Wrapper: wrapper, Args: []string{"./..."}}
		if err := loud.Build(b.ctx, folder, v); err != nil {
			return err
		}
	}
	return nil
}
