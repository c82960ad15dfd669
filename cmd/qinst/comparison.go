package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/lab/gate"
	"qinst.dev/internal/report/doc"
)

// mostPairs is a number of pairs that is more than enough, and still quick to evaluate.
const mostPairs = 200

// comparison holds the flags of commands that run two programs alternately.
type comparison struct {
	*flagSet
	names      gate.Names
	conditions []gate.Condition
	pairs      int
	limit      time.Duration
	asJSON     bool
	markdown   string
}

// compares defines the flags of a comparison, with what its programs are called.
func compares(fs *flagSet, names gate.Names) *comparison {
	c := &comparison{flagSet: fs, names: names, pairs: 10, limit: 5 * time.Minute}
	fs.group("Conditions")
	fs.function("fail-if", "exit with status 1 if this `condition` holds; may be given several times: wall>+5%, cpu>+5%, allocs>+1%, calls>+1%, calls:main.parse>+0, locks:, channels:, sync: or goroutines:NAME>+0, conclusions>0", func(s string) error {
		one, err := gate.ParseCondition(s)
		c.conditions = append(c.conditions, one)
		return err
	})
	fs.number(&c.pairs, "n", fmt.Sprintf("compare the times of so many `pairs` of runs, and of as many of %s with itself", names.Base))
	fs.time(&c.limit, "limit", "`time` that a run may take: one that never ends is an error (default: 5m)")
	fs.group("Form")
	fs.boolean(&c.asJSON, "json", "print one JSON object")
	fs.text(&c.markdown, "md", "write the report as Markdown to this new `file`, too, for the summary of a CI run")
	fs.program = func() bool { return true }
	return c
}

// checked returns an error if flags have values that make no sense.
func (c *comparison) checked() error {
	if c.pairs < 6 || c.pairs > mostPairs || c.pairs%2 != 0 {
		return fmt.Errorf("found -n=%d, expected an even number of pairs from 6 to %d: fewer have no interval that holds", c.pairs, mostPairs)
	}
	if c.limit <= 0 {
		return fmt.Errorf("found -limit=%v, expected a time that a run may take, such as 5m", c.limit)
	}
	return newFile(c.markdown, "-md")
}

// compare builds the programs of both sides below a folder, and runs them.
func (c *comparison) compare(ctx context.Context, e *env, s *sides, args []string,
	tmp string) (r *gate.Result, err error) {
	o := gate.Options{Names: c.names, Args: args, Settings: os.Getenv("QINST"), Pairs: c.pairs, Limit: c.limit,
		Conditions: c.conditions, Conclude: c.Name() == "gate"}
	// Names of the same length, since that of a program moves its stack.
	if o.Base, err = c.build(ctx, e, &s.base, filepath.Join(tmp, "base")); err != nil {
		return nil, fmt.Errorf("%s does not build (%s): %w", c.names.Base, s.base.text, err)
	}
	if o.Head, err = c.build(ctx, e, &s.head, filepath.Join(tmp, "head")); err != nil {
		return nil, fmt.Errorf("%s does not build (%s): %w", c.names.Head, s.head.text, err)
	}
	return gate.Run(ctx, &lab.Runner{Stdin: os.Stdin, Stdout: e.stderr, Stderr: e.stderr}, o)
}

// build builds the program of a directory without probes and with them. Paths and revisions are
// left out of the plain build: otherwise the same source would be another program. A program that
// is there already is taken as it is.
func (c *comparison) build(ctx context.Context, e *env, s *side, to string) (b gate.Build, err error) {
	if s.file != "" {
		probes, err := gate.HasProbes(s.file)
		if probes {
			return gate.Build{Probed: s.file}, err
		}
		return gate.Build{Plain: s.file}, err
	}
	name, err := programName(c.Name(), s.dir, s.program)
	if err != nil {
		return b, err
	}
	name = cmp.Or(s.name, name)
	sel, err := c.selected()
	if err != nil {
		return b, err
	}
	at := *c.flagSet
	at.chdir = s.dir
	probed, err := at.variant(e, sel, s.program)
	if err != nil {
		return b, err
	}
	probed.Name = filepath.Base(to) + " " + strings.Join(s.program, " ")
	plain := lab.Variant{Name: probed.Name, Dir: s.dir, Args: s.program,
		Flags: slices.Concat([]string{"-trimpath", "-buildvcs=false"}, c.passed)}
	r := &lab.Runner{Stdout: e.stderr, Stderr: e.stderr}
	b = gate.Build{Plain: filepath.Join(to, "plain", name), Probed: filepath.Join(to, "probed", name)}
	if err := r.Build(ctx, b.Plain, plain); err != nil {
		return b, err
	}
	return b, at.built(e, probed, r.Build(ctx, b.Probed, probed))
}

// failed is an error of a comparison as the command's. The status of a program that failed is not
// that of the command.
func (c *comparison) failed(err error) error {
	if err == nil || errors.As(err, new(lab.Stopped)) {
		return err
	}
	return usageError{fmt.Errorf("%s: %w", c.Name(), err)}
}

// print prints a page, or the object that it shows, and writes the page as Markdown.
func (c *comparison) print(e *env, page *doc.Doc, object interface{ WriteJSON(w io.Writer) error }) (err error) {
	if c.asJSON {
		err = object.WriteJSON(e.stdout)
	} else {
		err = writeText(e, page)
	}
	if c.markdown != "" {
		err = errors.Join(err, writeTo(e, c.markdown, page.WriteMarkdown))
	}
	return err
}
