package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	analysis "qinst.dev/internal/analysis/why"
	"qinst.dev/internal/lab"
	findings "qinst.dev/internal/lab/why"
	"qinst.dev/internal/report"
)

// mostBrief is the size of a brief answer, in bytes.
const mostBrief = 4000

// whyFlags holds the flags of the command "why".
type whyFlags struct {
	*flagSet
	o      findings.Options
	tests  tests
	seed   int
	asJSON bool
	brief  bool
	all    bool
	shown  string
}

// setupWhy finds out what to change in a program.
func setupWhy(fs *flagSet) action {
	w := &whyFlags{flagSet: fs, o: findings.Options{By: 20}, seed: 1}
	fs.group("Form")
	fs.boolean(&w.asJSON, "json", "print one JSON object")
	fs.boolean(&w.brief, "brief", "print the same in 4 kB of text at most, for tools")
	fs.boolean(&w.all, "all", "with the texts of conclusions")
	fs.text(&w.o.File, "o", "keep what was found in a `file`, and go on with what it has (default: PROGRAM.why.json)")
	fs.text(&w.shown, "report", "run nothing, and show an earlier study from its `file`")
	fs.group("Study")
	fs.function("by", "predict the gain of so many `percent` less work in each part (default: 20)", func(s string) (err error) {
		if _, err = fmt.Sscanf(s+" ", "%g ", &w.o.By); err != nil || !(w.o.By > 0 && w.o.By <= 100) {
			err = fmt.Errorf("found -by=%s, expected a number of percent up to 100", s)
		}
		return err
	})
	fs.text(&w.o.Load, "load", "`command` of the shell that the program serves: the program is asked to end after it (default: the program ends by itself)")
	w.tests.define(fs)
	fs.number(&w.seed, "seed", "of the order of runs")
	fs.selection("build")
	fs.program = func() bool { return true }
	return w.run
}

func (w *whyFlags) run(e *env, args []string) error {
	if w.shown != "" {
		return w.show(e, args)
	}
	if err := w.tests.check(args, w.o.Load); err != nil {
		return err
	}
	if len(args) == 0 && w.tests.pkg == "" {
		return incomplete("why", "no package", "one that is a program, or a program that was built with -toolexec qinst", "why ./prog arguments")
	}
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	s, err := w.study(ctx, e, args)
	if errors.As(err, new(lab.Stopped)) { // the user who stopped it knows that, but not how to go on
		fmt.Fprintln(e.stderr, "qinst: why:", err)
	}
	if err != nil {
		err = fmt.Errorf("why: %w", err)
	}
	if s != nil { // what a program shows that fails, too
		err = cmp.Or(w.answer(e, s), err)
	}
	return err
}

// study builds the program, if it is a package or its tests, and finds out what to change.
func (w *whyFlags) study(ctx context.Context, e *env, args []string) (*analysis.Study, error) {
	w.o.Seed, w.o.Settings = uint64(w.seed), os.Getenv("QINST")
	tmp, err := lab.MkdirTemp("", "qinst-why-")
	if err != nil {
		return nil, err
	}
	defer tmp.Remove()
	r := &lab.Runner{Stdin: os.Stdin, Stdout: e.stderr, Stderr: e.stderr}
	switch {
	case w.tests.pkg != "":
		err = w.ofTests(ctx, e, r, string(tmp), args)
	case isProgram(args[0]):
		w.o.Program, w.o.Args = args[0], args[1:]
	default:
		err = w.ofPackage(ctx, e, string(tmp), args)
	}
	if err != nil {
		return nil, err
	}
	w.setFile()
	return findings.Run(ctx, r, w.o)
}

// ofPackage builds a package that is a program.
func (w *whyFlags) ofPackage(ctx context.Context, e *env, tmp string, args []string) error {
	var program []string
	program, w.o.Args = splitProgram(args)
	return w.build(tmp, func(dir string) (string, error) {
		return (&runFlags{flagSet: w.flagSet}).build(ctx, e, dir, program)
	})
}

// build builds the program, and notes how it is built with more flags.
func (w *whyFlags) build(tmp string, build func(dir string) (string, error)) (err error) {
	if w.o.Program, err = build(tmp); err != nil {
		return err
	}
	own := w.own
	w.o.Rebuild = func(flags ...string) (string, error) {
		w.own = slices.Concat(own, flags)
		dir, err := os.MkdirTemp(tmp, "again-")
		if err != nil {
			return "", err
		}
		return build(dir)
	}
	return nil
}

// ofTests builds the tests of a package.
func (w *whyFlags) ofTests(ctx context.Context, e *env, r *lab.Runner, tmp string, args []string) (err error) {
	var name string
	w.passed, args = ownOfTests(w.passed, args)
	if r.Dir, name, err = w.tests.where(ctx, chdir(w.chdir)); err != nil {
		return err
	}
	err = w.build(tmp, func(dir string) (string, error) {
		return w.tests.build(ctx, e, w.flagSet, dir, name)
	})
	if err != nil {
		return err
	}
	w.setFile()
	var was []string // arguments
	if s, err := readStudy(w.o.File); err == nil {
		was = s.Program.Args
	}
	w.o.Varies = w.tests.bench != ""
	w.o.Args, err = w.tests.args(ctx, r, lab.Job{Program: w.o.Program, Args: args}, was)
	return err
}

// setFile names the file of results after the program, if the user names none.
func (w *whyFlags) setFile() { w.o.File = cmp.Or(w.o.File, filepath.Base(w.o.Program)+".why.json") }

// show shows an earlier study.
func (w *whyFlags) show(e *env, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("why: found %s, expected nothing to run with -report", args[0])}
	}
	s, err := readStudy(w.shown)
	if err != nil {
		return err
	}
	return w.answer(e, s)
}

// readStudy reads the file of a study.
func readStudy(file string) (*analysis.Study, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := analysis.Read(&bounded{from: f, total: mostText, line: mostText})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

func (w *whyFlags) answer(e *env, s *analysis.Study) error {
	a, err := analysis.Judge(s)
	switch {
	case err != nil:
		return fmt.Errorf("why: %w", err)
	case w.asJSON:
		return json.NewEncoder(e.stdout).Encode(a)
	case w.brief:
		_, err := io.WriteString(e.stdout, a.Brief(mostBrief))
		return err
	}
	return writeText(e, report.Findings(a, w.all))
}
