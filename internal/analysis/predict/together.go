package predict

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// Check finds what is changed among what the program has, and returns an error if there is none, or
// if changes cannot be made at the same time.
func (w *WhatIf) Check(p *steps.Program) error {
	var text []string
	for i := range w.of {
		if err := w.of[i].check(p); err != nil {
			return err
		}
		text = append(text, w.of[i].text)
	}
	w.Text = strings.Join(text, and)
	if _, err := w.options(p); err != nil {
		return fmt.Errorf("found %q: %w", w.Text, err)
	}
	return nil
}

// factor is what shares of work are multiplied by; nil: all of it stays as it is.
func (w *WhatIf) factor(p *steps.Program) (of func(replay.SetID, *steps.Share) float64) {
	for i := range w.of {
		if w.of[i].kind.in == nil {
			continue
		}
		before, factor := of, w.of[i].factor(p)
		if of = factor; before != nil {
			of = func(set replay.SetID, s *steps.Share) float64 { return before(set, s) * factor(set, s) }
		}
	}
	return of
}

// options are those of the run with all changes.
func (w *WhatIf) options(p *steps.Program) (o sim.Options, err error) {
	if factor := w.factor(p); factor != nil {
		o = scaled(p, factor)
	}
	for i := range w.of {
		if w.of[i].kind.in != nil {
			continue
		}
		one, _ := w.of[i].options(p)
		if o, err = both(p, o, one); err != nil {
			break
		}
	}
	return o, err
}

// both are the options of a run with two changes. Steps that both apply to are scaled by both.
func both(p *steps.Program, a, b sim.Options) (sim.Options, error) {
	if f, g := a.Length, b.Length; f != nil && g != nil {
		a.Length = func(id steps.StepID) float64 {
			return f(id) * g(id) / float64(max(p.Step(id).Work, 1))
		}
	} else if g != nil {
		a.Length = g
	}
	if f, g := a.Delayed, b.Delayed; f != nil && g != nil {
		a.Delayed = func(id steps.StepID) float64 { return f(id) * g(id) }
	} else if g != nil {
		a.Delayed = g
	}
	switch {
	case a.Split != nil && b.Split != nil || a.Capped != nil && b.Capped != nil || a.Workers != nil && b.Workers != nil:
		return a, errors.New("two changes of one kind set numbers, expected one")
	case b.Split != nil:
		a.Split, a.Parts = b.Split, b.Parts
	case b.Capped != nil:
		a.Capped, a.Lends, a.Cap = b.Capped, b.Lends, b.Cap
	case b.Workers != nil:
		a.Workers = b.Workers
	}
	return a, nil
}

// unsure is the standard error of the amount of work that changes apply to, as a share of that.
func (w *WhatIf) unsure(p *steps.Program) (off float64) {
	for i := range w.of {
		off = math.Hypot(off, w.of[i].unsure(p))
	}
	return off
}
