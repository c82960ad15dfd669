package critpath

import (
	"cmp"
	"math"
	"slices"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

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
		list[k].Number = int64(math.Round(float64(list[k].Count) * p.Untold(list[k].proc)))
	}
	slices.SortStableFunc(list, func(a, b Requests) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Served is the name of the requests that a program took most time for, if the outside decides how
// long it runs: a server stops on a signal or after a time, and its path is one wait for that for
// most of the run, or waits for the network. Less work makes its requests shorter, not the run.
// Empty: it is no such program.
func Served(p *steps.Program) string {
	list := slices.DeleteFunc(requests(p), func(r Requests) bool { return r.Kind == steps.RequestTest })
	if len(list) == 0 || p.Steps.Len() > mostUnlimited {
		return ""
	}
	outside := trace.Time(0)
	newWalker(p).walk(func(s stretch) {
		lasts := s.to - s.from
		if one := s.cause == steps.Timer || s.cause == steps.Call; s.delay && (s.cause == steps.Network ||
			one && lasts > p.End/4) {
			outside += lasts
		}
	})
	if outside <= p.End/2 {
		return ""
	}
	return list[0].Name
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

// startedBy reports whether a goroutine is another one, or was started by it, however indirectly,
// since a time.
func startedBy(p *steps.Program, g, by steps.G, since trace.Time) bool {
	for g != by {
		if g < 0 || p.Gs[g].Created < since {
			return false
		}
		g = p.Gs[g].By
	}
	return true
}
