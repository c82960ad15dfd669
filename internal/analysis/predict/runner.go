package predict

import (
	"math"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// runner computes runs, each once.
type runner struct {
	p          *steps.Program
	done       map[runKey]*sim.Run
	drawn      *drawn
	pairs      map[pairKey]seen     // runs without a change
	widths     map[widthKey]float64 // see drawnAbout
	watch      *sim.Watch
	requests   map[*sim.Run]seen // in runs that were computed
	held       []Held
	kept       []sim.Kept // other assumptions than that waits are as recorded
	asRecorded uint64     // see there
	off        float64    // see ownError
	drift      float64    // see drawn.drift
	differ     float64    // see [Ask.Differ]
	doubted    *sim.Run   // a run that is none of the program; nil: there was none since it was reset
}

type runKey struct {
	procs  int
	policy sim.Policy
}

func (r *runner) at(procs int, policy sim.Policy) *sim.Run {
	k := runKey{procs, policy}
	if r.done[k] == nil {
		r.done[k] = r.simulate(sim.Options{Procs: procs, Policy: policy})
	}
	r.doubt(r.done[k])
	return r.done[k]
}

// doubt notes a run that is none of the program.
func (r *runner) doubt(run *sim.Run) {
	if !run.Sound() && r.doubted == nil {
		r.doubted = run
	}
}

// seen is a run, and how long requests take in it; nil: nothing is asked about them.
type seen struct {
	run     *sim.Run
	latency *sim.Latency
	span    float64 // see [sim.Watch.Span]
}

// see runs the program. Several goroutines may do so at once.
func (r *runner) see(o sim.Options) (s seen) {
	o.Watch = r.watch.Again()
	if s.run = sim.Simulate(r.p, o); o.Watch != nil {
		s.latency, s.span = o.Watch.Latency(), o.Watch.Span()
	}
	return s
}

// note keeps what was seen of a run.
func (r *runner) note(s seen) *sim.Run {
	if r.doubt(s.run); s.latency != nil {
		r.requests[s.run] = s
	}
	return s.run
}

// simulate runs the program, and sees how long requests take.
func (r *runner) simulate(o sim.Options) *sim.Run { return r.note(r.see(o)) }

// value is what changes make less, in ns: how long a run takes, or its requests do on average, or,
// if clients wait for answers, all of them together.
func (r *runner) value(run *sim.Run) float64 {
	switch {
	case r.watch == nil:
		return run.T
	case r.watch.Closed:
		return r.requests[run].span
	}
	return float64(r.requests[run].latency.Mean)
}

// perSecond is how many requests are answered in a second if clients wait for answers, on average
// over some runs.
func (r *runner) perSecond(o sim.Options) (n float64) {
	for seed := range uint64(loads) {
		o.Seed, o.Watch = seed, r.watch.Again()
		o.Watch.Closed = true
		sim.Simulate(r.p, o)
		n += o.Watch.PerSecond() / loads
	}
	return thousandths(n)
}

const loads = 3

func newRunner(p *steps.Program) *runner {
	d := newDrawn(p)
	return &runner{p: p, done: map[runKey]*sim.Run{}, drawn: d, drift: d.drift(p), pairs: map[pairKey]seen{},
		widths: map[widthKey]float64{}, requests: map[*sim.Run]seen{}, kept: kept(p),
		asRecorded: asRecorded(p)}
}

// widthKey is a policy, and whether requests are meant.
type widthKey struct {
	policy   sim.Policy
	requests bool
}

// pairKey is a run without a change.
type pairKey struct {
	procs  int
	policy sim.Policy
	seed   uint64
	drawn  bool
}

func round(x float64) int64 { return int64(math.Round(x)) }

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }
