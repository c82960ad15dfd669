package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
)

const (
	// empty is a program that does nothing: as long takes what a trace does not have, the start and
	// the end of a process. One in Go would have the start of the runtime too, which a trace has.
	empty     = "true"
	emptyCase = "an empty process"

	// shortBaseline is a run time so short that these matter.
	shortBaseline = 200 * time.Millisecond
)

// baseline is a comparison of corrections with a program without probes.
type baseline struct {
	plain  []string // the program's command
	probed []string // the same program with probes, to be run alternately with it; nil: there is a trace
	n      int      // runs of each

	took, starts []int64 // of plain processes, and of one that does nothing
	first        []byte  // what the first run printed
	others       int     // runs that printed something else
	corrected    []*correct.Result
}

// isProgram reports whether a file is a program rather than a trace. Traces are not executable,
// except on file systems where every file is.
func isProgram(file string) bool {
	st, err := os.Stat(file)
	if err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
		return false
	}
	t, err := trace.Open(file)
	if err == nil {
		_ = t.Close() // it was read only
	}
	return err != nil
}

// compare runs the programs and sets the plain one's times against the correction. The correction
// is r or, if the program with probes is run too, that of its median run.
func (b *baseline) compare(e *env, o correct.Options, r *correct.Result) (*correct.Result, error) {
	if len(b.plain) == 0 {
		return nil, errors.New("found no command, expected that of the program without probes: -baseline './plain arguments'")
	}
	cases := []lab.Case{{Name: b.plain[0], Job: lab.Job{Program: b.plain[0], Args: b.plain[1:], Plain: true,
		Collect: true}}}
	if exe, err := exec.LookPath(empty); err == nil { // without it plain runs have a start and an end more
		cases = append(cases, lab.Case{Name: emptyCase, Job: lab.Job{Program: exe, Plain: true, Collect: true}})
	}
	if b.probed != nil {
		cases = append(cases, lab.Case{Name: b.probed[0],
			Job: lab.Job{Program: b.probed[0], Args: b.probed[1:], Settings: os.Getenv("QINST"), Collect: true}})
	}
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	runner := &lab.Runner{Stdout: e.stderr, Stderr: e.stderr}
	err := runner.Run(ctx, lab.Plan{Rounds: b.n, Cases: cases}, func(res lab.Result) error { return b.note(res, o) })
	if err != nil {
		return nil, err
	}
	if b.probed != nil {
		r = correct.Turns(b.corrected)
	}
	start := stats.Median(b.starts)
	for i := range b.took {
		b.took[i] = max(0, b.took[i]-start)
	}
	r.Beside(b.took)
	if b.others > 0 {
		r.Remarks.Note("%d runs printed something else than the first plain one: they may not have done the same",
			b.others)
	}
	if time.Duration(r.Actual) < shortBaseline {
		r.Remarks.Note("plain runs are shorter than 200 ms: the start and the end of a process, which the trace does not have, are a part of that, and are taken out only as far as those of an empty one tell")
	}
	return r, nil
}

// note takes one run's outcome.
func (b *baseline) note(res lab.Result, o correct.Options) error {
	if res.Case == emptyCase {
		b.starts = append(b.starts, int64(res.Wall))
		return nil
	}
	if b.first == nil {
		b.first = append([]byte{}, res.Stdout...)
	}
	if !bytes.Equal(res.Stdout, b.first) {
		b.others++
	}
	if res.Trace == "" {
		b.took = append(b.took, int64(res.Wall))
		return nil
	}
	t, err := trace.Open(res.Trace)
	if err != nil {
		return err
	}
	defer t.Close()
	r, err := correct.New(t, o)
	if err == nil {
		b.corrected = append(b.corrected, r)
	}
	return err
}
