package profile

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/trace"
)

// Within restricts a profile to what goroutines did in a region, or with a label, and what
// was started there. The rest of the run has one entry, so that sums stay as they are, and
// processors are busy whoever keeps them so.
type Within struct {
	Region string // "": any
	Label  string // key=value; "": any
	Procs  int    // virtual processors; 0: those of the machine
}

// within is that while a profile is made.
type within struct {
	Within
	spans   []bool // that match, by number
	outside Usage
	found   bool
	seen    map[string]bool // what there is instead
}

// NewWithin computes a part of the profile of a trace. It has an error if the trace has no
// such region or label.
func NewWithin(t *trace.Trace, in Within) (*Profile, error) {
	if in == (Within{}) {
		return New(t)
	}
	b := newBuilder(t)
	if in.Region != "" || in.Label != "" {
		b.within = &within{Within: in, seen: map[string]bool{}}
	}
	if in.Procs > 0 {
		b.virtual = &virtual{in.Procs}
	}
	losses, err := t.Events(b.batch)
	if err != nil {
		return nil, err
	}
	if err := b.within.missing(); err != nil {
		return nil, err
	}
	if i, ok := b.spans.index[[2]string{KindRegion, "vcpu"}]; b.virtual != nil && (!ok || b.spans.list[i].count == 0) {
		return nil, fmt.Errorf("found no region \"vcpu\": the program's processors are not virtual")
	}
	b.finish()
	return b.profile(losses), nil
}

func (w *within) missing() error {
	if w == nil || w.found {
		return nil
	}
	what, name := KindRegion, w.Region
	if name == "" {
		what, name = "label", w.Label
	}
	var others []string
	for s := range w.seen {
		others = append(others, s)
	}
	slices.Sort(others)
	if len(others) == 0 {
		return fmt.Errorf("found no %s %q: the program has none of them", what, name)
	}
	if len(others) > 10 {
		others = append(others[:10], "...")
	}
	return fmt.Errorf("found no %s %q, there are %s", what, name, strings.Join(others, ", "))
}

// matches reports whether a region or a set of labels is what is asked for.
func (w *within) matches(n *named) bool {
	if n.kind == KindRegion {
		if w.Region != "" {
			w.seen[n.name] = true
		}
		return w.Region != "" && n.name == w.Region
	}
	if w.Label == "" {
		return false
	}
	for label := range strings.SplitSeq(n.name, ",") {
		w.seen[label] = true
		if label == w.Label {
			return true
		}
	}
	return false
}

// look decides anew whether a goroutine is inside: after its regions or labels changed.
func (b *builder) look(g *gor) {
	w := b.within
	if w == nil {
		return
	}
	for len(w.spans) < len(b.spans.list) {
		yes := w.matches(&b.spans.list[len(w.spans)])
		w.spans = append(w.spans, yes)
		w.found = w.found || yes
	}
	g.inside = g.started || g.labels != noProc && w.spans[g.labels] ||
		slices.ContainsFunc(g.regions, func(r openRegion) bool { return w.spans[r.span] })
}

// out reports whether a goroutine's time is not asked for.
func (b *builder) out(g *gor) bool { return b.within != nil && !g.inside }

// Outside is the id of the entry for all that a profile is not restricted to.
const Outside = "outside"

// outsideEntry adds it.
func (b *builder) outsideEntry(p *Profile) {
	if b.within == nil {
		return
	}
	u := &b.within.outside
	e := Entry{ID: Outside, Kind: KindProc, Name: "[outside]"}
	e.fill(u, u)
	p.Entries = append(p.Entries, e)
	p.Roots = append(p.Roots, Part{Name: e.Name, NPT: e.NPT, Busy: e.Busy})
}
