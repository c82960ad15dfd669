package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/names"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
)

// partOf selects the part of a trace that a profile covers, and its interpretation.
type partOf struct {
	from, to time.Duration
	plain    time.Duration
	within   profile.Within

	corrected bool
}

func (q *partOf) define(fs *flagSet) {
	fs.group("Part of the trace")
	fs.interval(&q.from, &q.to)
	fs.text(&q.within.Region, "region", "count only what goroutines do in regions of this `name`, and what they start there")
	fs.function("label", "count only what is done, and started, with this label of runtime/pprof: `key=value`",
		func(s string) error {
			if !strings.Contains(s, "=") {
				return fmt.Errorf("found -label=%s, expected key=value", s)
			}
			q.within.Label = s
			return nil
		})
	fs.group("Interpretation")
	correctedFlag(fs, &q.corrected)
	fs.time(&q.plain, "plain", "`time` that the program takes without probes: shows how much of the run the profile leaves unaccounted")
	fs.processors(&q.within.Procs, "vcpu", "the program hands out `n` processors of its own: regions named \"vcpu\" are running, \"vready\" ready (default: none)")
}

// tracePart is a part of a trace, or all of it.
type tracePart struct {
	*trace.Trace
	whole *trace.Trace
}

// Close closes the file. The file belongs to the whole trace; the part only reads it.
func (p *tracePart) Close() error { return p.whole.Close() }

// open opens a file and computes the profile of the part.
func (q *partOf) open(e *env, file string) (t *tracePart, p *profile.Profile, err error) {
	t, err = q.read(e, file, func(part *trace.Trace) error {
		p, err = profile.NewWithin(part, q.within)
		return err
	})
	if err == nil && q.plain > 0 {
		p.Compare(int64(q.plain))
	}
	return t, p, err
}

// facts opens a file and computes what conclusions on the part rest on.
func (q *partOf) facts(e *env, file string) (t *tracePart, f *advice.Facts, err error) {
	t, err = q.read(e, file, func(part *trace.Trace) error {
		f, err = advice.Read(part, q.within)
		return err
	})
	if err == nil && q.plain > 0 {
		f.Compare(int64(q.plain))
	}
	return t, f, err
}

// read opens a file and reads the part.
func (q *partOf) read(e *env, file string, f func(part *trace.Trace) error) (*tracePart, error) {
	t, err := openTimes(e, file, q.corrected)
	if err != nil {
		return nil, err
	}
	part := t
	if q.from != 0 || q.to != 0 {
		part, err = t.Window(trace.Time(q.from), cmp.Or(trace.Time(q.to), t.Wall()))
	}
	if err == nil {
		err = f(part)
	}
	if err != nil {
		_ = t.Close()
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &tracePart{part, t}, nil
}

// profileFlags holds the flags of the command "profile".
type profileFlags struct {
	part                            partOf
	asJSON, tree                    bool
	pprof, html, diff, list, source string
	view                            report.View
	runs                            int
	each                            bool
}

func (f *profileFlags) define(fs *flagSet) {
	fs.group("Form (one of them; default: tables)")
	fs.boolean(&f.asJSON, "json", "print one JSON object")
	fs.text(&f.html, "html", "write a page for the browser to this `file` (- for the standard output)")
	fs.text(&f.pprof, "pprof", "write a profile for go tool pprof to this `file` (- for the standard output): call paths with npt, busy, spin, blocked, ready, syscall")
	fs.boolean(&f.tree, "tree", "print the call graph from the top down, through goroutines")
	fs.text(&f.list, "list", "print the source of the procedure of this `name`, or of those that match it as a regexp, with self time and cost of each line")
	fs.text(&f.source, "source", "`folder` of the source for -list (default: where it was built, below this module or workspace, GOROOT or the module cache)")
	fs.text(&f.diff, "diff", "print what is more or less than in this `file`")
	fs.group("Entries")
	fs.text(&f.view.Kind, "by", "show one `kind` only: "+strings.Join(report.ProfileKinds, ", ")+
		" (default: all but packages)")
	f.view.Order = "npt"
	fs.text(&f.view.Order, "sort", "put entries in this `order`: "+strings.Join(report.ProfileOrders(), ", "))
	fs.function("focus", "show only the entry of this `name`, or those that match it as a regexp; of a tree, paths through them", choiceFlag(&f.view.Focus))
	fs.function("ignore", "hide the entry of this `name`, or those that match it as a regexp",
		choiceFlag(&f.view.Ignore))
	fs.offerNames("procedures", "list")
	fs.offer("by", report.ProfileKinds...)
	fs.offer("sort", report.ProfileOrders()...)
	fs.offerNames("entries", "focus", "ignore")
	fs.group("Several runs")
	fs.boolean(&f.each, "runs", "the files are runs of one program: print means with intervals")
	fs.number(&f.runs, "n", "run the program that follows this `many` times, then do as with -runs")
	f.part.define(fs)
	fs.program = func() bool { return f.runs != 0 }
}

// check returns an error if flags exclude each other.
func (f *profileFlags) check() error {
	forms := 0
	for _, form := range []bool{f.asJSON && !f.each, f.pprof != "", f.html != "", f.tree, f.diff != "", f.list != "",
		f.each} {
		if form {
			forms++
		}
	}
	if forms > 1 {
		return usageError{errors.New("profile: found several of -json, -html, -pprof, -tree, -list, -diff, -runs and -n, expected one")}
	}
	if f.view.Kind != "" && (f.pprof != "" || f.tree || f.list != "") {
		return usageError{errors.New("profile: found -by with -pprof, -tree or -list, which show all paths, or lines; narrow them with -focus and -ignore")}
	}
	if err := f.view.Check(); err != nil {
		return usageError{fmt.Errorf("profile: %w", err)}
	}
	return nil
}

// setupProfile shows the normalized processor times of procedures, loops, synchronization
// objects and goroutines: of one file, of the sum of several, or as means over runs.
func setupProfile(fs *flagSet) action {
	f := &profileFlags{}
	f.define(fs)
	return f.run
}

func (f *profileFlags) run(e *env, files []string) error {
	f.each = f.each || f.runs != 0
	if err := f.check(); err != nil {
		return err
	}
	ctx := context.Background()
	if f.runs != 0 {
		dir, err := lab.MkdirTemp("", "qinst-runs-")
		if err != nil {
			return err
		}
		defer dir.Remove()
		var stop func()
		ctx, stop = lab.Signals(ctx)
		defer stop()
		if files, err = runTimes(ctx, e, f.runs, files, string(dir)); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		file, err := newestFile(e)
		if err != nil {
			return err
		}
		files = []string{file}
	}
	var list []*profile.Profile
	var first *tracePart
	for _, file := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t, p, err := f.part.open(e, file)
		if err != nil {
			return err
		}
		defer t.Close()
		first = cmp.Or(first, t)
		list = append(list, p)
	}
	if f.each {
		return f.over(e, list)
	}
	return f.show(e, first.Trace, profile.Merge(list))
}

