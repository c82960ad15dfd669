package profile

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Memory is the program's allocations, from events that are chosen at random by bytes.
type Memory struct {
	Bytes   int64   `json:"bytes"`   // that the events stand for
	Samples int64   `json:"samples"` // events
	Places  []Taken `json:"places"`  // most bytes first

	observed float64 // observations: large objects count more
}

// Taken are the allocations of one procedure: in its own code, or in a call that no instrumented
// package makes.
type Taken struct {
	Name    string     `json:"name"`
	File    string     `json:"file"`
	Line    int        `json:"line"` // of the call or expression that takes most of it; 0: stacks do not reach it
	Bytes   int64      `json:"bytes"`
	Share   float64    `json:"share"`          // of all bytes
	Between [2]float64 `json:"share_interval"` // 95 %
}

// memory adds up what was taken, by place.
type memory struct {
	r     *replay.Replay
	taken map[trace.Frame]float64
	n     int64
	// The sum of squares: few large objects may have most of the bytes, and then say less than
	// their number.
	squares float64
}

func newMemory(r *replay.Replay) memory { return memory{r: r, taken: map[trace.Frame]float64{}} }

func (m *memory) take(g *replay.G, a trace.Allocated) {
	w := float64(a.Bytes)
	m.squares += w * w
	m.n++
	m.taken[m.takes(g, a.Stack)] += w
}

// takes is the place in the user's own code that took memory. Stacks are recorded to some depth:
// where the user's code lies deeper, it is the procedure in which events show the goroutine, and
// the line is not known.
func (m *memory) takes(g *replay.G, stack trace.StackID) trace.Frame {
	f := m.r.Names.Own(stack)
	if m.r.Names.IsOwn(f.Function) || !m.r.T.Cut(stack) {
		return f
	}
	at := func(p trace.PointID) bool {
		return p >= 0 && !m.r.IsSystem(p) && m.r.T.Points[p].Kind == spec.PointProc &&
			m.r.Names.IsOwn(m.r.T.Points[p].Name)
	}
	node := m.r.Contexts.Node(g.Context)
	proc, set := node.Proc, node.Set
	for ; !at(proc) && set != 0; set = m.r.Sets.Parent(set) {
		if proc = m.r.Sets.Last(set).Point(); int(proc) >= len(m.r.T.Points) {
			proc = trace.NoPoint // goroutines
		}
	}
	if !at(proc) {
		return f
	}
	p := &m.r.T.Points[proc]
	return trace.Frame{Function: p.Name, File: p.File}
}

// list returns the places by procedure, nil if there were no events.
func (m *memory) list() *Memory {
	if m.n == 0 {
		return nil
	}
	byName, most := map[string]*Taken{}, map[string]float64{}
	all := &Memory{Samples: m.n}
	for f, w := range m.taken {
		t := byName[f.Function]
		if t == nil {
			t = &Taken{Name: f.Function}
			byName[f.Function] = t
		}
		t.Bytes += int64(w)
		all.Bytes += int64(w)
		if w > most[f.Function] || w == most[f.Function] && f.Line < t.Line {
			most[f.Function], t.File, t.Line = w, f.File, f.Line
		}
	}
	for _, t := range byName {
		all.Places = append(all.Places, *t)
	}
	// The effective number of observations, if those of large objects count by their bytes.
	all.divide(float64(all.Bytes) * float64(all.Bytes) / m.squares)
	return all
}

// divide sets shares and sorts them. n is the number of observations.
func (m *Memory) divide(n float64) {
	for i := range m.Places {
		t := &m.Places[i]
		t.Share = float64(t.Bytes) / float64(m.Bytes)
		low, high := stats.Share(t.Share, n)
		t.Between = [2]float64{thousandths(low), thousandths(high)}
		t.Share = thousandths(t.Share)
	}
	m.observed = n
	slices.SortFunc(m.Places, func(x, y Taken) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes),
			cmp.Compare(x.Name, y.Name))
	})
}

// with is the sum of two runs.
func (m *Memory) with(q *Memory) *Memory {
	if m == nil || q == nil {
		return cmp.Or(m, q)
	}
	sum := &Memory{Bytes: m.Bytes + q.Bytes, Samples: m.Samples + q.Samples, Places: slices.Clone(m.Places)}
	for _, t := range q.Places {
		if k := slices.IndexFunc(sum.Places, func(x Taken) bool { return x.Name == t.Name }); k >= 0 {
			sum.Places[k].Bytes += t.Bytes
		} else {
			sum.Places = append(sum.Places, t)
		}
	}
	sum.divide(m.observed + q.observed)
	return sum
}
