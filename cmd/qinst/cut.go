package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"qinst.dev/trace"
)

// cmdCut writes the part of a trace between two times.
func cmdCut(e *env, args []string) error {
	var from, to time.Duration
	var out string
	file, err := readFlags(e, "cut", args, func(fs *flag.FlagSet) {
		fs.DurationVar(&from, "from", 0, "begin, since the trace began")
		fs.DurationVar(&to, "to", 1<<62, "end")
		fs.StringVar(&out, "o", "", "output file, - for the standard output")
	})
	if err != nil {
		return err
	}
	if out == "" {
		return usageError{fmt.Errorf("cut: expected -o and a file")}
	}
	return withTrace(e, file, func(t *trace.Trace) error {
		return writeTo(e, out, func(w io.Writer) error { return t.Cut(w, trace.Time(from), trace.Time(to)) })
	})
}

// cmdIndex writes a trace's index beside it, in place of one that is there.
func cmdIndex(e *env, args []string) error {
	file, err := readFlags(e, "index", args, nil)
	if err != nil {
		return err
	}
	t, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer t.Close()
	path := file + trace.IndexSuffix
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeTo(e, path, t.WriteIndex)
}
