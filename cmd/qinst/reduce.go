package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"qinst.dev/extensions"
	"qinst.dev/internal/format/salvage"
)

// setupReduce runs extensions over a file as they would have run in the program.
func setupReduce(fs *flagSet) action {
	var names string
	fs.group("What to run")
	var known []string
	for _, s := range extensions.List() {
		known = append(known, s.Name)
	}
	fs.offer("ext", known...)
	fs.text(&names, "ext", "run the extensions of these `names`, separated by commas, in this order")
	return func(e *env, args []string) error {
		if names == "" || len(args) != 2 {
			return incomplete("reduce", fmt.Sprintf("-ext=%s and %d files", names, len(args)),
				"names of extensions and two files, in and out", "reduce -ext=profile prog.sddf small.sddf")
		}
		return reduce(e, names, args[0], args[1])
	}
}

func reduce(e *env, names, from, to string) error {
	in, err := salvage.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	f, err := extensions.Open(in, in.Size)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	for name := range strings.SplitSeq(names, ",") {
		s, ext, err := extensions.Find(name)
		if err != nil {
			return usageError{fmt.Errorf("reduce: %w", err)}
		}
		f.Use(name, s.Kinds, ext)
	}
	err = binaryTo(e, to, f.Reduce)
	for _, line := range f.Said() {
		fmt.Fprintln(e.stderr, "qinst:", line)
	}
	return err
}

// extensionHelp lists the extensions.
func extensionHelp() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, s := range extensions.List() {
		name := s.Name
		if s.Option != "" {
			name += ":" + s.Option
		}
		fmt.Fprintf(t, "  %s\t%s\n", name, s.Doc)
	}
	_ = t.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
