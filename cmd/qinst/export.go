package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/export/chrome"
	"qinst.dev/internal/export/collapsed"
	"qinst.dev/internal/export/firefox"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/otlp"
	"qinst.dev/internal/export/parquet"
	"qinst.dev/internal/export/perfetto"
	"qinst.dev/internal/export/prometheus"
	"qinst.dev/internal/export/speedscope"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
)

// export writes a trace in a form. Of forms of sums it is those within a region.
type export func(e *env, w io.Writer, t *trace.Trace, in profile.Within) error

// sums are the forms that are made of a profile.
var sums = []string{"collapsed", "firefox", "pprof", "prometheus", "speedscope"}

// tables is the form that has several.
const tables = "parquet"

// exports maps the names of the forms of other tools.
var exports = map[string]export{
	"chrome":    inLanes(chrome.Write),
	"collapsed": inStacks(collapsed.Write),
	"firefox": inSums(func(w io.Writer, t *trace.Trace, p *profile.Profile) error {
		return firefox.Write(w, p, t.Began)
	}),
	"otlp":       inSpans,
	tables:       inLanes(parquet.Tables["slices"]), // or another table: see writer
	"perfetto":   inLanes(perfetto.Write),
	"prometheus": inStacks(prometheus.Write),
	"speedscope": inStacks(speedscope.Write),
	"pprof": inSums(func(w io.Writer, t *trace.Trace, p *profile.Profile) error {
		return report.Pprof(w, t, p, report.View{})
	}),
}

// binaryExports are the forms that are no text.
var binaryExports = []string{"otlp", "parquet", "perfetto", "pprof"}

// inLanes is a form of events in time.
func inLanes(write func(io.Writer, trace.Source) (lanes.Left, trace.Losses, error)) export {
	return func(e *env, w io.Writer, t *trace.Trace, _ profile.Within) error {
		left, losses, err := write(w, t)
		if err != nil {
			return err
		}
		if left.Locks > 0 {
			fmt.Fprintf(e.stderr, "qinst: %s more locks have no lane of their own\n", measure.Count(left.Locks))
		}
		e.lost(&losses)
		return nil
	}
}

// lost says what a trace lacks.
func (e *env) lost(losses *trace.Losses) {
	for _, l := range losses.List() {
		fmt.Fprintf(e.stderr, "qinst: %s %s\n", measure.Count(l.Count), l.What)
	}
}

// inSpans is the form of requests.
func inSpans(e *env, w io.Writer, t *trace.Trace, _ profile.Within) error {
	n, losses, err := otlp.Write(w, t)
	if err != nil {
		return err
	}
	if n.Spans == 0 {
		fmt.Fprintln(e.stderr, "qinst: found no region, task, label, handler or test that ended, so that there are no spans")
	}
	if n.Unended > 0 {
		fmt.Fprintf(e.stderr, "qinst: %s requests did not end in the trace and have no span\n", measure.Count(int64(n.Unended)))
	}
	if n.Counted > 0 {
		fmt.Fprintf(e.stderr, "qinst: %s calls of handlers or tests were only counted and have no span\n",
			measure.Count(n.Counted))
	}
	e.lost(&losses)
	return nil
}

// inSums is a form of sums.
func inSums(write func(io.Writer, *trace.Trace, *profile.Profile) error) export {
	return func(_ *env, w io.Writer, t *trace.Trace, in profile.Within) error {
		p, err := profile.NewWithin(t, in)
		if err != nil {
			return err
		}
		return write(w, t, p)
	}
}

// inStacks is a form of sums that needs only these.
func inStacks(write func(io.Writer, *profile.Profile) error) export {
	return inSums(func(w io.Writer, _ *trace.Trace, p *profile.Profile) error { return write(w, p) })
}

func exportNames() string { return strings.Join(slices.Sorted(maps.Keys(exports)), ", ") }

// exportFlags holds the flags of the command "export".
type exportFlags struct {
	form, out   string
	send        string // URL
	request     string // name
	region      string
	table       string
	force       bool
	from, until time.Duration
}

