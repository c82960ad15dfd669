package view

import (
	"cmp"
	"math"
	"net/url"
	"slices"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// Requests are requests of a name: their latencies over time, and the slowest of them.
type Requests struct {
	critpath.Requests
	// Heat counts requests by the time of their end and their latency: columns of equal parts of
	// the run, with rows from the shortest to the longest latency, in equal ratios.
	Heat  [][]int `json:"heat"`
	Least int64   `json:"least_ns"`
	Most  int64   `json:"most_ns"`
	// those that took longest, in that order
	Slowest []OneRequest `json:"slowest"`
	// what their paths are made of, longest first
	Tail []TailPart `json:"tail"`
}

// OneRequest is a request.
type OneRequest struct {
	From int64      `json:"from"`
	To   int64      `json:"to"`
	G    trace.GoID `json:"g,string"`
}

// TailPart is a part of the paths of the slowest hundredth.
type TailPart struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Ns   int64  `json:"ns"`
}

const (
	heatColumns, heatRows = 80, 16
	mostSlowest, mostTail = 20, 8
)

// requests answers with all kinds of requests, or with those of a name.
func (s *Server) requests(q url.Values) (any, error) {
	p := s.view.facts.Program
	if p == nil {
		return []critpath.Requests{}, nil
	}
	v := s.view
	v.items() // which reads the same steps
	v.asking.Lock()
	defer v.asking.Unlock()
	if !q.Has("name") {
		list := critpath.NewRequests(p).Requests
		return append([]critpath.Requests{}, list...), nil
	}
	name := q.Get("name")
	if i := slices.IndexFunc(p.Requests, func(r steps.Request) bool { return shown(r.Name) == name }); i >= 0 {
		name = p.Requests[i].Name
	}
	r, err := critpath.NewRequest(p, name)
	if err != nil {
		return nil, err
	}
	return newRequests(p, r), nil
}

func newRequests(p *steps.Program, r *critpath.Result) *Requests {
	all := &Requests{Requests: r.Requests[0]}
	for i := range p.Requests {
		if x := &p.Requests[i]; x.Name == all.Name {
			all.Slowest = append(all.Slowest,
				OneRequest{int64(p.Step(x.Begin).At), int64(p.Step(x.End).At), p.Gs[x.G].ID})
		}
	}
	slices.SortStableFunc(all.Slowest, func(a, b OneRequest) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	n := len(all.Slowest)
	all.Most, all.Least = lasted(all.Slowest[0]), lasted(all.Slowest[n-1])
	all.Heat = make([][]int, heatColumns)
	for i := range all.Heat {
		all.Heat[i] = make([]int, heatRows)
	}
	for _, x := range all.Slowest {
		column := min(int(float64(x.To)/float64(p.End+1)*heatColumns), heatColumns-1)
		all.Heat[column][all.row(lasted(x))]++
	}
	all.Slowest = all.Slowest[:min(n, mostSlowest)]
	for _, e := range r.Entries {
		if (e.Kind == critpath.KindProc || e.Kind == critpath.KindWait) && e.Tail > 0 {
			all.Tail = append(all.Tail, TailPart{e.Name, e.Kind, e.Tail})
		}
	}
	slices.SortStableFunc(all.Tail, func(a, b TailPart) int { return cmp.Compare(b.Ns, a.Ns) })
	all.Tail = all.Tail[:min(len(all.Tail), mostTail)]
	return all
}

func lasted(x OneRequest) int64 { return max(1, x.To-x.From) }

// row is that of a latency.
func (r *Requests) row(ns int64) int {
	if r.Most == r.Least {
		return 0
	}
	share := math.Log(float64(ns)/float64(r.Least)) / math.Log(float64(r.Most)/float64(r.Least))
	return min(int(share*heatRows), heatRows-1)
}
