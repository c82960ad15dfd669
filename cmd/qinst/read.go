package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/format/salvage"
	"qinst.dev/internal/format/text"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/report"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// oneFile returns the file that a command reads: the given one, or else the newest one of
// the working directory.
func oneFile(e *env, name string, files []string) (string, error) {
	switch len(files) {
	case 0:
		return newestFile(e)
	case 1:
		return files[0], nil
	}
	return "", usageError{fmt.Errorf("%s: found %d files, expected one", name, len(files))}
}

// numbered matches the name of a trace whose name was taken: the program adds a number.
var numbered = regexp.MustCompile(`\.sddf\.[0-9]+$`)

// newestFile returns the trace that was written last, of those in the working directory and of
// those that tests of packages there and below wrote. It says which it is and how old, because it
// may not be that of the run that its user thinks of. Other traces of programs that may not write
// where they run are in the directory for temporary files: which of those is meant is the user's to
// say.
func newestFile(e *env) (string, error) {
	best, written := newestOf(tracesIn("."))
	if test, at := newestOf(testsTraces(written)); test != "" {
		best, written = test, at
	}
	if best != "" {
		fmt.Fprintf(e.stderr, "qinst: reading %s, written %s ago\n", best, age(written))
		return best, nil
	}
	const none = "found no file, and no *.sddf in the working directory, expected a trace"
	if best, written := newestOf(tracesIn(os.TempDir())); best != "" {
		return "", usageError{fmt.Errorf("%s: name one; the newest in %s is %s, written %s ago", none, os.TempDir(), best,
			age(written))}
	}
	return "", usageError{errors.New(none + ": name one, or make one with qinst run ./prog")}
}

func age(written time.Time) time.Duration { return time.Since(written).Round(time.Second) }

