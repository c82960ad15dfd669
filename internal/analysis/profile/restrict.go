package profile

import (
	"maps"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/names"
)

// Within restricts a profile to the time of goroutines in a region, or with a label, and to the
// goroutines started there. The rest of the run has one entry, so that sums stay as they are. All
// goroutines count for the number of busy processors, because the division by it must not depend
// on the restriction.
type Within struct {
	Region string // "": any
	Label  string // key=value; "": any
	Procs  int    // virtual processors; 0: those of the machine
}

// within is that while a profile is made.
type within struct {
	Within
	spans   *replay.Spans
	match   []bool // by number of the span
	outside Usage
	found   bool
	seen    map[string]bool // the names that do exist, for the error
}

// newWithin returns nil if the profile is not restricted.
func newWithin(in Within, spans *replay.Spans) *within {
	if in.Region == "" && in.Label == "" {
		return nil
	}
	return &within{Within: in, spans: spans, seen: map[string]bool{}}
}

// meant is the restriction to what the name means, if nothing has exactly that name.
func (w *within) meant() (in Within, err error) {
	in = w.Within
	name, what := &in.Region, "region"
	if in.Region == "" {
		name, what = &in.Label, "label"
	}
	*name, err = names.Find(*name, what, slices.Sorted(maps.Keys(w.seen)))
	return in, err
}

// matches reports whether a region or a set of labels is the one of the restriction.
func (w *within) matches(s replay.Span) bool {
	if !s.Labels {
		if w.Region != "" {
			w.seen[s.Name] = true
		}
		return w.Region != "" && s.Name == w.Region
	}
	if w.Label == "" {
		return false
	}
	for label := range strings.SplitSeq(s.Name, ",") {
		w.seen[label] = true
		if label == w.Label {
			return true
		}
	}
	return false
}

// inside reports whether a goroutine is, by its regions and labels.
func (w *within) inside(g *replay.G) bool {
	for len(w.match) < w.spans.Len() {
		yes := w.matches(w.spans.Span(replay.SpanID(len(w.match))))
		w.match = append(w.match, yes)
		w.found = w.found || yes
	}
	return g.Labels != replay.NoSpan && w.match[g.Labels] ||
		slices.ContainsFunc(g.Regions, func(r replay.OpenRegion) bool { return w.match[r.Span] })
}
