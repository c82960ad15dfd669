package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"qinst.dev/extensions"
	"qinst.dev/sddf/salvage"
)

// cmdReduce runs extensions over a file as they would have run in the program.
func cmdReduce(e *env, args []string) error {
	var names string
	fs := flag.NewFlagSet("reduce", flag.ContinueOnError)
	fs.SetOutput(e.stderr)
	fs.StringVar(&names, "ext", "", "extensions, separated by commas")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(e.stderr, "\n", topics["reduce"])
		extensionHelp(e.stderr)
		return nil
	case err != nil:
		return usageError{fmt.Errorf("reduce: %w", err)}
	case names == "" || fs.NArg() != 2:
		return usageError{errors.New(`reduce: expected -ext=NAME and two files, in and out; "qinst help reduce" lists names`)}
	}
	in, err := salvage.Open(fs.Arg(0))
	if err != nil {
		return err
	}
	defer in.Close()
	f, err := extensions.Open(in, in.Size)
	if err != nil {
		return fmt.Errorf("%s: %w", fs.Arg(0), err)
	}
	for name := range strings.SplitSeq(names, ",") {
		s, ext, err := extensions.Find(name)
		if err != nil {
			return usageError{fmt.Errorf("reduce: %w", err)}
		}
		f.Use(name, s.Kinds, ext)
	}
	err = writeTo(e, fs.Arg(1), f.Reduce)
	for _, line := range f.Said() {
		fmt.Fprintln(e.stderr, "qinst:", line)
	}
	return err
}

// extensionHelp lists the extensions.
func extensionHelp(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, s := range extensions.List() {
		name := s.Name
		if s.Option != "" {
			name += ":" + s.Option
		}
		fmt.Fprintf(t, "\t%s\t%s\n", name, s.Doc)
	}
	_ = t.Flush()
}