func (f *profileFlags) show(e *env, t *trace.Trace, p *profile.Profile) (err error) {
	if f.diff == "" { // else the other file has names, too
		if f.view, err = f.view.In(p); err != nil {
			return usageError{fmt.Errorf("profile: %w", err)}
		}
	}
	switch {
	case f.pprof != "":
		return binaryTo(e, f.pprof, func(w io.Writer) error { return report.Pprof(w, t, p, f.view) })
	case f.html != "":
		if len(p.Parts()) > 1 {
			t = nil // the first trace alone would not describe the sum
		}
		return f.writeHTML(e, t, p)
	case f.asJSON:
		return report.ProfileJSON(e.stdout, p, f.view)
	}
	if err := f.text(e, p); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}

// writeHTML writes the page for the browser. t is nil if p is the sum of several traces.
func (f *profileFlags) writeHTML(e *env, t *trace.Trace, p *profile.Profile) error {
	facts := &advice.Facts{Profile: p}
	if t != nil {
		facts = advice.Gather(t, p)
	}
	page, err := report.HTML(t, facts, f.view)
	if err != nil {
		return err
	}
	return writeTo(e, f.html, func(w io.Writer) error { return page.WriteHTML(w, report.Look()) })
}

// text prints the profile as tables, a tree, a source listing or a difference.
func (f *profileFlags) text(e *env, p *profile.Profile) error {
	switch {
	case f.tree:
		return report.Tree(e.stdout, e.width(), p, f.view)
	case f.list != "":
		return report.List(e.stdout, e.width(), p, names.Choose(f.list), sources(f.source))
	case f.diff != "":
		old, was, err := f.part.open(e, f.diff)
		if err != nil {
			return err
		}
		defer old.Close()
		view, err := f.view.In(was, p)
		if err != nil {
			return usageError{err}
		}
		return writeText(e, report.ProfileDiff(was, p, view))
	}
	return writeText(e, report.Profile(p, f.view))
}

