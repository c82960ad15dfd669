package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"qinst.dev/report"
	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// checkModes are what "run -check" compares: the same program with different parts of
// it recorded (Reed, section 5). What is measured must not depend on it.
var checkModes = []struct{ name, settings string }{
	{"count", "mode=count"},
	{"time", "budget=off,kind:proc=time,kind:loop=count,kind:sync=count"},
	{"trace", "budget=off"},
	{"half", "budget=off,odd:*=count"},
}

// checkRounds is how often each mode runs, by turns.
const checkRounds = 3

// checkRuns runs a program in each mode and compares what the modes tell.
func checkRuns(e *env, exe string, args []string) error {
	dir := filepath.Dir(exe)
	runs := map[string][]report.CheckRun{}
	for round := range checkRounds {
		for _, m := range checkModes {
			e.progress("run %d of %d: %s", round+1, checkRounds, m.name)
			r, err := checkRun(e, exe, args, filepath.Join(dir, "check.sddf"), m.settings)
			if err != nil {
				return fmt.Errorf("run -check: %s: %w", m.name, err)
			}
			runs[m.name] = append(runs[m.name], *r)
		}
	}
	var names []string
	for _, m := range checkModes {
		names = append(names, m.name)
	}
	return report.Check(e.stdout, names, runs)
}

// checkRun is one run. The program's output is of no interest: it comes many times.
func checkRun(e *env, exe string, args []string, file, settings string) (*report.CheckRun, error) {
	_ = os.Remove(file)
	cmd := exec.Command(exe, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, io.Discard, e.stderr
	cmd.Env = append(os.Environ(), "QINST=limit=0,out="+file+","+settings)
	began := time.Now()
	if err := runChild(cmd); err != nil {
		return nil, err
	}
	r := &report.CheckRun{Wall: int64(time.Since(began)), Procedures: map[string]report.CheckProc{}}
	r.CPU = int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	t, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	took, err := elapsed(t)
	if err != nil {
		return nil, err
	}
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind != spec.PointProc || p.Hits == 0 {
			continue
		}
		c := r.Procedures[p.Name]
		c.Calls += p.Hits
		switch {
		case p.Timed() == p.Hits:
			c.Took += p.Times.Took
			c.Timed = true
		case p.Traced == p.Hits:
			c.Took += took[trace.PointID(i)]
			c.Timed = true
		}
		r.Procedures[p.Name] = c
	}
	return r, nil
}

// elapsed is how long the activations of each procedure took, in ns, with what they
// called and waited for.
func elapsed(t *trace.Trace) (map[trace.PointID]int64, error) {
	type open struct {
		point trace.PointID
		since trace.Time
	}
	took := map[trace.PointID]int64{}
	stacks := map[trace.Slot][]open{}
	_, err := t.Events(func(batch []trace.Event) error {
		for i := range batch {
			switch e := &batch[i]; e.Kind {
			case trace.Enter:
				stacks[e.Slot] = append(stacks[e.Slot], open{e.Point(), e.Time})
			case trace.Exit:
				s := stacks[e.Slot]
				took[e.Point()] += int64(e.Time - s[len(s)-1].since)
				stacks[e.Slot] = s[:len(s)-1]
			}
		}
		return nil
	})
	return took, err
}
