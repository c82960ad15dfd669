package sim

import "qinst.dev/internal/analysis/steps"

// Run is the result of a run.
type Run struct {
	T     float64 // ns
	Slope float64 // dT, for the change of Options.Toward
	Busy  float64 // ns of processors' time
	Ties  int     // events that happened together, whose order decided something
	// Reordered is how many operations on locks and channels came before one that came before them
	// in the recorded run.
	Reordered int
	// Forced is the number of goroutines that went on although no other one ended their wait,
	// because nothing else could go on.
	Forced int
	Ends   bool // the goroutine has ended with which the recorded run did
	// Undone is the work, in ns, that was left at the end for goroutines that ended in the recorded
	// run. What waited for them there is not among the operations.
	Undone float64

	Waited []float64 // ns, of all goroutines together, by object

	stood standstill

	speed
	graph
}

// graph is what happened in a run that was kept.
type graph struct {
	nodes   steps.List[node]
	last    nodeID
	edges   []edge               // of Options.Order
	by      map[steps.G][]nodeID // nodes by goroutine; see Pieces
	weights []float64            // by node; see Weights
}

// Stood are the objects that goroutines waited for when the first one was forced to go on, that of
// the wait that ended first in the recorded run first.
func (r *Run) Stood() []steps.ObjectID { return r.stood.objects }

// standstill is when the first goroutine was forced to go on.
type standstill struct {
	objects []steps.ObjectID // see Stood
	at      float64
}

// speed is what determines how fast goroutines run.
type speed struct {
	procs float64
	list  bool // under list scheduling
}

// nodeID is an index of the nodes of a run; below 0 it is none.
type nodeID int32

// node is an event: the end of some work or of a delay.
type node struct {
	len    float64 // of the work, in virtual time, or of the delay
	from   nodeID  // the node with which that began
	step   steps.StepID
	before int32 // goroutines that could run, just before; and after
	behind int32
	g      steps.G
	real   bool    // a delay
	stops  bool    // the goroutine then waits, or has ended
	at     float64 // real time
}

// rate is g(n).
func rate(n int, procs float64) float64 { return max(1, float64(n)/procs) }

// edge is the dependence of a node on another one besides its predecessor. They are in the order of
// to.
type edge struct{ from, to nodeID }

// atEnd is how near its end a run may come to a standstill, as a share of it: goroutines that wait
// for ever are let go when all has been done.
const atEnd = 0.01

// Sound reports whether a run is one of the program at all: it has ended as the recorded run did,
// no goroutine went on before its wait was over, so that the run is at least as long as its longest
// chain, it has done what the recorded run did, and its processors have worked no longer than the
// run took.
func (r *Run) Sound() bool {
	const exact = 1e-6
	return r.Ends && r.Undone <= atEnd*(r.Busy+r.Undone) && (r.Forced == 0 || r.T-r.stood.at <= atEnd*r.T) &&
		r.Busy <= r.T*r.procs*(1+exact)+1
}

func (r *Run) rate(n int32) float64 {
	if r.list {
		return 1
	}
	return rate(int(n), r.procs)
}
