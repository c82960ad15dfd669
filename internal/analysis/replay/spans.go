package replay

import (
	"fmt"

	"qinst.dev/internal/trace"
)

// SpanID is the number of a region's name, or of a set of labels.
type SpanID int32

// NoSpan is none.
const NoSpan SpanID = -1

// Span is a region, or a set of labels, that a program defines at run time. Unlike procedures
// regions need not nest, so they must not be part of contexts.
type Span struct {
	Labels bool // else it is a region
	Name   string
}

// OpenRegion is a region that a goroutine is in.
type OpenRegion struct {
	Span  SpanID
	Since trace.Time
}

// Spans numbers the regions and sets of labels.
type Spans struct {
	list  []Span
	index map[spanKey]SpanID
}

type spanKey = Span

// Len is how many spans there are so far.
func (s *Spans) Len() int { return len(s.list) }

// Span is the span of a number.
func (s *Spans) Span(id SpanID) Span { return s.list[id] }

// Find returns the number of a span, NoSpan if there is none so far.
func (s *Spans) Find(sp Span) SpanID {
	if id, ok := s.index[sp]; ok {
		return id
	}
	return NoSpan
}

func (s *Spans) find(sp Span) SpanID {
	id, ok := s.index[sp]
	if !ok {
		id = SpanID(len(s.list))
		s.index[sp] = id
		s.list = append(s.list, sp)
	}
	return id
}

// Text is a text of the program's by its number.
func (r *Replay) Text(number trace.TextID) string {
	if s, ok := r.T.Texts[number]; ok {
		return s
	}
	return fmt.Sprintf("text %d", number) // the program had too many
}

// region begins or ends a region of a goroutine.
func (r *Replay) region(e *trace.Event) {
	g := r.gs[e.Slot]
	r.Settle(g, e.Time)
	if e.Begins() {
		id := r.Spans.find(Span{false, r.Text(e.Text())})
		g.Regions = append(g.Regions, OpenRegion{id, e.Time})
		r.v.Region(g, id, true, e.Time, e.Time)
		r.virtualRegion(g, e.Time, r.Spans.list[id].Name, 1)
		return
	}
	at := len(g.Regions) - 1
	if e.Text() != 0 {
		id := r.Spans.find(Span{false, r.Text(e.Text())})
		for at >= 0 && g.Regions[at].Span != id {
			at--
		}
	}
	if at >= 0 {
		o := g.Regions[at]
		g.Regions = append(g.Regions[:at], g.Regions[at+1:]...)
		r.v.Region(g, o.Span, false, o.Since, e.Time)
		r.virtualRegion(g, e.Time, r.Spans.list[o.Span].Name, -1)
	}
}

// label sets or removes the labels of a goroutine.
func (r *Replay) label(e *trace.Event) {
	g := r.gs[e.Slot]
	r.Settle(g, e.Time)
	g.Labels = NoSpan
	if e.Text() != 0 {
		g.Labels = r.Spans.find(Span{true, r.Text(e.Text())})
	}
	r.v.Labels(g, e.Time)
}
