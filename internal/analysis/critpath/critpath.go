package critpath

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// New finds the path of a program.
func New(p *steps.Program, o Options) *Result {
	procs := o.Procs
	if o.Max {
		procs = max(len(p.Gs), 1)
	} else if procs == 0 {
		procs = p.Procs
	}
	b := &builder{p: p, r: p.R, entries: entries{index: map[line]int{}},
		res: &Result{Version: Version, Procs: procs, Events: p.R.Events, Operations: p.Operations, Off: p.OffCPU}}
	b.prepare(o.AsRun)
	b.simulate(procs, o.Policy)
	b.res.Run, b.res.Replay, b.res.Policy = b.run, round(b.run.T), string(b.options.Policy)
	b.res.Remarks = p.Said()
	if b.options.Policy != o.Policy {
		b.res.Remarks.Note("if goroutines shared the processors evenly, the smallest change of this run would grow without bound: the computed run is one in which each keeps its processor until it waits (fifo)")
	}
	b.ready.Wait()
	b.ready.Go(func() { b.res.Crowds = predict.Crowds(p) })
	if o.Beside != nil {
		b.ready.Go(o.Beside)
	}
	b.told = map[steps.StepID]steps.G{}
	for _, list := range p.Told {
		for _, g := range list {
			b.told[p.Gs[g].Told] = g
		}
	}
	b.hides = replay.Hides(b.r.T, func(p *trace.Point) bool { return p.Degraded() > 0 })
	b.res.Requests, b.path.none = requests(p), o.Brief
	if o.AsRun {
		b.res.T = int64(p.End)
		b.nearer()
		w := b.walker
		w.walk(func(s stretch) { b.piece(s, w.owner[s.step]) })
		b.res.Delayed = sync.OnceValue(func() []Delayed { return b.delayed(w) })
		b.res.Spares = b.spares(w)
		b.res.Pauses = sync.OnceValue(func() map[Place]Pauses { return b.pauses(w) })
	} else {
		b.res.T, b.res.Computed = b.res.Replay, true
		b.run.Path(func(step steps.StepID, g steps.G, from, to float64, delay bool) {
			s := stretch{from: trace.Time(round(from)), to: trace.Time(round(to)), step: step, delay: delay}
			if delay {
				s.cause = steps.Cause(b.delayOf(step).of)
			}
			b.piece(s, g)
		})
	}
	b.weights()
	b.limit(o.Held)
	b.waits()
	b.ties()
	if !o.Brief {
		b.unlimited()
	}
	b.res.Agreement = b.agree()
	b.finish()
	b.ready.Wait()
	return b.res
}

// prepare goes over all steps, while the run is computed from them, for what is needed afterwards.
func (b *builder) prepare(asRun bool) {
	b.ready.Go(func() {
		b.holds = newHolds(b)
		b.waited = b.p.WaitedFor()
	})
	if asRun {
		b.ready.Go(func() { b.walker = newWalker(b.p) })
	}
}

// simulate computes the run.
func (b *builder) simulate(procs int, policy sim.Policy) {
	b.options = sim.Options{Procs: procs, Policy: policy}
	b.run, b.options.Policy = sim.SimulateWeighed(b.p, b.options)
	recorded := b.run
	if procs != b.p.Procs {
		recorded = nil
	}
	if predict.Settle(b.p, recorded) {
		b.options.Policy = policy
		b.run, b.options.Policy = sim.SimulateWeighed(b.p, b.options)
	}
}

// Apart is the difference of the computed run from the recorded one that is worth a warning, as a
// share.
const Apart = 0.02

// mostNearer is the largest number of steps for which other policies are tried: a user can ask for
// one, and each takes as long as the first.
const mostNearer = 1_000_000

// nearer looks for a policy that explains the run, if the one at hand does not.
func (b *builder) nearer() {
	off := func(t int64) float64 { return math.Abs(float64(b.res.T-t)) / float64(max(b.res.T, 1)) }
	least := off(b.res.Replay) / 2
	if 2*least <= Apart || b.p.Steps.Len() > mostNearer {
		return
	}
	for _, policy := range []sim.Policy{sim.List, sim.Go} {
		o := b.options
		if o.Policy = policy; policy == b.options.Policy {
			continue
		}
		if t := round(sim.Simulate(b.p, o).T); off(t) < least {
			least, b.res.Nearer = off(t), &Nearer{policy, t}
		}
	}
}

