package sim

import (
	"math"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// Watch measures requests in a computed run. Input from outside comes at the recorded time: a wait
// for the network outside of all requests ends at the recorded time, or at once if that is over. If
// clients wait for answers, it comes as long after an answer as it did instead. Within a request
// the network's other end takes as long as it did. The run ends when the recorded one did, or with
// the last request if that is later: how long a server runs is not its own decision.
type Watch struct {
	Of     []*steps.Request
	Closed bool // clients wait for answers
	begins map[steps.StepID]int
	ends   map[steps.StepID]int
	inside map[steps.StepID]bool // steps within a request of any name
	began  []float64
	took   []float64
	first  float64 // when one began
	last   float64 // when one ended
	untold float64 // requests for each of these
}

// NewWatch watches all requests of a name, or of any if that is empty; nil if there are none.
func NewWatch(p *steps.Program, name string) *Watch {
	w := &Watch{begins: map[steps.StepID]int{}, ends: map[steps.StepID]int{}, inside: map[steps.StepID]bool{}}
	for i := range p.Requests {
		q := &p.Requests[i]
		for id := q.Begin; id != q.End && id != 0 && p.Step(id).At <= p.Step(q.End).At; id = p.Step(id).Next {
			// a task may end elsewhere
			if s := p.Step(id); s.Kind == steps.Delay && s.Cause() == steps.Network {
				w.inside[id] = true
			}
		}
		if q.Name == name || name == "" && q.Kind != steps.RequestTest {
			w.begins[q.Begin], w.ends[q.End] = len(w.Of), len(w.Of)
			w.Of = append(w.Of, q)
		}
	}
	if len(w.Of) == 0 {
		return nil
	}
	w.untold = p.Untold(w.Of[0].Proc)
	return w
}

// Again forgets a run.
func (w *Watch) Again() *Watch {
	if w == nil {
		return nil
	}
	next := *w
	next.began, next.took, next.first, next.last = make([]float64, len(w.Of)), nil, math.Inf(1), 0
	return &next
}

// pending reports whether some requests have not ended.
func (w *Watch) pending() bool { return w != nil && len(w.took) < len(w.Of) }

// passed notes that a step is over.
func (w *Watch) passed(id steps.StepID, now float64) {
	if w == nil {
		return
	}
	if i, ok := w.begins[id]; ok {
		w.began[i], w.first = now, min(w.first, now)
	}
	if i, ok := w.ends[id]; ok {
		w.took, w.last = append(w.took, now-w.began[i]), now
	}
}

// delay is how long a step's delay takes that begins now.
func (w *Watch) delay(id steps.StepID, s *steps.Step, now float64) float64 {
	if w == nil || w.Closed || s.Kind != steps.Delay || s.Cause() != steps.Network || w.inside[id] {
		return float64(s.Lasts())
	}
	return max(0, float64(s.At)-now)
}

// Latency is how long the requests of a name take in a run. Times are in ns.
type Latency struct {
	Count int   `json:"count"` // that were traced
	Mean  int64 `json:"mean_ns"`
	P50   int64 `json:"p50_ns"`
	P99   int64 `json:"p99_ns"`
}

// Latency is that of the requests in a run.
func (w *Watch) Latency() *Latency {
	l := &Latency{Count: len(w.took)}
	if l.Count == 0 {
		return l
	}
	slices.Sort(w.took)
	sum := 0.
	for _, ns := range w.took {
		sum += ns
	}
	at := func(q float64) int64 { return round(w.took[min(int(q*float64(l.Count)), l.Count-1)]) }
	l.Mean, l.P50, l.P99 = round(sum/float64(l.Count)), at(0.5), at(0.99)
	return l
}

// Span is the time from the beginning of the first request to the end of the last, in ns.
func (w *Watch) Span() float64 { return max(0, w.last-w.first) }

// PerSecond is how many requests were answered in a second.
func (w *Watch) PerSecond() float64 {
	if w.last <= 0 {
		return 0
	}
	return thousandths(float64(len(w.took)) * w.untold / w.last * 1e9)
}

func round(x float64) int64         { return int64(math.Round(x)) }
func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }
