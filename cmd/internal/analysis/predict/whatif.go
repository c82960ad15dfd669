package predict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/cmd/internal/analysis/graph"
	"qinst.dev/cmd/internal/analysis/replay"
	"qinst.dev/cmd/internal/trace"
	"qinst.dev/sddf/spec"
)

// WhatIf is a change of the program: some work becomes shorter or longer, or an object is another one.
type WhatIf struct {
	Text string

	kind  *changeKind
	name  string
	scale float64 // what work is multiplied by
	n     int     // of objects, or a capacity
}

// changeKind is a kind of changes.
type changeKind struct {
	prefix string // before the name
	form   string // for people
	whole  bool   // the form is all there is of it
	share  bool   // its value is a share; else a number, least or more
	least  int
	of     func(p *graph.Program, w *WhatIf) (o Options, found bool)
}

const workersPrefix = "workers:"

// changeKinds are all of them, the one without a prefix last.
var changeKinds = []changeKind{
	{"self:", "self:main.f=-30%", false, true, 0, func(p *graph.Program, w *WhatIf) (Options, bool) {
		return scaled(p, w.scale, func(s *graph.Share) bool { return w.isProc(p, s.Proc) }), w.hasProc(p)
	}},
	{"hold:", "hold:main.mu=-50%", false, true, 0, held},
	{"split:", "split:main.mu=4", false, false, 1, func(p *graph.Program, w *WhatIf) (Options, bool) {
		objects := w.objects(p)
		return Options{Split: objects, Parts: w.n}, len(objects) > 0
	}},
	{"cap:", "cap:main.ch=64", false, false, 0, func(p *graph.Program, w *WhatIf) (Options, bool) {
		objects := w.objects(p)
		return Options{Capped: objects, Cap: w.n}, len(objects) > 0
	}},
	{workersPrefix, "workers:main.worker=8", false, false, 1, func(p *graph.Program, w *WhatIf) (Options, bool) {
		pool := newPool(p, w.name, w.n)
		return Options{workers: pool}, pool != nil
	}},
	{"gc", "gc=off", true, false, 0, func(p *graph.Program, _ *WhatIf) (Options, bool) {
		s := &p.R.System
		return scaled(p, 0, func(x *graph.Share) bool { return x.Proc == s.Worker || x.Proc == s.Assist || x.Proc == s.Stop }), true
	}},
	{"", "main.f=-30%", false, true, 0, func(p *graph.Program, w *WhatIf) (Options, bool) {
		return scaled(p, w.scale, func(s *graph.Share) bool {
			return slices.ContainsFunc(s.In, func(at trace.PointID) bool { return w.isProc(p, at) })
		}), w.hasProc(p)
	}},
}

// mostOf bounds the numbers of changes: locks and workers take memory.
const mostOf = 100_000

// Forms are examples of all changes.
func Forms() string {
	var list []string
	for i := range changeKinds {
		list = append(list, changeKinds[i].form)
	}
	return strings.Join(list, ", ")
}

// ParseWhatIf reads a change; see [Forms]. Without a prefix it is of a procedure's work and that of what it calls and starts.
func ParseWhatIf(text string) (WhatIf, error) {
	w := WhatIf{Text: text}
	bad := fmt.Errorf("found %q, expected a change such as %s", text, Forms())
	at := strings.LastIndexByte(text, '=') // names of types have some
	if at < 0 {
		return w, bad
	}
	name, value := text[:at], text[at+1:]
	for i := range changeKinds {
		k := &changeKinds[i]
		if k.form == text && k.whole {
			w.kind = k
			return w, nil
		}
		if rest, ok := strings.CutPrefix(name, k.prefix); ok && !k.whole {
			w.kind, w.name = k, rest
			break
		}
	}
	if w.name == "" {
		return w, bad
	}
	var err error
	if w.kind.share {
		percent, ok := strings.CutSuffix(value, "%")
		w.scale, err = strconv.ParseFloat(percent, 64)
		if w.scale = 1 + w.scale/100; !ok || err != nil || !(w.scale >= 0 && w.scale <= 1e6) {
			return w, fmt.Errorf("found %q, expected a share of -100%% or more behind the =, as in %s", text, w.kind.form)
		}
		return w, nil
	}
	if w.n, err = strconv.Atoi(value); err != nil || w.n < w.kind.least || w.n > mostOf {
		return w, fmt.Errorf("found %q, expected a number from %d to %d behind the =, as in %s", text, w.kind.least, mostOf, w.kind.form)
	}
	return w, nil
}

// Check returns an error if the program has nothing of the name.
func (w *WhatIf) Check(p *graph.Program) error {
	if _, found := w.kind.of(p, w); !found {
		if w.kind.prefix == workersPrefix {
			return fmt.Errorf("found %q: the trace has no goroutines of that name that take what they do from one channel, of which all operations were seen", w.Text)
		}
		return fmt.Errorf("found %q: the trace has nothing of that name", w.Text)
	}
	return nil
}

// options are those of the changed run.
func (w *WhatIf) options(p *graph.Program) Options {
	o, _ := w.kind.of(p, w)
	return o
}

func (w *WhatIf) isProc(p *graph.Program, proc trace.PointID) bool {
	return proc >= 0 && int(proc) < len(p.R.T.Points) && p.R.T.Points[proc].Kind == spec.PointProc && p.R.T.Points[proc].Name == w.name
}

func (w *WhatIf) hasProc(p *graph.Program) bool {
	for i := range p.R.T.Points {
		if w.isProc(p, trace.PointID(i)) {
			return true
		}
	}
	return false
}

// objects are those of the name.
func (w *WhatIf) objects(p *graph.Program) map[graph.ObjectID]bool {
	found := map[graph.ObjectID]bool{}
	for i := range p.Objects {
		if name := p.Objects[i].Name; name != trace.NoPoint && p.R.T.Points[name].Name == w.name {
			found[graph.ObjectID(i)] = true
		}
	}
	return found
}

// scaled are the options of a run in which some shares of work take scale as long.
func scaled(p *graph.Program, scale float64, in func(*graph.Share) bool) Options {
	factor := make([]float64, p.R.Contexts.Len()) // by which the work in a context changes, less 1
	for c := range factor {
		for _, s := range p.Shares(replay.ContextID(c)) {
			if in(&s) {
				factor[c] += s.Share * (scale - 1)
			}
		}
	}
	return Options{Length: func(id graph.StepID) float64 {
		ns := float64(p.Step(id).Work)
		for _, part := range p.PartsOf(id) {
			ns += float64(part.Ns) * factor[part.Context]
		}
		return max(0, ns)
	}}
}

// held are the options of a run in which all that is done under a lock takes w.scale as long: work, and waits for what is outside.
func held(p *graph.Program, w *WhatIf) (Options, bool) {
	objects := w.objects(p)
	under := map[graph.StepID]bool{}
	for g := range p.Gs {
		holds := 0
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if holds > 0 {
				under[id] = true
			}
			if !objects[s.Obj] {
				continue
			}
			switch s.Op {
			case graph.Lock, graph.RLock:
				holds++
			case graph.Unlock, graph.RUnlock:
				holds--
			}
		}
	}
	scale := func(id graph.StepID) float64 {
		if under[id] {
			return w.scale
		}
		return 1
	}
	return Options{Delayed: scale, Length: func(id graph.StepID) float64 { return scale(id) * float64(p.Step(id).Work) }}, len(objects) > 0
}
