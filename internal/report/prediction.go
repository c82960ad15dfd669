package report

import (
	"fmt"
	"math"
	"slices"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// Predict writes how long a program would take on other numbers of processors. f is nil if
// conclusions are not wanted.
func Predict(r *predict.Result, f *advice.Facts) *doc.Doc {
	d := &doc.Doc{Title: "prediction"}
	s := d.Add("predict", "")
	if r.Recorded.Replay == 0 {
		for _, n := range r.Remarks.All() {
			s.Warn("%s", n)
		}
		return d
	}
	doubts(s, r.Remarks.Warnings)
	if r.Outside {
		s.Say("Recorded on %s: %s. The outside decided how long it ran: for most of that it waited for a signal, a time, or requests. So what follows is about its requests, %s. They come when they came.", processors(r.Recorded.Procs), measure.Time(r.Recorded.T), measure.Visible(r.Requests))
	} else {
		unexplained(s, string(r.Policy), r.Unexplained, r.Recorded.T, r.Off)
		s.Say("Recorded on %s: %s; computed from that:", processors(r.Recorded.Procs), measure.Time(r.Recorded.T))
		ofRuns(s, r)
	}
	s.Table(latencies(r))
	if r.Requests != "" {
		s.Say("Answers a second are those of clients that wait for an answer, and then for as long as they did, before they ask again. Gains are of the mean time of a request.")
	}
	if f == nil {
		gainsMost(s, r)
	}
	s.Table(changes(r))
	why := map[string]bool{}
	for _, c := range r.WhatIf {
		if c.Unknown != "" && !why[c.Change] {
			why[c.Change] = true
			s.Note("what %s gains is not known: %s", measure.Visible(c.Change), c.Unknown)
		}
	}
	for _, n := range r.Remarks.Notes {
		s.Note("%s", n)
	}
	if f != nil {
		others(d, conclude(d, f))
	}
	return d
}

// ofRuns says how long the run takes on numbers of processors.
func ofRuns(s *doc.Section, r *predict.Result) {
	t, unknown := runs(r)
	s.Table(t)
	if unknown || r.T1 == 0 {
		s.Say("What is not known cannot be computed: goroutines wait for each other in a circle there, or the run does not end as the recorded one did. The trace probably lacks operations.")
	}
	one := "a time that is not known"
	if r.T1 > 0 {
		one = measure.Time(r.T1)
	}
	s.Say("%s", help(r))
	most := "a time that is not known"
	if r.TInf > 0 {
		most = measure.Time(r.TInf)
	}
	s.Say("With as many processors as goroutines, or 256, it takes %s, on one %s.%s", most, one, collects(r))
}

// runs is the table of computed runs, and whether the time of some is not known.
func runs(r *predict.Result) (t *doc.Table, unknown bool) {
	t = doc.NewTable("processors", "time", "of 9 in 10 runs", "speed-up", "in use")
	for _, of := range r.Runs {
		row := []any{fmt.Sprint(of.Procs), "not known", "", "", ""}
		if !of.Unknown {
			row = []any{row[0], doc.Time(of.T), measure.Time(of.Lo) + " to " + measure.Time(of.Hi),
				fmt.Sprintf("%.2f", of.Speedup), fmt.Sprintf("%.0f %%", of.Utilization*100)}
			if r.T1 == 0 {
				row[3] = ""
			}
		}
		unknown = unknown || of.Unknown
		t.Row(row...)
	}
	return t, unknown
}

// help says whether more processors help.
func help(r *predict.Result) string {
	const little = 1.1
	if r.TInf == 0 {
		return "Whether more processors help is not known."
	}
	most := float64(r.Recorded.Replay) / float64(r.TInf)
	for _, of := range r.Runs {
		if of.Procs != 2*r.Recorded.Procs || of.Unknown {
			continue
		}
		gain := float64(r.Recorded.Replay) / float64(max(of.T, 1))
		if gain >= little && of.Hi > r.Recorded.Replay {
			return fmt.Sprintf("Whether more processors help is not known: twice as many take from %s to %s.",
				measure.Time(of.Lo), measure.Time(of.Hi))
		}
		if gain < little {
			return fmt.Sprintf("More processors do not help: twice as many make it %.2f times as fast, and no number more than %.2f times.", gain, max(most, gain))
		}
		return fmt.Sprintf("More processors help: twice as many make it %.2f times as fast, if they do not slow each other down. No number makes it more than %.2f times as fast.", gain, max(most, gain))
	}
	return fmt.Sprintf("No number of processors makes it more than %.2f times as fast as the recorded %d.",
		max(most, 1), r.Recorded.Procs)
}

// gainsMost names the change that gains most, if one gains much.
func gainsMost(s *doc.Section, r *predict.Result) {
	const much = 3 // %
	var most *predict.Change
	for i := range r.WhatIf {
		if c := &r.WhatIf[i]; c.Unknown == "" && c.LoPct > 0 && c.GainPct > much &&
			(most == nil || c.GainPct > most.GainPct) {
			most = c
		}
	}
	if most != nil && len(r.WhatIf) > 1 {
		s.Say("Of these changes %s gains most: %.1f %% on %s.", measure.Visible(most.Change), most.GainPct,
			processors(most.Procs))
	}
}

// collects says how much of the work is the collector's, if that matters.
func collects(r *predict.Result) string {
	const from = 0.01
	if len(r.Runs) == 0 || float64(r.Runs[0].Collector) < from*float64(r.T1) {
		return ""
	}
	return fmt.Sprintf(" Of the work %s is the collector's, which is taken to be as much on any number.",
		measure.Time(r.Runs[0].Collector))
}

// latencies has how long requests take.
func latencies(r *predict.Result) *doc.Table {
	t := doc.NewTable("processors", "traced requests", "mean", "of 9 in 10 runs", "median", "p99", "answers a second", "")
	for _, of := range r.Runs {
		switch q := of.Request; {
		case q != nil:
			t.Row(fmt.Sprint(of.Procs), doc.Count(q.Count), doc.Time(q.Mean),
				measure.Time(q.Lo)+" to "+measure.Time(q.Hi), doc.Time(q.P50), doc.Time(q.P99),
				perSecond(q.PerSecond), perSecond(q.PerSecondLo).Text+" to "+perSecond(q.PerSecondHi).Text)
		case r.Requests != "":
			t.Row(fmt.Sprint(of.Procs), "", "not known", "", "", "", "", "")
		}
	}
	return t
}

func perSecond(n float64) doc.Cell { return doc.Count(int(math.Round(n))) }

// changes has what each change gains on each number of processors.
func changes(r *predict.Result) *doc.Table {
	heads := []string{"what if"}
	var order []string
	rows := map[string][]any{}
	for _, c := range r.WhatIf {
		if head := "on " + processors(c.Procs); !slices.Contains(heads, head) {
			heads = append(heads, head, "", "")
		}
		if rows[c.Change] == nil {
			order = append(order, c.Change)
			rows[c.Change] = []any{doc.Name(c.Change, loopWidth)}
		}
		if c.Unknown != "" {
			rows[c.Change] = append(rows[c.Change], "not known", "", "")
			continue
		}
		rows[c.Change] = append(rows[c.Change], doc.Time(c.T), measure.Change(-c.GainPct)+" %",
			measure.Change(-c.HiPct)+" to "+measure.Change(-c.LoPct))
	}
	t := doc.NewTable(heads...)
	for _, change := range order {
		t.Row(rows[change]...)
	}
	return t
}

// PredictPage is the page for a browser: what [Predict] says, the speed-up drawn, and changes to
// move.
func PredictPage(r *predict.Result, f *advice.Facts) (*doc.Doc, error) {
	d := Predict(r, f)
	if len(r.Runs) > 1 && !r.Outside {
		if err := figure(d, newSpeedups(r), "speedup", "Speed-up"); err != nil {
			return nil, err
		}
	}
	if sliders := newSliders(r.WhatIf); len(sliders) > 0 {
		return d, figure(d, sliders, "sliders", "What if")
	}
	return d, nil
}
