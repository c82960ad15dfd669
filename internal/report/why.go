package report

import (
	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// Why is what a program does that still runs: the conclusions up to now, and the goroutines that
// have waited for much of the time.
func Why(f *advice.Facts) *doc.Doc {
	d := &doc.Doc{Title: "why"}
	s := d.Add("", "")
	s.Say("The program has run for %s, and still runs: on average %.2f processors were busy.", measure.Time(f.Wall), f.Effective)
	others(d, conclude(d, f))
	if s = d.Add("waiting", "Waiting now, and for a fifth of the time"); len(f.Left) == 0 {
		s.Say("No goroutine has waited for so long, but for a time or a connection.")
		return d
	}
	t := doc.NewTable("goroutines", "of", "wait for", "in", "since").Left(1, 2, 3)
	for _, l := range f.Left {
		t.Row(measure.Count(l.Count), doc.Name(l.Name, loopWidth), waitsFor(&l),
			doc.Name(advice.At(l.In, l.File, l.Line), 2*loopWidth), since(f.Wall, &l))
	}
	s.Table(t)
	return d
}

func waitsFor(l *profile.Left) string {
	if l.On != "" {
		return l.On
	}
	return l.For
}

// since is for how long they have waited.
func since(now int64, l *profile.Left) string {
	longest := measure.Time(now - l.First)
	if l.Count == 1 || l.Last == l.First {
		return longest
	}
	return measure.Time(now-l.Last) + " to " + longest
}