// slip is by how much a worth may miss its bounds, as a share of the run, without being doubted:
// the computed run's order may change.
const slip = 0.02

// bound keeps what an entry is worth between nothing and the run, and reports whether that is
// known. In a run by some policy a goroutine that is ready sooner may take the processor from one
// that the others wait for. Then less work makes the run longer, and the rate at which it does so
// says nothing of what is gained.
func (e *Entry) bound(run int64) bool {
	for _, ns := range []*int64{&e.Weighted, &e.WeightedRight, &e.WeightedInclusive} {
		if off := slip * float64(run); float64(*ns) < -off || float64(*ns) > float64(run)+off {
			e.Weighted, e.WeightedRight, e.WeightedInclusive, e.Unknown = 0, 0, 0, true
			return false
		}
		*ns = min(max(*ns, 0), run)
	}
	return true
}

// finish rounds and sorts.
func (b *builder) finish() {
	r := b.res
	b.began()
	if b.path.all > len(b.path.list) || len(b.path.list) > mostPieces {
		b.path.shorten()
		r.Remarks.Note("the path has %d pieces; shown are those of more than %d ns", b.path.all, b.path.least)
	}
	r.Path = make([]Piece, 0, len(b.path.list))
	for _, p := range slices.Backward(b.path.list) {
		e := &r.Entries[p.entry]
		r.Path = append(r.Path, Piece{int64(p.from), int64(p.to), p.g, e.Kind, e.Name})
	}
	upTo, exact := int64(0), 0. // so that rounded times of procedures and waits add up
	for i := range r.Entries {
		e, s := &r.Entries[i], &b.sums[i]
		if e.Self = round(s.self); e.Kind == KindProc || e.Kind == KindWait {
			exact += s.self
			e.Self = round(exact) - upTo
			upTo += e.Self
		}
		e.Inclusive, e.Work, e.NPT, e.Other, e.Tail = round(s.within), round(s.work), round(s.npt), round(s.other),
			round(s.tail)
		e.In = b.waitedIn(s.in)
		if e.Kind == KindSync {
			e.Delays, e.Held = round(s.delays), round(s.most)
		}
		e.Weighted, e.WeightedRight, e.WeightedInclusive = round(s.weighted), round(s.right), round(s.inclusive)
		if e.Marked = round(s.marked); s.slack != nil {
			e.Slack = &[2]int64{round(s.slack[0]), round(s.slack[1])}
		}
		if !e.bound(r.Replay) {
			r.Anomalies++
		}
		e.Estimated = s.guessed
		e.Least = e.Kind == KindLoop && !s.guessed && !b.allTraced(trace.PointID(b.lines[i].of))
		if about := round(b.interval(i)); about > 0 {
			e.Interval = &[2]int64{max(0, e.Self-about), min(r.T, e.Self+about)}
		}
	}
	if r.Anomalies > 0 {
		r.Remarks.Note("the worth of %d of these is not known: by the computed run it would be less than nothing, or more than the run, because a goroutine that is ready sooner may take the processor from one that others wait for", r.Anomalies)
	}
	slices.SortStableFunc(r.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(max(b.Weighted, b.Self), max(a.Weighted, a.Self)),
			cmp.Compare(b.WeightedInclusive, a.WeightedInclusive), cmp.Compare(a.ID, b.ID))
	})
}

// NewRequests lists the requests of a program, those first that took most time in all.
func NewRequests(p *steps.Program) *Result {
	r := &Result{Version: Version, T: int64(p.End), Procs: p.Procs, Events: p.R.Events, Operations: p.Operations,
		Path: []Piece{}, Entries: []Entry{}, Remarks: p.Said()}
	if r.Requests = requests(p); len(r.Requests) == 0 {
		r.Remarks.Note("found no requests: neither regions or tasks of runtime/trace, nor labels of runtime/pprof, nor traced calls of handlers of net/http or grpc, nor tests")
	}
	for _, q := range r.Requests {
		if n := q.Number - int64(q.Count); n > 0 {
			r.Remarks.Note("%s: %d of %d calls were traced, the others only counted: times are of the traced ones",
				q.Name, q.Count, q.Number)
		}
	}
	return r
}

// NewRequest finds the paths of all requests of a name, as [names.Find] has it, and adds them up. A
// request's path never leaves its time: what it waited for before it began is not its own.
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
