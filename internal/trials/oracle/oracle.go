// Package oracle compares the goroutine states in an SDDF file with those in
// the execution trace that Go's own tracer wrote of the same run.
package oracle

import (
	"errors"
	"fmt"
	"io"
	"slices"

	gotrace "golang.org/x/exp/trace"

	"qinst.dev/internal/trace"
)

// Diff is a goroutine whose sequence of states differs.
type Diff struct {
	G        uint64
	Go, Ours []string // the states it went through
}

// Compare returns the goroutines whose states in the execution trace are not a
// contiguous part of those in t, and how many goroutines and changes of state
// were compared. A goroutine that lived and died within the execution trace
// must have the same sequence in both.
func Compare(execution io.Reader, t *trace.Trace) (diffs []Diff, goroutines, changes int, err error) {
	theirs, err := goStates(execution)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("execution trace: %w", err)
	}
	ours, err := ourStates(t)
	if err != nil {
		return nil, 0, 0, err
	}
	var ids []uint64
	for g := range theirs {
		ids = append(ids, g)
	}
	slices.Sort(ids)
	for _, g := range ids {
		s := theirs[g]
		changes += len(s)
		if !contains(ours[g], s) {
			diffs = append(diffs, Diff{g, s, ours[g]})
		}
	}
	return diffs, len(ids), changes, nil
}

const none = "none"

// contains reports whether part is a contiguous part of all: from the start or to
// the end where it begins with creation or ends with death.
func contains(all, part []string) bool {
	if len(part) > 0 && part[0] == none && part[len(part)-1] == none {
		return slices.Equal(all, part)
	}
	for i := 0; i+len(part) <= len(all); i++ {
		if slices.Equal(all[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// goStates reads the states of every goroutine from an execution trace.
func goStates(r io.Reader) (map[uint64][]string, error) {
	rd, err := gotrace.NewReader(r)
	if err != nil {
		return nil, err
	}
	states := map[uint64][]string{}
	names := map[gotrace.GoState]string{
		gotrace.GoNotExist: none, gotrace.GoRunnable: "runnable", gotrace.GoRunning: "running",
		gotrace.GoWaiting: "waiting", gotrace.GoSyscall: "syscall",
	}
	for {
		ev, err := rd.ReadEvent()
		if errors.Is(err, io.EOF) {
			return states, nil
		}
		if err != nil {
			return nil, err
		}
		if ev.Kind() != gotrace.EventStateTransition {
			continue
		}
		tr := ev.StateTransition()
		if tr.Resource.Kind != gotrace.ResourceGoroutine {
			continue
		}
		g := uint64(tr.Resource.Goroutine())
		from, to := tr.Goroutine()
		if len(states[g]) == 0 && from != gotrace.GoUndetermined {
			states[g] = append(states[g], names[from])
		}
		if from != to {
			states[g] = append(states[g], names[to])
		}
	}
}

// ourStates reads the states from a trace, in the terms of Go's tracer: losing the processor in a
// system call is no change of state, nor is preemption by the operating system, and a
// coroutine that is switched to is runnable for no time.
func ourStates(t *trace.Trace) (map[uint64][]string, error) {
	states := map[uint64][]string{}
	name := func(s trace.State) string {
		switch s {
		case trace.None:
			return none
		case trace.Blocked:
			return "syscall"
		}
		return s.String()
	}
	_, err := t.Events(func(batch []trace.Event) error {
		for _, e := range batch {
			g := uint64(e.G)
			if e.Kind == trace.Yields { // one event for all of them
				for n := e.Yields(); n > 0; n-- {
					states[g] = append(states[g], name(trace.Runnable), name(trace.Running))
				}
			}
			if e.Kind != trace.Create && e.Kind != trace.Change {
				continue
			}
			if e.Kind == trace.Create {
				states[g] = append(states[g], none)
			}
			if e.To == trace.OffCPU {
				continue // what follows is the state from before
			}
			if e.From == trace.Waiting && e.To == trace.Running {
				states[g] = append(states[g], name(trace.Runnable))
			}
			if s := name(e.To); len(states[g]) == 0 || states[g][len(states[g])-1] != s {
				states[g] = append(states[g], s)
			}
		}
		return nil
	})
	return states, err
}
