package sim

import (
	"math"

	"qinst.dev/internal/analysis/steps"
)

// Slack calls f for each piece of work and each delay of a run, as [Run.Weights] does: its step,
// and by how much it may become longer without making the run longer, in ns, if all others stay as
// they are and everything happens in the same order. The run must have been made with Order.
func (r *Run) Slack(f func(step steps.StepID, slack float64, delay bool)) {
	late := make([]float64, r.nodes.Len())
	for i := range late {
		late[i] = r.T
	}
	edges := r.edges
	for q := nodeID(len(late) - 1); q > 0; q-- {
		n := r.nodes.At(int(q))
		for ; len(edges) > 0 && edges[len(edges)-1].to == q; edges = edges[:len(edges)-1] {
			from := edges[len(edges)-1].from
			late[from] = min(late[from], late[q])
		}
		late[n.from] = min(late[n.from], late[q]-n.len)
		if n.len > 0 {
			f(n.step, math.Max(0, late[q]-n.at), n.real)
		}
	}
}

// Marked calls f for each piece of work that VPPB's section 3.3 marks for a number of processors:
// the work on the path, and the work before a point where a goroutine stops while more of them run
// than there are processors; back from there to where its goroutine met another one and no more
// ran. The run must have been made with Order.
func (r *Run) Marked(procs int, f func(step steps.StepID)) {
	n := r.nodes.Len()
	meets, marked := make([]bool, n), make([]bool, n)
	for q := 1; q < n; q++ {
		x := r.nodes.At(q)
		meets[x.from] = meets[x.from] || r.nodes.At(int(x.from)).g != x.g
	}
	for _, e := range r.edges {
		meets[e.from] = true
	}
	mark := func(q nodeID, stop bool) {
		for q > 0 && !marked[q] {
			marked[q] = true
			x := r.nodes.At(int(q))
			from := r.nodes.At(int(x.from))
			if stop && meets[x.from] && int(from.before) <= procs {
				return
			}
			q = x.from
		}
	}
	mark(r.last, false)
	for q := 1; q < n; q++ {
		if x := r.nodes.At(q); x.stops && int(x.before) > procs {
			mark(nodeID(q), true)
		}
	}
	for q := n - 1; q > 0; q-- {
		if x := r.nodes.At(q); marked[q] && !x.real && x.len > 0 {
			f(x.step)
		}
	}
}
