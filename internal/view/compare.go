package view

import (
	"cmp"
	"net/url"
	"slices"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
)

// Comparison says what changed between two traces.
type Comparison struct {
	Was         Side       `json:"was"`
	Now         Side       `json:"now"`
	Conclusions []Compared `json:"conclusions"`
	Entries     []Change   `json:"entries"` // those first whose own time changed most
	More        int        `json:"more"`    // entries, which changed less
}

// Side is one of two traces.
type Side struct {
	File    string `json:"file"`
	Program string `json:"program"`
	Wall    int64  `json:"wall_ns"`
	Procs   int    `json:"procs"`
}

// Compared is a conclusion of one trace, or of both.
type Compared struct {
	State string       `json:"state"` // gone, new or both
	Now   *advice.Item `json:"now,omitempty"`
	Was   *advice.Item `json:"was,omitempty"`
}

// Change is an entry of the profile in one trace, or in both.
type Change struct {
	Name string         `json:"name"`
	Kind string         `json:"kind"`
	Was  *profile.Entry `json:"was"` // null: it is not there
	Now  *profile.Entry `json:"now"`
}

// mostChanges is how many entries a comparison has.
const mostChanges = 300

// compared compares the trace with the one before it.
func (s *Server) compared(url.Values) (any, error) {
	v, was := s.view, s.view.Before
	if err := was.Wait(); err != nil {
		return nil, unread{err}
	}
	c := Comparison{Was: was.side(), Now: v.side(), Conclusions: conclusions(was.items(), v.items()),
		Entries: []Change{}}
	pairs := profile.Pairs(was.facts.Entries, v.facts.Entries)
	slices.SortStableFunc(pairs, func(a, b *profile.Pair) int { return cmp.Compare(b.Differs(), a.Differs()) })
	for _, p := range pairs[:min(len(pairs), mostChanges)] {
		e := cmp.Or(p.Now, p.Was)
		c.Entries = append(c.Entries, Change{e.Name, e.Kind, p.Was, p.Now})
	}
	c.More = len(pairs) - len(c.Entries)
	return c, nil
}

func (v *View) side() Side {
	p := v.facts.Profile
	return Side{v.File, p.Program, p.Wall, p.Procs}
}

// conclusions are those of both traces: first what was found now, then what is gone.
func conclusions(was, now []advice.Item) (list []Compared) {
	before := map[string]*advice.Item{}
	for i := range was {
		if it := &was[i]; !it.Remark {
			before[it.Identity()] = it
		}
	}
	list = []Compared{}
	for i := range now {
		it := &now[i]
		if it.Remark {
			continue
		}
		c := Compared{State: "new", Now: it, Was: before[it.Identity()]}
		if c.Was != nil {
			c.State = "both"
		}
		list = append(list, c)
		delete(before, it.Identity())
	}
	for i := range was {
		if it := &was[i]; before[it.Identity()] == it {
			list = append(list, Compared{State: "gone", Was: it})
		}
	}
	return list
}
