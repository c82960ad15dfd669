package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/instrument/toolexec"
	analysis "qinst.dev/internal/analysis/why"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/delays"
	"qinst.dev/internal/lab/gate"
)

// checkFlags holds the flags of the command "check".
type checkFlags struct {
	*comparison
	promises string
	promise  string
}

// setupCheck compares what a change gained with what was promised.
func setupCheck(fs *flagSet) action {
	c := &checkFlags{comparison: compares(fs, gate.Names{Base: "before", Head: "after"})}
	fs.group("Promises")
	fs.text(&c.promises, "promises", "compare with what the study of qinst why in this `file` promised (default: PROGRAM.why.json, if it is there)")
	fs.text(&c.promise, "promise", "the change is that of this `finding`: its rank, or its id (default: each of them)")
	fs.selection("build")
	fs.before = 1
	return c.run
}

const checkExample = "check ./before ./after [arguments], or check HEAD~1 ./prog [arguments]"

func (c *checkFlags) run(e *env, args []string) error {
	if len(args) == 0 {
		return incomplete("check", "nothing to compare", "what was before and what is after", checkExample)
	}
	if err := c.checked(); err != nil {
		return c.failed(err)
	}
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	tmp, err := lab.MkdirTemp("", "qinst-check-")
	if err != nil {
		return c.failed(err)
	}
	defer tmp.Remove()
	p, s, err := c.proof(ctx, e, args, string(tmp))
	if err == nil {
		err = c.print(e, p.Doc(s.base.text, s.head.text), p)
	}
	if err != nil {
		return c.failed(err)
	}
	if status := p.Status(); status != gate.Proven {
		return toolexec.Exit{Status: status}
	}
	return nil
}

// proof compares both sides, and the result with what was promised.
func (c *checkFlags) proof(ctx context.Context, e *env, args []string, tmp string) (*gate.Proof, *sides, error) {
	s, args, err := c.sides(ctx, args, tmp)
	if err != nil {
		return nil, nil, err
	}
	if s.base.kept {
		p, err := c.recorded(e, s)
		return p, s, err
	}
	var known []string // names of the program
	for _, side := range []*side{&s.base, &s.head} {
		if side.file != "" {
			known = append(known, filepath.Base(side.file))
			continue
		}
		name, err := programName(c.Name(), side.dir, side.program)
		if err != nil {
			return nil, nil, err
		}
		known, side.name = append(known, name), cmp.Or(s.base.name, name)
	}
	study, note, err := c.study(known, func(study *analysis.Study) error {
		return suits(study, s, known, args)
	})
	if err != nil {
		return nil, nil, err
	}
	list, err := c.promised(study)
	if err != nil {
		return nil, nil, err
	}
	r, err := c.compare(ctx, e, s, args, tmp)
	if err != nil {
		return nil, nil, err
	}
	return proofOf(r, study, list, note), s, nil
}

func proofOf(r *gate.Result, study *analysis.Study, list []analysis.Promise, note string) *gate.Proof {
	p := gate.NewProof(r, list)
	if note != "" {
		p.Notes = append(p.Notes, note)
	}
	if study != nil {
		p.By = study.By
	}
	return p
}

// sides finds what is compared, and the arguments of the programs: a revision with the working
// tree, or two of the same kind, each a directory, a program or a result.
func (c *checkFlags) sides(ctx context.Context, args []string, tmp string) (s *sides, rest []string, err error) {
	before := args[0]
	if !isPath(before) {
		program, rest := splitProgram(args[1:])
		if len(program) == 0 {
			program = []string{"."}
		}
		if st, err := os.Stat(program[0]); err == nil && st.Mode().IsRegular() && !strings.HasSuffix(program[0], ".go") {
			return nil, nil, fmt.Errorf("found the file %s after the revision %s, expected a package, and programs that begin with . or /: qinst %s", program[0], before, checkExample)
		}
		s, err := findSides(ctx, before, c.chdir, tmp, program)
		return s, rest, err
	}
	if len(args) < 2 {
		return nil, nil, fmt.Errorf("found %s alone, expected two sides: qinst %s", before, checkExample)
	}
	if c.chdir != "" {
		return nil, nil, fmt.Errorf("found -C with %s, expected it with a revision only: a directory is built where it is", before)
	}
	s = &sides{}
	if s.base, err = sideOf(before); err == nil {
		s.head, err = sideOf(args[1])
	}
	if err == nil && s.base.kept != s.head.kept {
		err = fmt.Errorf("found one result, of %s and %s, expected two: runs of different times are not compared", before, args[1])
	}
	if err == nil && s.base.kept && len(args) > 2 {
		err = fmt.Errorf("found %s after two results, expected nothing to run", args[2])
	}
	return s, args[2:], err
}

// isPath reports whether an argument names a file or directory, and no revision.
func isPath(arg string) bool {
	if strings.HasPrefix(arg, ".") || filepath.IsAbs(arg) {
		return true
	}
	st, err := os.Stat(arg)
	return err == nil && st.Mode().IsRegular() && (strings.Contains(arg, ".sddf") || strings.HasSuffix(arg, ".json"))
}

