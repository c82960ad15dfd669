package main

import (
	"flag"
	"fmt"
	"io"
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
	t, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer t.Close()
	return writeTo(e, out, func(w io.Writer) error {
		if err := t.Cut(w, int64(from), int64(to)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
}
