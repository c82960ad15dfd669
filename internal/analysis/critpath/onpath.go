package critpath

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// piece adds a stretch of the path, whose work was done in several contexts: in which order is not
// known any more.
func (b *builder) piece(s stretch, g steps.G) {
	id := trace.GoID(0)
	if s.step != 0 {
		id = b.p.Gs[g].ID
	}
	if s.delay {
		if s.cause == steps.Unknown {
			b.res.Untraced += int64(s.to - s.from)
		}
		i := b.entry(line{KindWait, int64(s.cause)})
		b.onPath(i, float64(s.to-s.from))
		b.waitsIn(i, s, g)
		b.inHolds(s)
		b.path.add(piece{s.from, s.to, id, i})
		return
	}
	b.calls(s.step, g)
	parts := b.parts(s.step)
	done, all, to := int64(0), max(b.p.Step(s.step).Work, 1), s.to
	for k := len(parts) - 1; k >= 0; k-- { // backwards, as the path is walked
		done += parts[k].Ns
		from := s.to - trace.Time(round(float64(s.to-s.from)*float64(done)/float64(all)))
		b.path.add(piece{from, to, id, b.work(parts[k].Context, float64(to-from))})
		to = from
	}
	b.inHolds(s)
}

// waitsIn notes where a goroutine waited, if that is known.
func (b *builder) waitsIn(i int, s stretch, g steps.G) {
	if s.step == 0 {
		return
	}
	at := waitPlace{Frame: b.waitsAt(s, g)}
	if s.cause == steps.Timer && s.via != 0 && at.Function == "" { // who set the timer is not known
		at.Frame = b.p.WaitedAt(s.via)
	}
	if at.Function == "" {
		return
	}
	if s.cause == steps.Timer {
		step := s.step
		if s.via != 0 {
			step, at.waiter = s.via, b.p.WaitedAt(s.via)
		}
		if stack, ok := b.p.StackOf(step); ok {
			at.what = b.library(stack)
		}
	} else if stack, ok := b.p.StackOf(s.step); ok {
		at.calls = b.r.Names.CalledBy(&at.Frame, stack)
	}
	if b.sums[i].in == nil {
		b.sums[i].in = map[waitPlace]*inPlace{}
	}
	x := b.sums[i].in[at]
	if x == nil {
		x = &inPlace{g: g, loops: map[trace.PointID]float64{}, locks: map[int]float64{}}
		b.sums[i].in[at] = x
	}
	if x.ns += float64(s.to - s.from); !b.p.Again(s.step) {
		x.n++
	}
	x.several = x.several || x.g != g
	if long := s.to - s.from; s.cause == steps.Network && leastAck <= long && long <= mostAck {
		x.acks += float64(s.to - s.from)
	}
	if s.cause == steps.Timer && b.paces(s.step) {
		x.paced++
	}
	if s.via != 0 && b.stops(s.via) {
		x.stopped++
	}
	for _, i := range b.holds.under(s.step) {
		if b.lines[i].kind == KindSync {
			x.locks[i] += float64(s.to - s.from)
		}
	}
	if l := b.loopOf(s.step); l != trace.NoPoint {
		x.loops[l] += float64(s.to - s.from)
	}
}

// stops reports whether a wait was the end of a helper's waits for ticks.
func (b *builder) stops(step steps.StepID) bool {
	if b.last == nil {
		b.last = map[steps.StepID]bool{}
		for _, i := range b.p.Idle {
			b.last[i.Next] = b.last[i.Next] || i.Ends
		}
	}
	return b.last[step]
}

// paces reports whether a goroutine waits for a tick, or until another time of the clock, and then
// does something that others see, or works. Who only looks for something does neither.
func (b *builder) paces(step steps.StepID) bool {
	of := b.p.Step(step).Obj
	if !b.p.Objects[of].Ticks {
		return false
	}
	work := int64(0)
	id := b.p.Step(step).Next
	for range mostPaced {
		if id == 0 {
			return false
		}
		s := b.p.Step(id)
		work += s.Work
		switch {
		case work >= leastPaced:
			return true
		case s.Waits(steps.Timer) && s.Obj == of:
			return false
		case s.Kind == steps.Give || s.Kind == steps.Start || s.Kind == steps.End || s.Kind == steps.Delay,
			s.Op == steps.Send || s.Op == steps.Receive || s.Op == steps.Close:
			return true
		}
		id = s.Next
	}
	return true
}

