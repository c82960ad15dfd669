package steps

import (
	"maps"
	"slices"

	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
)

// warn says what the trace is only a part of.
func (p *Program) warn(source trace.Source) {
	t, part := p.R.T, false
	if c, computed := t.Corrected(); computed {
		p.Warn("times are computed, without what probes cost (qinst correct): the run took %s, and would have taken %s to %s", measure.Time(c.Took), measure.Time(c.Least), measure.Time(c.Most))
	}
	if t.Attr(trace.AttrFrom) != nil {
		part = true
		p.Warn("this is a part of a run, %s of it from %s on: what its goroutines waited for before, or what came of it behind, is not known", measure.Time(source.Wall()), measure.Time(t.Int(trace.AttrFrom)))
	}
	switch {
	case t.Kept:
		p.Warn("the trace tells of the last %s of a run, because earlier events made room for them",
			measure.Time(source.Wall()))
	case t.Ran > source.Wall():
		p.Warn("the trace tells of the first %s of a run of %s: the rest was only counted, and the path goes back from there", measure.Time(source.Wall()), measure.Time(t.Ran))
	}
	switch {
	case part || !p.worked:
	case !t.End.Known:
		p.Warn("the program did not end by itself: the path goes back from the last thing that the trace tells of")
	case p.Last < 0 && !p.R.Virtual():
		p.Warn("main had not returned, and was waiting, when the program ended (%s): the path goes back from the last work before", t.End)
	}
	if proc, share := p.Endless(); share > endlessShare {
		p.Warn("%s, with %.0f %% of the work, has a loop that ends when a time is over or others say so: a computed run does as much work as this one, and takes as long as that does; the program would do more or less in the same time", t.Points[proc].Name, 100*share)
	}
}

// note says what is missing in the trace. lacked is the time, in ns, for which the system took
// processors without saying when.
func (p *Program) note(losses *trace.Losses, lacked int64) {
	if !p.worked {
		p.Note("the trace does not tell what goroutines did, and so nothing of a path: it needs events (QINST=mode=trace, as without a setting)")
		return
	}
	for _, l := range losses.List() {
		p.Note("lost: %v", l)
	}
	unfit, all := map[string]bool{}, map[string]bool{}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Name != trace.NoPoint && o.operated() {
			name := p.R.T.Points[o.Name].Name
			all[name] = true
			if !o.Free {
				unfit[name] = true
			}
		}
	}
	if lacked > leastTaken && float64(lacked) > 0.02*float64(p.End) {
		p.Note("the system did not say when it kept threads from processors (other programs, a quota), only for how long: %s, which were taken evenly out of pieces of work longer than a millisecond", measure.Time(lacked))
	}
	if missed, of, name := p.missed(); missed > 0 {
		p.Note("%d of %d operations on locks, such as on %s, have no event: they were put where the trace shows that they must have been, or left out", missed, of, p.R.T.Points[name].Name)
	}
	if n := len(unfit); n > 0 {
		first := slices.Sorted(maps.Keys(unfit))
		p.Note("operations on %d of %d locks and channels were not all seen, such as on %s: who waits for them is decided as it was in the run, and a run on one processor tells little of them", n, len(all), first[0])
	}
}