// sources are where -list may read: a trace can name any file, and is not to be trusted with all of
// them.
func sources(folder string) report.Sources {
	s := report.Sources{Folder: folder}
	if abs, err := filepath.Abs(folder); err == nil && folder != "" {
		s.Roots = append(s.Roots, abs)
	}
	// Without a go command nothing was built here, and -source is left.
	out, _ := exec.Command("go", "env", "GOMOD", "GOWORK", "GOROOT", "GOMODCACHE").Output()
	for i, path := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if path == "" || path == "off" || path == os.DevNull {
			continue
		}
		if file := i < 2; file {
			path = filepath.Dir(path)
		}
		if !slices.Contains(s.Roots, path) {
			s.Roots = append(s.Roots, path)
		}
	}
	return s
}

// over shows means and intervals over several runs.
func (f *profileFlags) over(e *env, list []*profile.Profile) error {
	all := profile.Merge(list)
	view, err := f.view.In(all)
	if err != nil {
		return usageError{fmt.Errorf("profile: %w", err)}
	}
	r, err := profile.Over(list, view.Of(all))
	if err != nil {
		return usageError{fmt.Errorf("profile: %w", err)}
	}
	if f.asJSON {
		return r.JSON(e.stdout)
	}
	return report.Runs(e.stdout, e.width(), r)
}

// runTimes runs a program with probes several times and returns its traces.
func runTimes(ctx context.Context, e *env, n int, program []string, dir string) (files []string, err error) {
	if n < 2 || n > 1000 {
		return nil, usageError{fmt.Errorf("profile: found -n %d, expected 2 to 1000 runs", n)}
	}
	if len(program) == 0 {
		return nil, incomplete("profile", "-n and no program", "one that was built with -toolexec qinst, and its arguments",
			"profile -n 10 ./prog arguments")
	}
	r := &lab.Runner{Stdout: e.stderr, Stderr: e.stderr} // the standard output is the report's
	plan := lab.Plan{Rounds: n, Traces: dir, Cases: []lab.Case{
		{Name: program[0], Job: lab.Job{Program: program[0], Args: program[1:], Settings: os.Getenv("QINST")}},
	}}
	err = r.Run(ctx, plan, func(res lab.Result) error {
		files = append(files, res.Trace)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return files, nil
}

func choiceFlag(c **names.Choice) func(string) error {
	return func(s string) error {
		*c = names.Choose(s)
		return nil
	}
}

// reportFlags holds the flags of the command "report".
type reportFlags struct {
	part             partOf
	asJSON, markdown bool
	apply, all       bool
}

// setupReport summarizes a trace on one screen or page, which is meant for new users.
func setupReport(fs *flagSet) action {
	f := &reportFlags{}
	f.part.define(fs)
	fs.group("Output")
	fs.boolean(&f.all, "all", "print all sections, not only the first screen")
	fs.boolean(&f.asJSON, "json", "print one JSON object: the profile, the advice, and the page's sections")
	fs.boolean(&f.markdown, "markdown", "print Markdown, for a pull request or the summary of a CI run")
	fs.boolean(&f.apply, "apply", "write what the page says to leave out to qinst.toml, and print no page")
	return func(e *env, args []string) error {
		file, err := oneFile(e, "report", args)
		if err != nil {
			return err
		}
		return f.report(e, file)
	}
}

// applyRemedy writes what to leave out to qinst.toml.
func applyRemedy(e *env, t *trace.Trace, p *profile.Profile) error {
	r := report.RemedyFor(t, p)
	if r == nil {
		fmt.Fprintln(e.stderr, "qinst: nothing to leave out: counting was within the budget, or no few procedures have most of its cost")
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	file, err := toolexec.LeaveOut(dir, r.Without)
	if err == nil {
		fmt.Fprintf(e.stderr, "qinst: %s leaves out %s from the next build on\n", file, strings.Join(r.Without, ", "))
	}
	return err
}

func (f *reportFlags) report(e *env, file string) error {
	if f.apply {
		t, p, err := f.part.open(e, file)
		if err != nil {
			return err
		}
		defer t.Close()
		defer tellRings(e, file, t.whole.File.Salvaged)
		return applyRemedy(e, t.Trace, p)
	}
	t, facts, err := f.part.facts(e, file)
	if err != nil {
		return err
	}
	defer t.Close()
	defer tellRings(e, file, t.whole.File.Salvaged)
	page := report.Page(t.Trace, facts)
	report.Next(page, facts, file)
	switch {
	case f.asJSON && f.markdown:
		return usageError{errors.New("report: found -json and -markdown, expected one")}
	case f.asJSON:
		return report.PageJSON(e.stdout, facts, page)
	case f.markdown:
		return page.WriteMarkdown(e.stdout)
	case f.all:
		return writeText(e, page)
	}
	var asked []string
	if f.part.plain > 0 {
		asked = append(asked, "tool") // it has what -plain tells
	}
	return writeText(e, report.Screen(page, file, asked...))
}
