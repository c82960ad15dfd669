package report

import (
	"fmt"
	"io"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// Runs writes a summary of several runs: means with 95 % intervals.
func Runs(w io.Writer, width int, r *profile.Runs) error {
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	fmt.Fprintf(w, "%d runs, wall %s on average (%s to %s)\n", r.Runs, ns(r.Wall.Mean), ns(r.Wall.Low), ns(r.Wall.High))
	fmt.Fprintf(w, "means over the runs, and behind them how far they are to be trusted: half of a 95 %% interval (Student's t)\n\n")
	t := doc.NewTable("name", "self npt", "", "npt", "", "busy", "", "blocked", "", "calls", "")
	for i := range r.Entries {
		e := &r.Entries[i]
		cells := []any{kindMark(e.Kind) + measure.Short(e.Name, loopWidth)}
		for _, s := range []profile.Spread{e.SelfNPT, e.NPT, e.Busy, e.Blocked} {
			cells = append(cells, ns(s.Mean), "+- "+ns((s.High-s.Low)/2))
		}
		calls := ""
		if e.Calls.High > e.Calls.Low {
			calls = "+- " + measure.Count(int64((e.Calls.High-e.Calls.Low)/2))
		}
		t.Row(append(cells, e.CallsMark+measure.Count(int64(e.Calls.Mean)), calls)...)
	}
	return t.WriteText(w, "", width)
}

func ns(x float64) string { return measure.Time(int64(x)) }
