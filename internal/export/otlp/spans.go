package otlp

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// none is no span.
const none = -1

// mostLinks bounds those of a span: as many as other tracers keep.
const mostLinks = 128

// span is a request, with its place among the others.
type span struct {
	*steps.Request
	number int   // among those of its goroutine that begin at the same time
	parent int32 // span in which it is, or in which its goroutine was started; or none
	root   int32 // the outermost of its trace
	links  []link
	left   int // links beyond the bound
}

// link leads to a span of another trace, in which a wait of this span was ended, or this span's
// goroutine was started and which did not last until this span began.
type link struct {
	to  int32
	why string
}

// spans are all of a program, in the order of their beginnings.
type spans struct {
	p    *steps.Program
	list []span
	of   [][]int32 // by goroutine, in the same order
	in   []int32   // by goroutine: the span in which it was started, or none
}

func newSpans(p *steps.Program) *spans {
	s := &spans{p: p, of: make([][]int32, len(p.Gs)), in: make([]int32, len(p.Gs))}
	for i := range p.Requests {
		s.list = append(s.list, span{Request: &p.Requests[i], parent: none})
	}
	slices.SortFunc(s.list, func(x, y span) int { return cmp.Compare(x.Begin, y.Begin) })
	if len(s.list) == 0 {
		return s
	}
	for i := range s.list {
		s.nest(int32(i))
	}
	s.started()
	for i := range s.list {
		s.join(int32(i))
	}
	s.wakes()
	return s
}

// nest finds the span of the same goroutine in which one is.
func (s *spans) nest(i int32) {
	x := &s.list[i]
	if before := s.of[x.G]; len(before) > 0 {
		at := before[len(before)-1]
		if last := &s.list[at]; s.p.Step(last.Begin).At == s.p.Step(x.Begin).At {
			x.number = last.number + 1
		}
		for at != none && s.list[at].End < x.End {
			at = s.list[at].parent
		}
		x.parent = at
	}
	s.of[x.G] = append(s.of[x.G], i)
}

// at is the innermost span of a goroutine, or in which it was started, at a step; or none.
func (s *spans) at(g steps.G, step steps.StepID) int32 {
	list := s.of[g]
	n, _ := slices.BinarySearchFunc(list, step, func(i int32, step steps.StepID) int {
		if s.list[i].Begin <= step {
			return -1
		}
		return 1
	})
	if n > 0 {
		for i := list[n-1]; i != none && s.list[i].G == g; i = s.list[i].parent {
			if s.list[i].End >= step {
				return i
			}
		}
	}
	if in := s.in[g]; in != none && s.list[in].End >= step {
		return in
	}
	return none
}

// started finds the spans in which goroutines were started. Those that start one come before it.
func (s *spans) started() {
	for g := range s.p.Gs {
		s.in[g] = none
	}
	for g := range s.p.Gs {
		s.each(steps.G(g), func(id steps.StepID, step *steps.Step) {
			if step.Kind == steps.Start {
				s.in[step.Started()] = s.at(steps.G(g), id)
			}
		})
	}
}

// each calls f with the steps of a goroutine.
func (s *spans) each(g steps.G, f func(id steps.StepID, step *steps.Step)) {
	for id := s.p.Gs[g].First; id != 0; {
		step := s.p.Step(id)
		f(id, step)
		id = step.Next
	}
}

// join puts a span into the trace of the span in which its goroutine was started.
func (s *spans) join(i int32) {
	x := &s.list[i]
	if by := s.in[x.G]; x.parent == none && by != none {
		if s.list[by].End >= x.Begin {
			x.parent = by
		} else {
			x.links = append(x.links, link{by, "started"})
		}
	}
	if x.root = i; x.parent != none {
		x.root = s.list[x.parent].root
	}
}

// wakes links spans with those whose goroutines ended their waits.
func (s *spans) wakes() {
	by := map[steps.Token]int32{} // the span that gave it
	for g := range s.p.Gs {
		s.each(steps.G(g), func(id steps.StepID, step *steps.Step) {
			if i := s.at(steps.G(g), id); step.Kind == steps.Give && i != none {
				by[step.Token()] = i
			}
		})
	}
	for g := range s.p.Gs {
		s.each(steps.G(g), func(id steps.StepID, step *steps.Step) {
			if step.Kind != steps.Take {
				return
			}
			if from, ok := by[step.Token()]; ok {
				s.link(s.at(steps.G(g), id), from)
			}
		})
	}
}

func (s *spans) link(i, from int32) {
	if i == none || s.list[i].root == s.list[from].root {
		return
	}
	x := &s.list[i]
	switch l := (link{from, "ended a wait"}); {
	case slices.Contains(x.links, l):
	case len(x.links) == mostLinks:
		x.left++
	default:
		x.links = append(x.links, l)
	}
}