// sideOf is the directory of a package, a program, or a result.
func sideOf(arg string) (s side, err error) {
	st, err := os.Stat(arg)
	switch {
	case err != nil:
		return s, fmt.Errorf("found no %s, expected the directory of a package, a program, a trace or a study of qinst why; a revision comes first: qinst %s", arg, checkExample)
	case st.IsDir():
		return side{text: "the files of " + arg, dir: arg, program: []string{"."}}, nil
	case isProgram(arg):
		if !strings.ContainsRune(arg, filepath.Separator) {
			arg = "." + string(filepath.Separator) + arg // and none of PATH
		}
		return side{text: "the program " + arg, file: arg}, nil
	}
	return side{text: "the result " + arg, file: arg, kept: true}, nil
}

// suits returns an error if a study is not of the program, or of other runs.
func suits(study *analysis.Study, s *sides, known, args []string) error {
	p := &study.Program
	hash := ""
	if s.base.file != "" {
		var err error
		if hash, err = delays.HashOfFile(s.base.file); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains(known, p.Name) && p.Hash != hash:
		return fmt.Errorf("found the study of another program, %s, expected that of %s", p.Name, strings.Join(slices.Compact(known), " or "))
	case !slices.Equal(p.Args, args):
		return fmt.Errorf("found a study with the arguments %q, expected %q, as here: other runs gain something else", p.Args, args)
	case p.Load != "":
		return fmt.Errorf("found a study of a program that serves %q, expected one of a program that ends by itself", p.Load)
	}
	return nil
}

// study reads what was promised; nil: there is nothing. That a study which was not asked for is of
// other runs is a note.
func (c *checkFlags) study(known []string, suits func(*analysis.Study) error) (s *analysis.Study,
	note string, err error) {
	file := cmp.Or(c.promises, known[0]+".why.json")
	for _, name := range known {
		if _, err := os.Stat(name + ".why.json"); c.promises == "" && err == nil {
			file = name + ".why.json"
			break
		}
	}
	s, err = readStudy(file)
	if errors.Is(err, fs.ErrNotExist) {
		if c.promises == "" && c.promise == "" {
			return nil, "nothing was promised: qinst why predicts gains, and keeps them in " + file, nil
		}
		err = fmt.Errorf("found no %s, expected a study: qinst why writes one", file)
	}
	if err != nil {
		return nil, "", err
	}
	if err = suits(s); err == nil {
		return s, "", nil
	}
	if c.promises == "" && c.promise == "" {
		return nil, fmt.Sprintf("%s is not compared: %v", file, err), nil
	}
	return nil, "", fmt.Errorf("%s: %w", file, err)
}

// promised are the promises of a study, or the one that was named.
func (c *checkFlags) promised(study *analysis.Study) ([]analysis.Promise, error) {
	if study == nil {
		return nil, nil
	}
	a, err := analysis.Judge(study)
	if err != nil {
		return nil, err
	}
	if c.promise == "" {
		return a.Promised(), nil
	}
	p, err := a.Named(c.promise)
	if err != nil {
		return nil, fmt.Errorf("-promise: %w", err)
	}
	return []analysis.Promise{p}, nil
}

// recorded compares two results. Nothing is run.
func (c *checkFlags) recorded(e *env, s *sides) (*gate.Proof, error) {
	if strings.HasSuffix(s.base.file, ".json") != strings.HasSuffix(s.head.file, ".json") {
		return nil, fmt.Errorf("found a trace and a study, %s and %s, expected two of the same kind", s.base.file, s.head.file)
	}
	both := c.traces
	if strings.HasSuffix(s.base.file, ".json") {
		both = c.studies
	}
	r, program, took, err := both(e, s)
	if err != nil {
		return nil, err
	}
	study, note, err := c.study([]string{program}, func(study *analysis.Study) error {
		if study.Program.Name != program {
			return fmt.Errorf("found the study of another program, %s, expected that of %s", study.Program.Name, program)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	list, err := c.promised(study)
	if err != nil {
		return nil, err
	}
	p := proofOf(r, study, list, note)
	p.Took = took
	if r.Counted {
		p.Notes = append(p.Notes, "one run of each was counted: what differs by chance from run to run looks like a change")
	}
	return p, nil
}

func (c *checkFlags) traces(e *env, s *sides) (r *gate.Result, program string, took [2]int64, err error) {
	base, err := e.open(s.base.file)
	if err != nil {
		return nil, "", took, err
	}
	defer base.Close()
	head, err := e.open(s.head.file)
	if err != nil {
		return nil, "", took, err
	}
	defer head.Close()
	r, err = gate.Recorded(c.names, base, head, c.conditions)
	program, _ = base.Attr("program").(string)
	return r, program, [2]int64{int64(base.Wall()), int64(head.Wall())}, err
}

func (c *checkFlags) studies(_ *env, s *sides) (r *gate.Result, program string, took [2]int64, err error) {
	var both [2]*analysis.Study
	for i, file := range []string{s.base.file, s.head.file} {
		if both[i], err = readStudy(file); err != nil {
			return nil, "", took, err
		}
		a, err := analysis.Judge(both[i])
		if err != nil {
			return nil, "", took, err
		}
		took[i] = a.Run.T
	}
	c.promises = cmp.Or(c.promises, s.base.file)
	r, err = gate.Studied(c.names, both[0], both[1], c.conditions)
	return r, both[0].Program.Name, took, err
}
