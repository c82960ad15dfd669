package main

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"qinst.dev/internal/trace"
)

// setupCut writes the part of a trace between two times.
func setupCut(fs *flagSet) action {
	var from, to time.Duration
	var out string
	fs.group("Part of the trace")
	fs.interval(&from, &to)
	fs.group("Output")
	fs.text(&out, "o", "write to this `file` (- for the standard output)")
	return func(e *env, args []string) error {
		if out == "" {
			return incomplete("cut", "no -o", "a file to write", "cut -from 1s -o part.sddf prog.sddf")
		}
		file, err := oneFile(e, "cut", args)
		if err != nil {
			return err
		}
		return withTrace(e, file, func(t *trace.Trace) error {
			return binaryTo(e, out, func(w io.Writer) error {
				return t.Cut(w, trace.Time(from),
					cmp.Or(trace.Time(to), t.Wall()))
			})
		})
	}
}

func setupIndex(*flagSet) action { return cmdIndex }

// cmdIndex writes a trace's index next to the trace and replaces an existing index.
func cmdIndex(e *env, args []string) error {
	file, err := oneFile(e, "index", args)
	if err != nil {
		return err
	}
	t, err := e.open(file)
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