const (
	// mostPaced is how many steps after a tick are looked at.
	mostPaced = 64
	// leastPaced is how many ns of work after a tick are something.
	leastPaced = 20e3
)

// Linux delays the acknowledgment of a packet by 40 ms, if it has nothing to send in which it could
// stand. Who has sent a part of a message, and has switched on Nagle's algorithm, sends the rest no
// sooner.
const leastAck, mostAck = 36e6, 46e6

// loopOf is the innermost loop in which a goroutine waited for the outside.
func (b *builder) loopOf(step steps.StepID) trace.PointID {
	stack, ok := b.p.StackOf(step)
	if !ok || int(stack) >= len(b.r.T.Stacks) {
		return trace.NoPoint
	}
	if b.loops == nil {
		b.loops = map[string][]trace.PointID{}
		for i := range b.r.T.Points {
			if p := &b.r.T.Points[i]; p.Kind == spec.PointLoop && p.End > 0 && p.Owner >= 0 {
				of := b.r.T.NameOf(p.Owner)
				b.loops[of] = append(b.loops[of], trace.PointID(i))
			}
		}
	}
	for _, f := range b.r.T.Stacks[stack] {
		inner := trace.NoPoint
		for _, l := range b.loops[f.Function] {
			if p := &b.r.T.Points[l]; p.Line <= f.Line && f.Line <= p.End &&
				(inner < 0 || p.Line >= b.r.T.Points[inner].Line) {
				inner = l
			}
		}
		if inner >= 0 {
			return inner
		}
	}
	return trace.NoPoint
}

// library is what of a well-known library a stack waits for; empty: nothing that is known.
func (b *builder) library(id trace.StackID) string {
	if int(id) >= len(b.r.T.Stacks) {
		return ""
	}
	called := false // a function with probes, by the library
	for _, f := range b.r.T.Stacks[id] {
		what, ok := names.Pools[f.Function]
		if ok && called {
			return names.Opened[f.Function]
		}
		if ok {
			return what
		}
		called = called || b.r.Names.HasProbes(&f)
	}
	return ""
}

// waitsAt is where a goroutine waited: in the stack of the wait, or where its work before it ended.
// If that calls procedures whose calls have no events, it may have been one of these, and the place
// is not known.
func (b *builder) waitsAt(s stretch, g steps.G) (at trace.Frame) {
	switch at = b.p.WaitedAt(s.step); {
	case s.cause == steps.Timer:
		if at.Line == 0 && b.hides[b.p.Step(s.step).Point()] {
			return trace.Frame{}
		}
		return at
	case at.Line != 0:
		return at
	}
	if proc := b.p.Step(s.step).Point(); s.cause == steps.Call && proc != trace.NoPoint {
		if b.hides[proc] {
			return trace.Frame{}
		}
		at.Function = b.named(line{KindProc, int64(proc)}).Name
		return at
	}
	node := b.r.Contexts.Node(b.p.Gs[g].Context)
	if parts := b.p.PartsOf(s.step); len(parts) > 0 {
		node = b.r.Contexts.Node(parts[len(parts)-1].Context)
	} else if node.Group != replay.NoGroup { // it has done nothing so far, and works on behalf of its creator
		return trace.Frame{Function: b.named(line{KindGoroutine, int64(node.Group)}).Name}
	}
	if b.hides[node.Proc] {
		return trace.Frame{}
	}
	at.Function = b.named(line{KindProc, int64(node.Proc)}).Name
	return at
}

