package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/report"
	"qinst.dev/sddf/salvage"
	"qinst.dev/sddf/text"
	"qinst.dev/trace"
)

// readFlags parses the arguments of a command that reads one file: flags before
// or after the file; without a file, the newest one of the working directory.
func readFlags(e *env, name string, args []string, define func(*flag.FlagSet)) (file string, err error) {
	files, err := parseFlags(e, name, args, define)
	if err != nil {
		return "", err
	}
	return oneFile(e, name, files)
}

// parseFlags returns the arguments that are no flags.
func parseFlags(e *env, name string, args []string, define func(*flag.FlagSet)) (files []string, err error) {
	return parseFlagsUntil(e, name, args, define, func() bool { return false })
}

// parseFlagsUntil is parseFlags for a command whose arguments may be a program's: no flags
// come behind the first one then.
func parseFlagsUntil(e *env, name string, args []string, define func(*flag.FlagSet), program func() bool) (files []string, err error) {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	if define != nil {
		define(fs)
	}
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fs.SetOutput(e.stderr)
				fmt.Fprintf(e.stderr, "usage: qinst %s [flags] [file.sddf]\n", name)
				fs.PrintDefaults()
			}
			return nil, usageError{fmt.Errorf("%s: %w", name, err)}
		}
		if args = fs.Args(); program() {
			return append(files, args...), nil
		}
		if len(args) > 0 {
			files, args = append(files, args[0]), args[1:]
		}
	}
	return files, nil
}

func oneFile(e *env, name string, files []string) (string, error) {
	switch len(files) {
	case 0:
		return newestFile(e)
	case 1:
		return files[0], nil
	}
	return "", usageError{fmt.Errorf("%s: %d files given, expected one", name, len(files))}
}

// newestFile is the *.sddf of the working directory that was written last.
func newestFile(e *env) (string, error) {
	names, err := filepath.Glob("*.sddf")
	if err != nil {
		return "", err
	}
	slices.Sort(names)
	best, bestTime := "", int64(0)
	for _, name := range names {
		st, err := os.Stat(name)
		if err == nil && !st.IsDir() && (best == "" || st.ModTime().UnixNano() >= bestTime) {
			best, bestTime = name, st.ModTime().UnixNano()
		}
	}
	if best == "" {
		return "", usageError{errors.New("no file given, and no *.sddf in the working directory")}
	}
	fmt.Fprintf(e.stderr, "qinst: reading %s\n", best)
	return best, nil
}

// cmdInfo shows what a file holds.
func cmdInfo(e *env, args []string) error {
	var check bool
	file, err := readFlags(e, "info", args, func(fs *flag.FlagSet) {
		fs.BoolVar(&check, "check", false, "read all events, and say what had to be repaired")
	})
	if err != nil {
		return err
	}
	t, err := trace.Open(file)
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

// cmdDump shows every packet of a file.
func cmdDump(e *env, args []string) error {
	var mode, only, points string
	var asJSON bool
	var from, to time.Duration
	file, err := readFlags(e, "dump", args, func(fs *flag.FlagSet) {
		fs.StringVar(&mode, "mode", "text", "text, json, wire (every packet's bytes), footprint (what takes how much of the file) or events (a trace's, in order, in words)")
		fs.BoolVar(&asJSON, "json", false, "-mode=json")
		fs.StringVar(&only, "only", "", "of text and json only the records of these names, separated by commas")
		fs.DurationVar(&from, "from", 0, "of events only those after this time")
		fs.DurationVar(&to, "to", 1<<62, "up to this one")
		fs.StringVar(&points, "points", "", "and at points of this name: * stands for any characters")
	})
	if err != nil {
		return err
	}
	if mode == "events" || from != 0 || to != 1<<62 || points != "" {
		return withTrace(e, file, func(t *trace.Trace) error {
			return report.Events(e.stdout, t, trace.Time(from), trace.Time(to), points, asJSON)
		})
	}
	if asJSON {
		mode = "json"
	}
	var names []string
	if only != "" {
		names = strings.Split(only, ",")
	}
	show := map[string]func(io.Writer, *salvage.File) error{
		"text":      func(w io.Writer, f *salvage.File) error { return text.Dump(w, f, f.Size, names...) },
		"json":      func(w io.Writer, f *salvage.File) error { return text.DumpJSON(w, f, f.Size, names...) },
		"wire":      func(w io.Writer, f *salvage.File) error { return text.Wire(w, f, f.Size) },
		"footprint": func(w io.Writer, f *salvage.File) error { return text.Footprint(w, f, f.Size) },
	}[mode]
	if show == nil {
		return usageError{fmt.Errorf("dump: found -mode=%s, expected text, json, wire, footprint or events", mode)}
	}
	return withFile(file, func(f *salvage.File) error { return show(e.stdout, f) })
}

// slowSize is from which size on a missing index is worth a word.
const slowSize = 256 << 20

// withTrace opens a trace of which a part is asked for.
func withTrace(e *env, path string, do func(t *trace.Trace) error) error {
	t, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer t.Close()
	if t.Size > slowSize && !t.Indexed() {
		fmt.Fprintf(e.stderr, "qinst: %s has no index, so that all before is read; \"qinst index\" makes one\n", path)
	}
	if err := do(t); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
