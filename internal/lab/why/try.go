package why

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/lab"
)

// pairs of runs with and without a change that is tried.
const pairs = 8

// try makes the changes of conclusions that need no editor: variables of the Go runtime's, and the
// capacity of a channel where it is made.
func (s *study) try(ctx context.Context) error {
	if s.done() {
		return nil
	}
	for i := range s.Found {
		t, ok := s.setting(&s.Found[i])
		if !ok || slices.ContainsFunc(s.Settings, func(o why.Setting) bool { return o.Text == t.Text }) {
			continue
		}
		changed := lab.Job{NoTrace: true, Settings: "mode=off"}
		if made, err := s.made(ctx, &t, &changed); err != nil {
			return err
		} else if !made {
			note := t.Text + " could not be tried: a run with it is as before, because something else in the program sets that"
			if !slices.Contains(s.Notes, note) { // by the same command before
				s.Notes = append(s.Notes, note)
			}
			continue
		}
		if err := s.compare(ctx, &t, changed); err != nil {
			return err
		}
		s.Settings = append(s.Settings, t)
		if err := s.save(); err != nil {
			return err
		}
	}
	return nil
}

// compare runs the program with and without a change, in pairs.
func (s *study) compare(ctx context.Context, t *why.Setting, changed lab.Job) error {
	s.r.Expect(2*pairs + usualRest)
	for pair := range pairs {
		sides := []*[]float64{&t.Base, &t.Change}
		for n := range sides {
			k := (n + pair) % 2 // the order changes, so that neither is always the first
			j := lab.Job{NoTrace: true, Settings: "mode=off"}
			if k == 1 {
				j = changed
			}
			err := s.once(ctx, fmt.Sprintf("%s, pair %d of %d", t.Text, pair+1, pairs), j, func(res lab.Result) error {
				*sides[k] = append(*sides[k], res.Wall.Seconds())
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// setting is the one that makes a candidate's change; false: none does.
func (s *study) setting(c *why.Candidate) (t why.Setting, ok bool) {
	t = why.Setting{Kind: c.Kind, Subject: c.Subject.Name}
	switch capacity, is := strings.CutPrefix(c.WhatIf, "cap:"); {
	case is && s.o.Rebuild != nil:
		name, n, _ := strings.Cut(capacity, "=")
		var err error
		t.Capacity, err = strconv.Atoi(n)
		t.Text = "-cap=" + capacity
		return t, err == nil && name == t.Subject && t.Capacity > 0
	case c.Kind == collector && c.Change == advice.RaiseGC: // a limit is near
		t.Text = "GOMEMLIMIT=off"
	case c.Kind == collector:
		t.Text = "GOGC=400"
	case c.Change == advice.Procs:
		t.Text = fmt.Sprintf("GOMAXPROCS=%d", runtime.NumCPU())
	}
	return t, t.Text != ""
}

// collector is the kind of conclusions about the garbage collector.
const collector = "garbage-collector"

// made makes a change, and reports whether a run of the program has it, as far as a trace shows. A
// channel may have another name where it is made, or be made by a package without probes, and the
// program may set GOMAXPROCS itself.
func (s *study) made(ctx context.Context, t *why.Setting, j *lab.Job) (made bool, err error) {
	name, value, _ := strings.Cut(t.Text, "=")
	switch {
	case t.Capacity > 0:
		if j.Program, err = s.o.Rebuild(append(s.factorFlags(nil), t.Text)...); err != nil {
			return false, err
		}
	case name == "GOMAXPROCS":
		j.Env = []string{t.Text}
	default:
		j.Env = []string{t.Text}
		return true, nil
	}
	run := lab.Job{Program: j.Program, Env: j.Env, Settings: s.o.Settings}
	err = s.once(ctx, "a run with "+t.Text, run, func(res lab.Result) error {
		f, _, err := s.read(res.Trace)
		switch {
		case err != nil:
		case t.Capacity == 0:
			made = fmt.Sprint(f.Procs) == value
		case f.Program != nil:
			made = hasCapacity(f.Program, t)
		}
		return err
	})
	return made, err
}

// hasCapacity reports whether a channel has the capacity that is tried for it.
func hasCapacity(p *steps.Program, t *why.Setting) bool {
	for i := range p.Objects {
		o := &p.Objects[i]
		for _, at := range o.Names() {
			if o.Cap == t.Capacity && p.R.T.Points[at].Name == t.Subject {
				return true
			}
		}
	}
	return false
}
