package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// correctedFlag lets a command read the times that a run would have had without probes.
func correctedFlag(fs *flagSet, on *bool) {
	fs.boolean(on, "corrected", "with the times that the run would have had without probes, as qinst correct computes them")
}

// openTimes opens a trace, with corrected times if these are asked for.
func openTimes(e *env, file string, corrected bool) (*trace.Trace, error) {
	t, err := e.open(file)
	if err != nil || !corrected {
		return t, err
	}
	defer t.Close()
	f, err := os.CreateTemp("", "qinst-corrected-")
	if err != nil {
		return nil, err
	}
	tmp := lab.NewTemporary(f.Name())
	defer func() {
		_ = f.Close()
		tmp.Remove() // who reads it has it open
	}()
	collectOften(t.Tables())
	r, err := correct.New(t, correct.Options{Out: f})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, note := range r.Remarks.Warnings {
		fmt.Fprintf(e.stderr, "qinst: corrected times: %s\n", note)
	}
	c, err := e.open(f.Name())
	if err != nil {
		return nil, err
	}
	c.File.Path = file
	return c, nil
}

// collectOften does what is right for traces with many operations (see manySteps), before they are
// read.
func collectOften(t *trace.Tables) {
	n := uint64(0)
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointSync {
			n += p.Traced
		}
	}
	if n > manySteps {
		debug.SetGCPercent(10)
	}
}

// correctFile corrects a trace, and writes it with corrected times to the file out, if that has a
// name. The facts are those of the trace as it is.
func correctFile(e *env, out, file string, o correct.Options) (r *correct.Result, f *advice.Facts, err error) {
	t, err := e.open(file)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	collectOften(t.Tables())
	if out == "" {
		r, err = correct.New(t, o)
	} else {
		err = binaryTo(e, out, func(w io.Writer) error {
			o.Out = w
			r, err = correct.New(t, o)
			return err
		})
	}
	var p *profile.Profile
	if err == nil && out != "-" {
		p, err = profile.New(t)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if p != nil {
		f = advice.Gather(t, p)
	}
	return r, f, nil
}
