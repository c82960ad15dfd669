package view

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/profile"
)

// Flame is a procedure on call paths, with the times of all paths through it.
type Flame struct {
	Name string `json:"name"`
	Times
	Was      *Times   `json:"was,omitempty"` // in the trace before, if there is one
	Children []*Flame `json:"children,omitempty"`

	by map[string]*Flame
}

// Times are those of call paths, in ns.
type Times struct {
	NPT     int64 `json:"npt"`
	Busy    int64 `json:"busy"`
	Blocked int64 `json:"blocked"`
	Ready   int64 `json:"ready"`
}

// newFlame adds up the call paths of a profile. Children are in the order of their time.
func newFlame(p *profile.Profile) *Flame {
	root := &Flame{Name: "the run"}
	for st := range p.Stacks() {
		f := root
		f.add(&st)
		for i := range st.Frames {
			f = f.child(st.Frames[len(st.Frames)-1-i].Name)
			f.add(&st)
		}
	}
	root.sort()
	return root
}

// compare notes the times of the same paths in a trace before. Those that are only there are added,
// and have no time.
func (f *Flame) compare(was *Flame) {
	f.Was = &Times{}
	if was != nil {
		*f.Was = was.Times
		for _, c := range was.Children {
			f.child(c.Name)
		}
	} else {
		was = &Flame{}
	}
	for _, c := range f.Children {
		c.compare(was.by[c.Name])
	}
}

func (f *Flame) add(st *profile.Stack) {
	f.NPT, f.Busy, f.Blocked, f.Ready = f.NPT+st.NPT, f.Busy+st.Busy, f.Blocked+st.Blocked, f.Ready+st.Ready
}

func (f *Flame) child(name string) *Flame {
	c := f.by[name]
	if c == nil {
		if f.by == nil {
			f.by = map[string]*Flame{}
		}
		c = &Flame{Name: name}
		f.by[name], f.Children = c, append(f.Children, c)
	}
	return c
}

func (f *Flame) sort() {
	slices.SortStableFunc(f.Children, func(a, b *Flame) int { return cmp.Compare(b.NPT, a.NPT) })
	for _, c := range f.Children {
		c.sort()
	}
}
