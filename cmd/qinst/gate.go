package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/gate"
)

// gateFlags holds the flags of the command "gate".
type gateFlags struct {
	*comparison
	annotate string
	sarif    string
}

// setupGate compares the working tree with an earlier revision of it.
func setupGate(fs *flagSet) action {
	g := &gateFlags{comparison: compares(fs, gate.Names{Base: "base", Head: "head"})}
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
	return g.run
}

func (g *gateFlags) run(e *env, args []string) error {
	if len(args) < 2 {
		return incomplete("gate", "no package", "what to compare with and what to run", "gate origin/main ./prog [arguments]")
	}
	if err := errors.Join(g.checked(), newFile(g.sarif, "-sarif")); err != nil {
		return g.failed(err)
	}
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	r, sides, err := g.compared(ctx, e, args[0], args[1:])
	if err != nil {
		return g.failed(err)
	}
	return g.answer(e, r, sides)
}

// compared is the comparison of a revision, or a directory, with the working tree.
func (g *gateFlags) compared(ctx context.Context, e *env, base string, args []string) (*gate.Result, *sides, error) {
	tmp, err := lab.MkdirTemp("", "qinst-gate-")
	if err != nil {
		return nil, nil, err
	}
	defer tmp.Remove()
	program, args := splitProgram(args)
	s, err := findSides(ctx, base, g.chdir, string(tmp), program)
	if err != nil {
		return nil, nil, err
	}
	r, err := g.compare(ctx, e, s, args, string(tmp))
	return r, s, err
}

// answer prints the result, and returns the exit status as an error.
func (g *gateFlags) answer(e *env, r *gate.Result, s *sides) error {
	if err := g.write(e, r, s); err != nil {
		return g.failed(err)
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
func (g *gateFlags) write(e *env, r *gate.Result, s *sides) error {
	err := g.print(e, r.Doc(s.base.text, s.head.text), r)
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
