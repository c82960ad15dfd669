package steps

import (
	"cmp"
	"maps"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// A goroutine that asks channels over and over ([spec.FlagAsks]) waits for a goroutine that
// operates on one of them. What its procedure does itself meanwhile is no work of the program's,
// and a sleep between two questions no length: both last until there is something. So they are
// taken out of its steps, and the operation is a wait for the one at the other end, if that came
// later than the first question.

// askers makes waits of what goroutines ask for.
type askers struct {
	*tape
	procs  map[trace.PointID]bool // that do nothing else themselves
	probes float64                // the share of the program's probes that count questions
	parts  []float64              // by context, the share of its work that is theirs
	ends   map[ObjectID]*exchanges
	slept  map[trace.PointID]int64 // between two questions, ns
	sleeps map[trace.PointID]int64 // how often
}

// exchanges are the operations on a channel.
type exchanges struct {
	sends, receives []exchange
	closes          StepID
}

// exchange is one, and since when its goroutine had asked: the same time if it did not.
type exchange struct {
	step      StepID
	since, at trace.Time
}

// pauses are the functions that a goroutine calls between two questions.
var pauses = map[string]bool{"runtime.Gosched": true, "time.Sleep": true}

// newAskers returns nil if nothing is asked for so.
func newAskers(t *tape) *askers {
	x := &askers{tape: t, procs: map[trace.PointID]bool{}, ends: map[ObjectID]*exchanges{},
		slept: map[trace.PointID]int64{}, sleeps: map[trace.PointID]int64{}}
	for i := range t.r.T.Points {
		if p := &t.r.T.Points[i]; p.Flags&spec.FlagAsks != 0 && p.Owner != trace.NoPoint && p.Hits > 0 {
			x.procs[p.Owner] = true
		}
	}
	if len(x.procs) == 0 {
		return nil
	}
	questions, all := 0., 0.
	for i := range t.r.T.Points {
		p := &t.r.T.Points[i]
		all += float64(p.Hits)
		if x.procs[p.Owner] && (p.Op == spec.OpDefault || p.Kind == spec.PointCall && pauses[p.Name]) {
			questions += float64(p.Hits)
		}
	}
	x.probes = questions / max(all, 1)
	return x
}

// finish changes the steps.
func (x *askers) finish() {
	if x == nil {
		return
	}
	x.divide()
	for g := range x.p.Gs {
		x.goroutine(G(g))
	}
	for _, id := range slices.Sorted(maps.Keys(x.ends)) {
		if x.p.Objects[id].complete() {
			x.match(x.ends[id])
		}
	}
	x.p.Pauses = map[trace.PointID]int64{}
	for proc, n := range x.sleeps {
		x.p.Pauses[proc] = x.slept[proc] / n / 2 // on average there is something in the middle of one
	}
}

// divide takes out of all contexts what the procedures do themselves.
func (x *askers) divide() {
	x.p.dealAll()
	x.parts = make([]float64, x.r.Contexts.Len())
	for c := range x.parts {
		list := slices.Clone(x.p.Shares(replay.ContextID(c)))
		if c >= len(x.p.spent) || !slices.ContainsFunc(list, func(s Share) bool { return x.procs[s.Proc] }) {
			continue
		}
		for i := range list {
			of := 0.
			if s := &list[i]; x.procs[s.Proc] {
				of = s.Share
			} else if s.Proc == x.r.System.Probes {
				of = s.Share * x.probes
			}
			list[i].Share -= of
			x.parts[c] += of
		}
		rest := 1 - x.parts[c]
		x.p.spent[c], x.p.npt[c] = int64(float64(x.p.spent[c])*rest), x.p.npt[c]*rest
		if list = slices.DeleteFunc(list, func(s Share) bool { return s.Share == 0 }); len(list) > 0 {
			for i := range list {
				list[i].Share /= rest
			}
			x.p.dealt[c] = list
		}
	}
}

// goroutine takes out of a goroutine's steps the time in which it asks, and lists its operations on
// channels.
func (x *askers) goroutine(g G) {
	asks := int64(0) // for how long, since its last operation
	for id := x.p.Gs[g].First; id != 0; id = x.p.Step(id).Next {
		s := x.p.Step(id)
		for i, parts := 0, x.p.PartsOf(id); i < len(parts); i++ {
			ns := int64(float64(parts[i].Ns) * x.parts[parts[i].Context])
			parts[i].Ns, s.Work, asks = parts[i].Ns-ns, s.Work-ns, asks+ns
		}
		if proc := s.Point(); s.Waits(Timer) && x.procs[proc] {
			x.sleeps[proc]++
			x.slept[proc] += s.Lasts()
			s.number, asks = 0, asks+s.Lasts()
			continue
		}
		if s.Op == NoOp || s.Obj == 0 {
			continue
		}
		x.operation(id, s, s.At-trace.Time(asks))
		asks = 0
	}
}

// operation notes one, before which its goroutine may have asked.
func (x *askers) operation(id StepID, s *Step, since trace.Time) {
	e := x.ends[s.Obj]
	if e == nil {
		e = &exchanges{}
		x.ends[s.Obj] = e
	}
	if at := s.Point(); at == trace.NoPoint || x.r.T.Points[at].Flags&spec.FlagAsks == 0 {
		since = s.At
	}
	switch o := (exchange{id, since, s.At}); s.Op {
	case Send:
		e.sends = append(e.sends, o)
	case Receive:
		e.receives = append(e.receives, o)
	case Close:
		e.closes = id
	}
}

// match makes waits of the receives from a channel before which a goroutine asked. What is sent
// first is received first; a channel that is closed has nothing more.
func (x *askers) match(e *exchanges) {
	for _, list := range [][]exchange{e.sends, e.receives} {
		slices.SortFunc(list, func(a, b exchange) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step))
		})
	}
	for i, r := range e.receives {
		given := e.closes
		if i < len(e.sends) {
			given = e.sends[i].step
		}
		give, take := x.p.Step(given), x.p.Step(r.step)
		if given == 0 || give.Kind == Take || take.Kind != Operate || give.At <= r.since || give.At > r.at {
			continue
		}
		take.Kind, take.ref = Take, x.given(give)
	}
}
