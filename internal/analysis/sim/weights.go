package sim

import "qinst.dev/internal/analysis/steps"

// Weights calls f for each piece of work and each delay of a run, the last one first: its step, its
// length, and dT by the change of that. A delay of step 0 is the time before a goroutine began
// whose creator is not known. The run must have been kept.
func (r *Run) Weights(f func(step steps.StepID, length, weight float64, delay bool)) {
	if r.weights == nil {
		r.weigh()
	}
	for q := r.last; q > 0; q-- {
		n := r.nodes.At(int(q))
		f(n.step, n.len, r.weights[q], n.real)
	}
}

// weigh computes the weights of all nodes.
func (r *Run) weigh() {
	adj, gone := steps.MakeLarge[float64](int(r.last)+1), steps.MakeLarge[float64](int(r.last)+1)
	passed := 0. // by delays that began before
	for q := r.last; q > 0; q-- {
		n := r.nodes.At(int(q))
		behind := 0.
		if q != r.last {
			behind = r.rate(n.behind)
		}
		weight := adj[q] + (r.rate(n.before)-behind)*(1-passed)
		if n.real {
			weight /= r.rate(n.before)
			passed += weight
			gone[n.from] += weight
			adj[n.from] += weight * r.rate(r.nodes.At(int(n.from)).before)
		} else {
			adj[n.from] += weight
		}
		passed -= gone[q]
		adj[q] = weight // those of later nodes have been added
	}
	r.weights = adj
}

// Each calls f for the work and delays of all goroutines, as [Run.Pieces] does, with their steps.
func (r *Run) Each(f func(step steps.StepID, g steps.G, from, to float64, delay bool)) {
	for q := 1; q < r.nodes.Len(); q++ {
		n := r.nodes.At(q)
		f(n.step, n.g, r.nodes.At(int(n.from)).at, n.at, n.real)
	}
}

// Path calls f for each piece of the path of the run, the last one first: its step, its goroutine
// and when it began and ended. The pieces follow each other without gaps: each began with the end
// of the one before. A delay of step 0 is as for Weights.
func (r *Run) Path(f func(step steps.StepID, g steps.G, from, to float64, delay bool)) {
	for q := r.last; q > 0; q = r.nodes.At(int(q)).from {
		n := r.nodes.At(int(q))
		f(n.step, n.g, r.nodes.At(int(n.from)).at, n.at, n.real)
	}
}

// Pieces calls f for the work and delays of a goroutine in the run, in order: when it worked, which
// under processor sharing may take longer than the work, and when it was delayed. The run must have
// been kept.
func (r *Run) Pieces(g steps.G, f func(from, to float64, delay bool)) {
	if r.by == nil {
		r.by = map[steps.G][]nodeID{}
		for q := 1; q < r.nodes.Len(); q++ {
			n := r.nodes.At(q)
			r.by[n.g] = append(r.by[n.g], nodeID(q))
		}
	}
	for _, q := range r.by[g] {
		n := r.nodes.At(int(q))
		f(r.nodes.At(int(n.from)).at, n.at, n.real)
	}
}
