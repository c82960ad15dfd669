package predict

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/cmd/internal/analysis/graph"
	"qinst.dev/cmd/internal/analysis/replay"
	"qinst.dev/cmd/internal/trace"
	"qinst.dev/sddf/spec"
)

// WhatIf is a change of the program.
type WhatIf struct {
	Text  string
	Proc  string  // the procedure whose work changes, with what it calls and starts unless Self
	Self  bool    //
	Scale float64 // what its work is multiplied by
}

var errChange = errors.New("expected main.f=-30% or self:main.f=-30%")

// ParseWhatIf reads a change: main.f=-30%, with what it calls; self:main.f=-30%, without.
func ParseWhatIf(text string) (WhatIf, error) {
	w := WhatIf{Text: text}
	name, value, ok := strings.Cut(text, "=")
	w.Proc, w.Self = strings.CutPrefix(name, "self:")
	value, percent := strings.CutSuffix(value, "%")
	by, err := strconv.ParseFloat(value, 64)
	if !ok || !percent || err != nil || w.Proc == "" {
		return w, fmt.Errorf("found %q, %w", text, errChange)
	}
	if w.Scale = 1 + by/100; w.Scale < 0 || !(w.Scale <= 1e6) {
		return w, fmt.Errorf("found %q: work cannot change by %v %%, expected -100%% or more", text, by)
	}
	return w, nil
}

// Check returns an error if the program has nothing of the name.
func (w *WhatIf) Check(p *graph.Program) error {
	for i := range p.R.T.Points {
		if pt := &p.R.T.Points[i]; pt.Kind == spec.PointProc && pt.Name == w.Proc {
			return nil
		}
	}
	return fmt.Errorf("found %q: no procedure of that name has a probe", w.Text)
}

// options are those of the changed run.
func (w *WhatIf) options(p *graph.Program) Options {
	changes := make([]int8, p.R.Contexts.Len()) // 1: yes, -1: no
	in := func(c replay.ContextID) bool {
		if changes[c] == 0 {
			changes[c] = -1
			if w.holds(p, c) {
				changes[c] = 1
			}
		}
		return changes[c] > 0
	}
	return Options{Length: func(step graph.StepID) float64 {
		ns := float64(p.Step(step).Work)
		for _, part := range p.PartsOf(step) {
			if in(part.Context) {
				ns += float64(part.Ns) * (w.Scale - 1)
			}
		}
		return ns
	}}
}

// holds reports whether work in a context changes.
func (w *WhatIf) holds(p *graph.Program, c replay.ContextID) bool {
	node := p.R.Contexts.Node(c)
	is := func(proc trace.PointID) bool {
		return proc >= 0 && int(proc) < len(p.R.T.Points) && p.R.T.Points[proc].Kind == spec.PointProc && p.R.T.Points[proc].Name == w.Proc
	}
	if w.Self {
		return is(node.Proc)
	}
	var set []trace.PointID
	for s := node.Set; s != 0; s = p.R.Sets.Parent(s) {
		set = append(set, p.R.Sets.Last(s).Point())
	}
	return slices.ContainsFunc(set, is)
}
