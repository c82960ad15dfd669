package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/export/chrome"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/perfetto"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// exports maps the name of each form of another tool to what writes a trace in it.
var exports = map[string]func(io.Writer, trace.Source) (lanes.Left, trace.Losses, error){
	"chrome":   chrome.Write,
	"perfetto": perfetto.Write,
}

func exportNames() string { return strings.Join(slices.Sorted(maps.Keys(exports)), ", ") }

// exportFlags holds the flags of the command "export".
type exportFlags struct {
	form, out   string
	force       bool
	from, until time.Duration
}

// setupExport writes a trace in a form that other tools open.
func setupExport(fs *flagSet) action {
	f := &exportFlags{out: "-"}
	fs.group("Form")
	fs.function("to", "`form` of the output: "+exportNames()+"; or a time such as 2s, for the end of the interval", f.to)
	fs.group("Part of the trace")
	fs.time(&f.from, "from", "start of the interval: a `time` such as 1.5s (default: start of the trace); -to also takes its end")
	fs.group("Output")
	fs.text(&f.out, "o", "write to this `file` (- for the standard output)")
	fs.boolean(&f.force, "f", "replace the file, if it is there")
	return f.run
}

// to takes a form, or the end of the interval: as in all commands that is -to, too.
func (f *exportFlags) to(value string) error {
	if exports[value] != nil {
		f.form = value
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("found -to=%s, expected %s, or a time", value, exportNames())
	}
	f.until = d
	return nil
}

func (f *exportFlags) run(e *env, args []string) error {
	write := exports[f.form]
	if write == nil {
		return usageError{errors.New("export: found no form, expected -to with one of " + exportNames())}
	}
	file, err := oneFile(e, "export", args)
	if err != nil {
		return err
	}
	part := partOf{from: f.from, to: f.until}
	t, err := part.read(e, file, func(t *trace.Trace) error {
		return f.write(e, func(w io.Writer) error {
			left, losses, err := write(w, t)
			if err == nil {
				tellHidden(e, left, losses)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	return t.Close()
}

func (f *exportFlags) write(e *env, do func(io.Writer) error) error {
	if f.out == "-" && lab.Terminal(e.raw) {
		return binaryTo(e, f.out, do)
	}
	return replaceTo(e, f.out, f.force, do)
}

// tellHidden says what is not in the output.
func tellHidden(e *env, left lanes.Left, losses trace.Losses) {
	if left.Locks > 0 {
		fmt.Fprintf(e.stderr, "qinst: %s more locks have no lane of their own\n", measure.Count(left.Locks))
	}
	for _, l := range losses.List() {
		fmt.Fprintf(e.stderr, "qinst: %s %s\n", measure.Count(l.Count), l.What)
	}
}
