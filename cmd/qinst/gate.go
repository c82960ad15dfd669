package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/gate"
)

// mostPairs is a number of pairs that is more than enough, and still quick to evaluate.
const mostPairs = 200

// gateFlags holds the flags of the command "gate".
type gateFlags struct {
	*flagSet
	conditions []gate.Condition
	pairs      int
	asJSON     bool
	markdown   string
	annotate   string
	sarif      string
}

// setupGate compares the working tree with an earlier revision of it.
func setupGate(fs *flagSet) action {
	g := &gateFlags{flagSet: fs, pairs: 10}
	fs.group("Conditions")
	fs.function("fail-if", "exit with status 1 if this `condition` holds; may be given several times: wall>+5%, cpu>+5%, allocs>+1%, calls>+1%, calls:main.parse>+0, locks:, channels:, sync: or goroutines:NAME>+0, conclusions>0", func(s string) error {
		c, err := gate.ParseCondition(s)
		g.conditions = append(g.conditions, c)
		return err
	})
	fs.number(&g.pairs, "n", "compare the times of so many `pairs` of runs, and of as many of base with itself")
	fs.group("Form")
	fs.boolean(&g.asJSON, "json", "print one JSON object")
	fs.text(&g.markdown, "md", "write the report as Markdown to this new `file`, too, for the summary of a CI run")
	fs.function("annotate", "write to the standard error what head has more of, by line of the source, in this `form`: lines, file:line: text for editors; github, for GitHub Actions", func(s string) error {
		if g.annotate = s; s != "lines" && s != "github" {
			return fmt.Errorf("found -annotate=%s, expected lines or github", s)
		}
		return nil
	})
	fs.offer("annotate", "lines", "github")
	fs.text(&g.sarif, "sarif", "write the same as SARIF 2.1.0 to this new `file`")
	fs.selection("build")
	fs.before = 1
	fs.program = func() bool { return true }
	return g.run
}

func (g *gateFlags) run(e *env, args []string) error {
	if len(args) < 2 {
		return incomplete("gate", "no package", "what to compare with and what to run", "gate origin/main ./prog [arguments]")
	}
	if g.pairs < 6 || g.pairs > mostPairs || g.pairs%2 != 0 {
		return usageError{fmt.Errorf("gate: found -n=%d, expected an even number of pairs from 6 to %d: fewer have no interval that holds", g.pairs, mostPairs)}
	}
	if err := errors.Join(newFile(g.markdown, "-md"), newFile(g.sarif, "-sarif")); err != nil {
		return usageError{fmt.Errorf("gate: %w", err)}
	}
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	r, sides, err := g.compare(ctx, e, args[0], args[1:])
	if errors.As(err, new(lab.Stopped)) {
		return err
	}
	if err != nil {
		return usageError{fmt.Errorf("gate: %w", err)} // hides the status of a program that failed
	}
	return g.answer(e, r, sides)
}

// compare builds both programs and runs them.
func (g *gateFlags) compare(ctx context.Context, e *env, base string, args []string) (*gate.Result, *sides, error) {
	tmp, err := lab.MkdirTemp("", "qinst-gate-")
	if err != nil {
		return nil, nil, err
	}
	defer tmp.Remove()
	s, err := findSides(ctx, base, g.chdir, string(tmp))
	if err != nil {
		return nil, nil, err
	}
	program, args := splitProgram(args)
	o := gate.Options{Args: args, Settings: os.Getenv("QINST"), Pairs: g.pairs, Conditions: g.conditions}
	// Names of the same length, since that of a program moves its stack.
	if o.Base, err = g.build(ctx, e, s.baseDir, filepath.Join(string(tmp), "base"), program); err != nil {
		return nil, nil, fmt.Errorf("base does not build (%s): %w", s.base, err)
	}
	if o.Head, err = g.build(ctx, e, g.chdir, filepath.Join(string(tmp), "head"), program); err != nil {
		return nil, nil, fmt.Errorf("head does not build (%s): %w", s.head, err)
	}
	r, err := gate.Run(ctx, &lab.Runner{Stdin: os.Stdin, Stdout: e.stderr, Stderr: e.stderr}, o)
	return r, s, err
}

// build builds the program of a directory without probes and with them. Paths and revisions are
// left out of the plain build: otherwise the same source would be another program.
func (g *gateFlags) build(ctx context.Context, e *env, dir, to string, program []string) (b gate.Build, err error) {
	name, err := programName(g.Name(), dir, program)
	if err != nil {
		return b, err
	}
	sel, err := g.selected()
	if err != nil {
		return b, err
	}
	at := *g.flagSet
	at.chdir = dir
	probed, err := at.variant(e, sel, program)
	if err != nil {
		return b, err
	}
	probed.Name = filepath.Base(to) + " " + strings.Join(program, " ")
	plain := lab.Variant{Name: probed.Name, Dir: dir, Args: program,
		Flags: slices.Concat([]string{"-trimpath", "-buildvcs=false"}, g.passed)}
	r := &lab.Runner{Stdout: e.stderr, Stderr: e.stderr}
	b = gate.Build{Plain: filepath.Join(to, "plain", name), Probed: filepath.Join(to, "probed", name)}
	if err := r.Build(ctx, b.Plain, plain); err != nil {
		return b, err
	}
	return b, at.built(e, probed, r.Build(ctx, b.Probed, probed))
}

// answer prints the result, and returns the exit status as an error.
func (g *gateFlags) answer(e *env, r *gate.Result, s *sides) error {
	if err := g.write(e, r, s); err != nil {
		return usageError{fmt.Errorf("gate: %w", err)}
	}
	switch {
	case len(r.Failed) > 0:
		return toolexec.Exit{Status: 1}
	case len(r.Undecided) > 0:
		return toolexec.Exit{Status: 2}
	}
	return nil
}

// write writes the result in each form that was asked for.
func (g *gateFlags) write(e *env, r *gate.Result, s *sides) (err error) {
	page := r.Doc(s.base, s.head)
	if g.asJSON {
		err = r.WriteJSON(e.stdout)
	} else {
		err = writeText(e, page)
	}
	if g.markdown != "" {
		err = errors.Join(err, writeTo(e, g.markdown, page.WriteMarkdown))
	}
	if g.sarif != "" {
		err = errors.Join(err, writeTo(e, g.sarif, func(w io.Writer) error { return r.WriteSARIF(w, s.root) }))
	}
	switch g.annotate {
	case "github":
		err = errors.Join(err, r.WriteGitHub(e.stderr, s.root))
	case "lines":
		err = errors.Join(err, r.WriteLines(e.stderr, s.here))
	}
	return err
}