// waitedIn lists the places of a wait, longest first.
func (b *builder) waitedIn(in map[waitPlace]*inPlace) (list []WaitedIn) {
	for f, x := range in {
		w := WaitedIn{Name: f.Function, File: f.File, Line: f.Line, Self: round(x.ns), Count: x.n, Several: x.several,
			Calls: f.calls, What: f.what, Acks: round(x.acks), Paced: 2*x.paced > x.n, Stopped: 2*x.stopped > x.n}
		if l, ok := mostly(x.loops, x.ns); ok {
			p := &b.r.T.Points[l]
			w.Loop = &Place{b.r.T.NameOf(l), p.File, p.Line}
		}
		if i, ok := mostly(x.locks, x.ns); ok {
			w.Under = b.named(b.lines[i]).Name
		}
		if f.waiter.Function != "" {
			w.Waiter = &Place{f.waiter.Function, f.waiter.File, f.waiter.Line}
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(x, y WaitedIn) int {
		return cmp.Or(cmp.Compare(y.Self, x.Self), cmp.Compare(x.Name, y.Name), cmp.Compare(x.File, y.File),
			cmp.Compare(x.Line, y.Line))
	})
	return list[:min(MostIn, len(list))]
}

// mostly is the key with more than half of a time, if there is one.
func mostly[K comparable](of map[K]float64, ns float64) (key K, ok bool) {
	for k, x := range of {
		if 2*x > ns {
			return k, true
		}
	}
	return key, false
}

// parts are those of a step's work. A goroutine that goes on until it is stopped may do so in a
// step without recorded work.
func (b *builder) parts(step steps.StepID) []steps.Part {
	parts := b.p.PartsOf(step)
	if len(parts) == 0 && b.told[step] > 0 {
		return []steps.Part{{Ns: 1, Context: b.p.Gs[b.told[step]].Context}}
	}
	return parts
}

// inHolds adds a stretch of the path to the locks and regions that its goroutine was in. A
// goroutine keeps its locks while it waits.
func (b *builder) inHolds(s stretch) {
	for _, i := range b.holds.under(s.step) {
		b.onPath(i, float64(s.to-s.from))
	}
}

// work adds work in a context that is on the path, and returns the procedure that did most of it.
func (b *builder) work(c replay.ContextID, ns float64) (most int) {
	portions := b.portions(c)
	share := 0.
	for k := range portions {
		p := &portions[k]
		if p.share > share {
			most, share = p.self, p.share
		}
		b.onPath(p.self, ns*p.share)
		b.doubt(c, p.self, p, ns*p.share)
		for _, i := range p.loops {
			b.onPath(i, ns*p.share)
			b.doubt(c, i, p, ns*p.share)
			b.sums[i].within += ns * p.share
		}
		for _, i := range p.in {
			b.sums[i].within += ns * p.share
		}
	}
	for _, i := range b.seen(c) {
		b.onPath(i, ns)
		b.sums[i].within += ns
	}
	return most
}

// onPath adds to an entry's time on the path.
func (b *builder) onPath(i int, ns float64) {
	e, s := &b.res.Entries[i], &b.sums[i]
	if s.self += ns; e.Kind != KindProc {
		e.Entries++
	}
	if e.Kind == KindWait || e.Kind == KindSync || e.Kind == KindRegion {
		s.within += ns
	}
	if b.other {
		s.other += ns
	}
	if b.tail {
		s.tail += ns
	}
}

// own calls f for the entries of the work of a step, of every kind, with how much of it is theirs.
func (b *builder) own(step steps.StepID, f func(i int, ns float64)) {
	for _, part := range b.p.PartsOf(step) {
		for _, p := range b.portions(part.Context) {
			f(p.self, p.share*float64(part.Ns))
			for _, i := range p.loops {
				f(i, p.share*float64(part.Ns))
			}
		}
		for _, i := range b.seen(part.Context) {
			f(i, float64(part.Ns))
		}
	}
	for _, i := range b.holds.under(step) {
		f(i, float64(b.p.Step(step).Work))
	}
}

// weights adds up those of all pieces of work.
func (b *builder) weights() {
	for c := range replay.ContextID(b.r.Contexts.Len()) {
		if npt := b.p.NPT(c); npt > 0 {
			for _, p := range b.portions(c) {
				b.sums[p.self].npt += npt * p.share
			}
		}
	}
	for s := range steps.StepID(b.p.Steps.Len()) {
		b.own(s, func(i int, ns float64) { b.sums[i].work += ns })
	}
	add := func(i int, ns float64) {
		b.sums[i].weighted += ns
		b.sums[i].inclusive += ns
	}
	b.run.Weights(func(step steps.StepID, length, weight float64, delay bool) {
		for _, i := range b.holds.under(step) {
			if add(i, length*weight); delay {
				b.sums[i].delays += length
			}
		}
		if delay {
			add(b.entry(b.delayOf(step)), length*weight)
			return
		}
		// under Go's scheduler work may be in several pieces
		share := weight * length / float64(max(b.p.Step(step).Work, 1))
		for _, part := range b.parts(step) {
			ns := float64(part.Ns) * share
			for _, p := range b.portions(part.Context) {
				b.sums[p.self].weighted += ns * p.share
				for _, i := range p.loops {
					add(i, ns*p.share)
				}
				for _, i := range p.in {
					b.sums[i].inclusive += ns * p.share
				}
			}
			for _, i := range b.seen(part.Context) {
				add(i, ns)
			}
		}
	})
	for i := range b.sums {
		b.sums[i].right = b.sums[i].weighted
	}
}

// MostIn bounds Entry.In.
const MostIn = 8
