package critpath

import (
	"sort"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// followsTick reports whether what a goroutine does in a step follows from such a wait. left: its
// own wait is not meant.
func (w *walker) followsTick(id steps.StepID, left bool) bool {
	if w.ticked == nil {
		return false
	}
	if left {
		id = w.before[id]
	}
	return w.ticked[id]
}

// leaver returns where a goroutine left the processor that a step waited for, 0 if that was idle
// since the wait began. Without processors in the trace, it is the goroutine that left any of them
// last.
func (w *walker) leaver(id steps.StepID, since trace.Time) leave {
	s := w.p.Step(id)
	left := w.left[s.Proc]
	i := sort.Search(len(left), func(i int) bool { return left[i].at > s.At }) - 1
	for ; i >= 0 && left[i].at > since; i-- {
		// Of simultaneous events only one that was recorded before can be its cause.
		if l := left[i]; w.owner[l.step] != w.owner[id] && (l.at < s.At || l.step < id) {
			return l
		}
	}
	return leave{}
}

// last is the step with which the run ended.
func (w *walker) last() (id steps.StepID) {
	at := trace.Time(-1)
	for g := range w.p.Gs {
		for s := w.p.Gs[g].First; s != 0; s = w.p.Step(s).Next {
			step := w.p.Step(s)
			if ends := step.Kind == steps.End || step.Kind == steps.Cut; ends && steps.G(g) == w.p.Last {
				return s
			} else if (step.Kind == steps.End || step.Kind == steps.Cut && step.Work > 0) && step.At >= at {
				id, at = s, step.At
			}
		}
	}
	return id
}

// walk calls f for the pieces of the path, the last one first. Together they are the time from 0 to
// the end.
func (w *walker) walk(f func(stretch)) {
	at := w.p.End
	id := w.last()
	if id != 0 { // time after the last goroutine has no owner
		if at = w.p.Step(id).At; at < w.p.End {
			f(waiting(at, w.p.End, 0, steps.Unknown))
		}
	}
	w.back(id, at, 0, f)
}

// back walks from the end of a step, which was at a time, to a time before. The time before a
// goroutine without a known creator has no owner.
func (w *walker) back(id steps.StepID, end, begin trace.Time, f func(stretch)) {
	// A goroutine that waits for a helper's action on a tick waits for that since the tick. The
	// time of the tick decides nothing before it: there the path goes on with the goroutine that
	// waits.
	waits, floor := steps.StepID(0), begin
	add := func(s stretch) {
		if s.from = max(s.from, floor); s.from < s.to {
			f(s)
		}
		end = min(end, s.from)
	}
	stopped := false // the step's wait is not on the path
	via := steps.StepID(0)
	// Where the path left each goroutine: it never comes back to a later point. Times of
	// damaged files, and of events that happened together, would let it go round for ever.
	gone := map[steps.G]uint64{}
	// goes reports whether it may go to a step: to the end of its wait, or of its work, and so to
	// where the wait began.
	goes := func(to steps.StepID, left bool) bool {
		at, ok := gone[w.owner[to]]
		return !ok || place(to, left) < at
	}
	for id != 0 && end > begin {
		if waits != 0 && end <= floor {
			if !goes(waits, true) {
				break
			}
			id, stopped, waits, floor = waits, true, 0, begin
		}
		from := w.begin(id)
		worked := from + trace.Time(w.p.Step(id).Work)
		if !stopped {
			piece, by, left := w.released(id, worked)
			if w.before[id] == 0 {
				piece.via = via
			}
			add(piece)
			if since, ok := w.byTimer(by, left); ok {
				// Without what a timer began there this goroutine would have had the processor from
				// when it could run. No more than that is lost, so that the path does not go on to
				// the timer.
				since = max(since, worked)
				for x := by; x != 0 && end > since; x = w.before[x] {
					done := w.begin(x) + trace.Time(w.p.Step(x).Work)
					add(waiting(max(done, since), end, x, steps.Unknown)) // where it was no work, as when it spun
					add(working(max(w.begin(x), since), min(end, done), x))
				}
				add(waiting(worked, end, id, steps.WakeUp))
			} else if by != 0 {
				gone[w.owner[id]] = place(id, false)
				if waits == 0 && w.followsTick(by, left) {
					waits, floor = id, max(begin, worked)
				}
				if goes(by, left) {
					via, id, stopped = id, by, left
					continue
				}
				add(waiting(worked, end, id, piece.cause))
			}
		}
		add(working(from, worked, id))
		stopped = false
		if b := w.before[id]; b != 0 {
			id = b
			continue
		}
		was := w.owner[id]
		gone[was] = place(id, true)
		if id = w.starts[was]; id != 0 && !goes(id, false) {
			break
		}
	}
	add(waiting(begin, end, 0, steps.Unknown))
}

// byTimer returns since when a goroutine had the processor that it left at the end of a step's
// work, and whether a timer let it run.
func (w *walker) byTimer(id steps.StepID, left bool) (since trace.Time, ok bool) {
	for since = -1; left && w.before[id] != 0; {
		at := w.begin(id)
		id = w.before[id]
		switch s := w.p.Step(id); {
		case s.Kind == steps.Delay:
			return max(since, at), s.Cause() == steps.Timer
		case s.Kind == steps.Take:
			return 0, false
		case s.Kind == steps.Ready && since < 0: // it waited for the processor
			since = at
		}
	}
	return 0, false
}

// place is one in a goroutine, in its order: where the work of a step ended, and then where its
// wait did.
func place(id steps.StepID, worked bool) uint64 {
	if worked {
		return 2 * uint64(id)
	}
	return 2*uint64(id) + 1
}

// released returns the piece of the path that the wait of a step is, and the step that ended the
// wait, 0 if the path goes on with the work before. left: that step left a processor, and its own
// wait is not on the path.
func (w *walker) released(id steps.StepID, worked trace.Time) (piece stretch, by steps.StepID, left bool) {
	s := w.p.Step(id)
	switch {
	// its work until the stop determines nothing
	case s.Until != 0 && w.p.Gs[w.owner[id]].Told == id && w.gives[s.Until] != 0:
		by = w.gives[s.Until]
		return waiting(w.p.Step(by).At, s.At, id, steps.WakeUp), by, false
	case s.Kind == steps.Take && s.Token() != 0 && w.gives[s.Token()] != 0:
		if by = w.gives[s.Token()]; w.p.Reads(s) {
			return waiting(w.p.Step(by).At, s.At, id, steps.Network), by, false
		}
		return waiting(w.p.Step(by).At, s.At, id, steps.WakeUp), by, false
	case s.Kind == steps.Ready && s.Cause() == steps.WakeUp:
		if l := w.leaver(id, worked); l.step != 0 {
			return waiting(l.at, s.At, id, steps.WakeUp), l.step, true
		}
		return waiting(worked, s.At, id, steps.WakeUp), 0, false
	case s.Kind == steps.Delay && w.p.Gs[w.owner[id]].System && s.Cause() == steps.Unknown:
		// The collector's workers run when the scheduler has a processor for them. Nobody wakes
		// them.
		if l := w.leaver(id, worked); l.step != 0 {
			return waiting(l.at, s.At, id, steps.WakeUp), l.step, true
		}
	}
	cause := steps.Unknown
	if s.Kind == steps.Delay || s.Kind == steps.Ready {
		cause = s.Cause()
	}
	return waiting(worked, s.At, id, cause), 0, false
}