// testsTraces are the traces later than a time that tests of the packages in the working directory
// and below it wrote, into the directory for temporary files or into the package's.
func testsTraces(after time.Time) (list []string) {
	made, _ := filepath.Glob(testTraces(""))
	made = slices.DeleteFunc(made, func(path string) bool {
		st, err := os.Stat(path)
		return err != nil || !st.ModTime().After(after)
	})
	if len(made) == 0 && !after.IsZero() {
		return nil
	}
	out, err := exec.Command("go", "list", "-e", "-f", "{{.Dir}}\t{{.ImportPath}}", "./...").Output()
	if err != nil {
		return nil // nothing here is a package
	}
	for line := range strings.Lines(string(out)) {
		dir, importPath, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name := path.Base(importPath)
		if majorVersion.MatchString(name) { // as the go command names test programs
			name = path.Base(path.Dir(importPath))
		}
		for _, file := range made {
			if strings.HasPrefix(filepath.Base(file), name+".test.") {
				list = append(list, file)
			}
		}
		if after.IsZero() {
			list = append(list, tracesIn(dir)...)
		}
	}
	return list
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// newestOf returns the trace that was written last, "" if there is none.
func newestOf(list []string) (best string, written time.Time) {
	for _, path := range list {
		if st, err := os.Stat(path); err == nil && (best == "" || !st.ModTime().Before(written)) {
			best, written = path, st.ModTime()
		}
	}
	return best, written
}

// tracesIn returns the paths of the traces in a directory, none if it cannot be read.
func tracesIn(dir string) (list []string) {
	entries, _ := os.ReadDir(dir) // in the order of their names
	for _, entry := range entries {
		if name := entry.Name(); !entry.IsDir() && (filepath.Ext(name) == ".sddf" || numbered.MatchString(name)) {
			list = append(list, filepath.Join(dir, name))
		}
	}
	return list
}

// setupInfo shows the contents of a file in summary.
func setupInfo(fs *flagSet) action {
	var check bool
	fs.group("Check")
	fs.boolean(&check, "check", "read all events, and say what had to be repaired")
	return func(e *env, args []string) error {
		file, err := oneFile(e, "info", args)
		if err != nil {
			return err
		}
		t, err := e.open(file)
		if err != nil {
			return err
		}
		defer t.Close()
		losses := t.Losses()
		if check {
			if losses, err = t.Events(func([]trace.Event) error { return nil }); err != nil {
				return err
			}
		}
		return report.Info(e.stdout, t, &losses)
	}
}

// dumpFlags holds the flags of the command "dump".
type dumpFlags struct {
	mode, only, points string
	asJSON             bool
	from, to           time.Duration
}

// setupDump prints the packets of a file, or the events of a trace.
func setupDump(fs *flagSet) action {
	d := dumpFlags{mode: "text"}
	fs.group("Form")
	fs.text(&d.mode, "mode", "`form`: text, json, wire (the bytes of every packet), footprint (what takes how much of the file), events (of a trace, in words)")
	fs.boolean(&d.asJSON, "json", "short for -mode=json; with events, one JSON object a line")
	fs.group("Records (text and json)")
	fs.text(&d.only, "only", "print only records of these `names`, separated by commas")
	fs.group("Events")
	fs.interval(&d.from, &d.to)
	fs.text(&d.points, "points", "print only events at points that match this `name`; * stands for any characters")
	fs.offer("mode", "text", "json", "wire", "footprint", "events")
	fs.offerNames("entries", "points")
	return func(e *env, args []string) error {
		file, err := oneFile(e, "dump", args)
		if err != nil {
			return err
		}
		return d.dump(e, file)
	}
}

func (d *dumpFlags) dump(e *env, file string) error {
	if d.mode == "events" || d.from != 0 || d.to != 0 || d.points != "" {
		return withTrace(e, file, func(t *trace.Trace) error {
			return report.Events(e.stdout, t, trace.Time(d.from), cmp.Or(trace.Time(d.to), t.Wall()), d.points,
				d.asJSON)
		})
	}
	if d.asJSON {
		d.mode = "json"
	}
	var names []string
	if d.only != "" {
		names = strings.Split(d.only, ",")
	}
	show := map[string]func(io.Writer, *salvage.File) error{
		"text":      func(w io.Writer, f *salvage.File) error { return text.Show(w, f, f.Size, names...) },
		"json":      func(w io.Writer, f *salvage.File) error { return text.ShowJSON(w, f, f.Size, names...) },
		"wire":      func(w io.Writer, f *salvage.File) error { return text.Wire(w, f, f.Size) },
		"footprint": func(w io.Writer, f *salvage.File) error { return text.Footprint(w, f, f.Size) },
	}[d.mode]
	if show == nil {
		return usageError{fmt.Errorf("dump: found -mode=%s, expected text, json, wire, footprint or events", d.mode)}
	}
	return withFile(file, func(f *salvage.File) error { return show(e.stdout, f) })
}

// Statements are broken for the terminal they are written to, unless it is so narrow, or so wide,
// that they would be hard to read.
const (
	fewColumns  = 40
	manyColumns = 100
)

// writeText writes a document for people.
func writeText(e *env, d *doc.Doc) error {
	e.meter.end()
	if n := e.width(); n > 0 {
		d.Width, d.Columns = n, min(max(n, fewColumns), manyColumns)
	}
	if d.Coloured = coloured(e.raw, os.Getenv); d.Coloured {
		return d.WriteText(e.raw) // e.stdout would show the colours' bytes
	}
	return d.WriteText(e.stdout)
}

// width is that of the terminal that the standard output is, or what COLUMNS says of it; 0: it is
// none, or its width is not known.
func (e *env) width() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && lab.Terminal(e.raw) {
		return n
	}
	return lab.Columns(e.raw)
}

// coloured reports whether text for w may have colours: it is a terminal, and the user has not
// declined them (no-color.org).
func coloured(w io.Writer, getenv func(string) string) bool {
	return lab.Terminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// slowSize is the size above which a missing index is reported, because finding a part of a
// larger trace takes long without one.
const slowSize = 256 << 20

// withTrace opens a trace, calls do and closes the trace. It recommends an index if the
// trace is large, because do reads only a part.
func withTrace(e *env, path string, do func(t *trace.Trace) error) error {
	t, err := e.open(path)
	if err != nil {
		return err
	}
	defer t.Close()
	if t.File.Size > slowSize && !t.Indexed() {
		fmt.Fprintf(e.stderr, "qinst: %s has no index, so that all before is read; \"qinst index\" makes one\n", path)
	}
	if err := do(t); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