// setupExport writes a trace in a form that other tools open.
func setupExport(flags *flagSet) action {
	f := &exportFlags{out: "-"}
	flags.group("Form")
	flags.function("to", "`form` of the output: "+exportNames()+"; or a time such as 2s, for the end of the interval", f.to)
	flags.offer("to", slices.Sorted(maps.Keys(exports))...)
	flags.offer("table", parquet.Names()...)
	flags.text(&f.table, "table", "with -to parquet: the `table` to write: "+strings.Join(parquet.Names(), ", "))
	flags.group("Part of the trace")
	flags.time(&f.from, "from", "start of the interval: a `time` such as 1.5s (default: start of the trace); -to also takes its end")
	flags.text(&f.request, "request", "the time of the slowest request of this `name` (qinst critical -requests lists them)")
	flags.text(&f.region, "region", "count only what goroutines do in regions of this `name`, and what they start there: with the forms of sums, which are "+
		strings.Join(sums, ", "))
	flags.group("Output")
	flags.text(&f.out, "o", "write to this `file` (- for the standard output)")
	flags.boolean(&f.force, "f", "replace the file, if it is there")
	flags.text(&f.send, "send", "with -to otlp: send the spans to the collector at this `URL`, such as http://localhost:4318")
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
	write, err := f.writer()
	if err != nil {
		return usageError{err}
	}
	file, err := oneFile(e, "export", args)
	if err != nil {
		return err
	}
	if f.send != "" && (f.form != "otlp" || f.out != "-") {
		return usageError{fmt.Errorf("export: found -send with -to %s and -o %s, expected -to otlp and no -o", f.form, f.out)}
	}
	if f.region != "" && !slices.Contains(sums, f.form) {
		return usageError{fmt.Errorf("export: found -region with -to %s, expected one of %s; -request takes a part of the time",
			f.form, strings.Join(sums, ", "))}
	}
	part := partOf{from: f.from, to: f.until}
	if f.request != "" {
		if err := f.slowest(e, file, &part); err != nil {
			return err
		}
	}
	t, err := part.read(e, file, func(t *trace.Trace) error {
		to := f.write
		if f.send != "" {
			to = f.post
		}
		return to(e, func(w io.Writer) error {
			return write(e, w, t, profile.Within{Region: f.region})
		})
	})
	if err != nil {
		return err
	}
	return t.Close()
}

// slowest makes a part the time of the slowest request in it that has the name.
func (f *exportFlags) slowest(e *env, file string, part *partOf) error {
	t, err := part.read(e, file, func(t *trace.Trace) error {
		p, _, err := steps.Build(t, steps.Options{})
		if err != nil {
			return err
		}
		name, err := p.RequestNamed(f.request)
		if err != nil {
			return fmt.Errorf("-request: %w; qinst critical -requests lists them", err)
		}
		var slowest *steps.Request
		lasted := func(q *steps.Request) trace.Time { return p.Step(q.End).At - p.Step(q.Begin).At }
		for i := range p.Requests {
			if q := &p.Requests[i]; q.Name == name && (slowest == nil || lasted(q) > lasted(slowest)) {
				slowest = q
			}
		}
		from := part.from + time.Duration(p.Step(slowest.Begin).At)
		part.from, part.to = from, from+time.Duration(lasted(slowest))+1 // the end is in it
		fmt.Fprintf(e.stderr, "qinst: %s of goroutine %d: -from %s -to %s\n", measure.Visible(name), p.Gs[slowest.G].ID,
			part.from, part.to)
		return nil
	})
	if err != nil {
		return err
	}
	return t.Close()
}

// writer is what writes the form, or the table of it.
func (f *exportFlags) writer() (export, error) {
	switch write := exports[f.form]; {
	case write == nil:
		return nil, incomplete("export", "no form", "-to and one of "+exportNames(), "export -to perfetto -o prog.pftrace prog.sddf")
	case f.form != tables && f.table != "":
		return nil, fmt.Errorf("export: found -table with -to %s, expected -to %s", f.form, tables)
	case f.form != tables:
		return write, nil
	case parquet.Tables[f.table] == nil:
		return nil, fmt.Errorf("export: found -table=%s, expected one of %s", f.table, strings.Join(parquet.Names(), ", "))
	}
	return inLanes(parquet.Tables[f.table]), nil
}

func (f *exportFlags) write(e *env, do func(io.Writer) error) error {
	if f.out == "-" && slices.Contains(binaryExports, f.form) {
		return binaryTo(e, f.out, do)
	}
	return replaced(e, f.out, f.force, do)
}

// replaced is [replaceTo] for a command in which -f replaces a file.
func replaced(e *env, path string, force bool, do func(io.Writer) error) error {
	err := replaceTo(e, path, force, do)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; -f replaces it", err)
	}
	return err
}

// post sends what it is given to a collector.
func (f *exportFlags) post(e *env, do func(io.Writer) error) error {
	p, err := newPoster(e, f.send, "/v1/traces", "application/x-protobuf")
	if err != nil {
		return usageError{err}
	}
	if err := do(p); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "qinst: sent %s to %s\n", measure.Bytes(p.sent), p.url)
	return nil
}
