package predict

import (
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// WhatIf is a change of the program, or several at the same time.
type WhatIf struct {
	Text string
	of   []single
}

// single is one change: some work becomes shorter or longer, or an object is another one.
type single struct {
	text  string
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
	value  string // the only one that it has; empty: a share or a number
	share  bool   // its value is a share; else a number, least or more
	least  int
	what   string                          // that is changed
	names  func(p *steps.Program) []string // of all that there is of it
	// in selects the work that changes; nil: of tells what does
	in func(p *steps.Program, w *single) func(replay.SetID, *steps.Share) bool
	of func(p *steps.Program, w *single) (o sim.Options, found bool)
}

// members are the loops, or the groups of goroutines, of the name.
func (w *single) members(p *steps.Program) (list []replay.Member) {
	for i := range p.R.T.Points {
		if p.R.T.Points[i].Kind == spec.PointLoop && p.R.T.NameOf(trace.PointID(i)) == w.name {
			list = append(list, replay.ProcMember(trace.PointID(i)))
		}
	}
	for id := range replay.GroupID(p.R.Groups.Len()) {
		if p.R.Groups.Origin(id).Name == w.name || p.R.Groups.Group(id).Func == w.name {
			list = append(list, p.R.Groups.Member(id))
		}
	}
	return list
}

func (w *single) isProc(p *steps.Program, proc trace.PointID) bool {
	return proc >= 0 && int(proc) < len(p.R.T.Points) && p.R.T.Points[proc].Kind == spec.PointProc &&
		p.R.T.Points[proc].Name == w.name
}

func (w *single) hasProc(p *steps.Program) bool {
	for i := range p.R.T.Points {
		if w.isProc(p, trace.PointID(i)) {
			return true
		}
	}
	return false
}

// objects are those of the name.
func (w *single) objects(p *steps.Program) map[steps.ObjectID]bool {
	found := map[steps.ObjectID]bool{}
	for i := range p.Objects {
		if slices.ContainsFunc(p.Objects[i].Names(),
			func(at trace.PointID) bool { return p.R.T.Points[at].Name == w.name }) {
			found[steps.ObjectID(i)] = true
		}
	}
	return found
}
