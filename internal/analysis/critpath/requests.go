package critpath

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// Requests are all requests of one name.
type Requests struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Count int    `json:"count"` // of a benchmark whose loop was traced: of its iterations, and so are the two below
	Total int64  `json:"total_ns"`
	P50   int64  `json:"p50_ns"`
	P99   int64  `json:"p99_ns"`

	proc trace.PointID // that was called, of handlers and tests; else NoPoint
}

// NewRequests lists the requests of a program, those first that took most time in all.
func NewRequests(p *steps.Program) *Result {
	r := &Result{Version: Version, T: int64(p.End), Procs: p.Procs, Events: p.R.Events, Operations: p.Operations, Path: []Piece{}, Entries: []Entry{}, Remarks: p.Remarks.Copy()}
	if r.Requests = requests(p); len(r.Requests) == 0 {
		r.Remarks.Note("found no requests: neither regions or tasks of runtime/trace, nor labels of runtime/pprof, nor traced calls of handlers of net/http or grpc, nor tests")
	}
	for _, q := range r.Requests {
		if more := p.Untold(q.proc); more > 1.001 {
			r.Remarks.Note("%s: %d of about %.0f calls were traced, the others only counted", q.Name, q.Count, float64(q.Count)*more)
		}
	}
	return r
}

func requests(p *steps.Program) (list []Requests) {
	index := map[string]int{}
	var took [][]int64
	for i := range p.Requests {
		q := &p.Requests[i]
		k, ok := index[q.Name]
		if !ok {
			k = len(list)
			index[q.Name] = k
			list, took = append(list, Requests{Name: q.Name, Kind: q.Kind, proc: q.Proc}), append(took, nil)
		}
		n := max(1, int64(q.Iterations))
		list[k].Count += int(n)
		list[k].Total += lasted(p, q)
		took[k] = append(took[k], lasted(p, q)/n)
	}
	for k := range list {
		slices.Sort(took[k])
		list[k].P50, list[k].P99 = quantile(took[k], 0.5), quantile(took[k], 0.99)
	}
	slices.SortStableFunc(list, func(a, b Requests) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func lasted(p *steps.Program, q *steps.Request) int64 {
	return int64(p.Step(q.End).At - p.Step(q.Begin).At)
}

// quantile is a value of a sorted list, 0 if it is empty.
func quantile(list []int64, q float64) int64 {
	if len(list) == 0 {
		return 0
	}
	return list[min(int(q*float64(len(list))), len(list)-1)]
}

// tailShare is the share of requests that are the slowest ones.
const tailShare = 0.01

// NewRequest finds the paths of all requests of a name, as [names.Find] has it, and adds them up. A request's path never leaves its time: what it waited for
// before it began is not its own.
func NewRequest(p *steps.Program, name string) (*Result, error) {
	name, err := p.RequestNamed(name)
	if err != nil {
		return nil, err
	}
	all := NewRequests(p)
	of := slices.IndexFunc(all.Requests, func(r Requests) bool { return r.Name == name })
	all.Requests, all.T = all.Requests[of:of+1], all.Requests[of].Total
	b := &builder{p: p, r: p.R, res: all, entries: entries{index: map[line]int{}}}
	b.holds = newHolds(b)
	w := newWalker(p)
	var took []int64
	for i := range p.Requests {
		if q := &p.Requests[i]; q.Name == name {
			took = append(took, lasted(p, q))
		}
	}
	slices.Sort(took)
	slow := took[len(took)-max(1, int(tailShare*float64(len(took))))]
	for i := range p.Requests {
		q := &p.Requests[i]
		if q.Name != name {
			continue
		}
		begin, end := p.Step(q.Begin).At, p.Step(q.End).At
		w.back(q.End, end, begin, func(s stretch) {
			g := w.owner[s.step]
			b.other, b.tail = s.step != 0 && !startedBy(p, g, q.G, begin), int64(end-begin) >= slow
			b.piece(s, g)
		})
		b.began()
	}
	b.finish()
	all.Path = []Piece{}
	return all, nil
}

// startedBy reports whether a goroutine is another one, or was started by it, however indirectly, since a time.
func startedBy(p *steps.Program, g, by steps.G, since trace.Time) bool {
	for g != by {
		if g < 0 || p.Gs[g].Created < since {
			return false
		}
		g = p.Gs[g].By
	}
	return true
}
