package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// less lists what less work in the parts that matter would change, where there is one number of
// processors: as computed from the first run, or, of a response that is not the run's time, as
// delays tell.
func less(d *doc.Doc, x *delays.Experiment, r *delays.Result) {
	for i := range r.Plans {
		if p := &r.Plans[i]; p.Procs != r.Plans[0].Procs || p.Stage == delays.Pairs {
			return
		}
	}
	matter, _ := r.Matter(x)
	matter = slices.DeleteFunc(matter, func(e delays.Effect) bool { return e.Takes == 0 && e.Gain == nil })
	if len(matter) == 0 {
		return
	}
	s := d.Add("less", "What less work would change")
	t := doc.NewTable("part", "takes in all", "a tenth less", "from", "to", "per delay", "+-")
	var tied []string
	why := map[string][]string{}
	computed := x.Metric == "" && x.Asked.Load == ""
	for _, e := range matter {
		change, lo, hi := e.Less()
		cells := []any{signedAmount(x, change), signedAmount(x, lo), signedAmount(x, hi)}
		if g, ok := e.Promised(); ok {
			cells = []any{signedAmount(x, -g.Ns), signedAmount(x, -g.Hi), signedAmount(x, -g.Lo)}
		} else if computed {
			cells = []any{"not known", "", ""}
			text := "it was not computed"
			if e.Gain != nil {
				text = e.Gain.Unknown
			}
			why[text] = append(why[text], e.Name)
		}
		if e.Tied() {
			tied = append(tied, e.Name)
		}
		takes := "not known"
		if e.Takes > 0 {
			takes = measure.Time(int64(e.Takes * e.Visits))
		}
		if in := e.TakesIn; in != nil {
			takes = measure.Time(int64(in[0]*e.Visits)) + " to " + measure.Time(int64(in[1]*e.Visits))
		}
		t.Row(append(append([]any{doc.Name(e.Name, nameWidth), takes}, cells...), fmt.Sprintf("%.2f", e.PerVisit),
			fmt.Sprintf("%.2f", e.PerVisitSE))...)
	}
	s.Table(t)
	if len(tied) > 0 {
		s.Say("Delays of %s make the run longer, but less work there gains less: other parts take nearly as long, and the run would wait for them.", someOf(tied))
	}
	for _, text := range slices.Sorted(maps.Keys(why)) {
		s.Say("What less work in %s gains is not known: %s.", someOf(why[text]), text)
	}
	takes := "takes in all: processor time of the part and of what it calls, without goroutines that it starts, or how long a lock was held, in the first run; from samples it is an interval. "
	if computed {
		s.Note("%sa tenth less: by how much the run changes if that is a tenth less, as \"qinst predict\" computes it from the first run, and its interval of 90 %%. per delay: the measured effect of delays, which make it longer.", takes)
		return
	}
	s.Note("%sa tenth less: by how much %s changes if that is a tenth less, as it did with delays, which are at the beginning of each visit: of a procedure that does much after it, what it calls tells more. Less work may gain less than that, if others take nearly as long. from and to are about the delays' effect, and not about that time.", takes, Response(x))
}

func planTitle(p *delays.PlanResult) string {
	title := map[delays.Stage]string{delays.Screening: "Which parts matter", delays.Fuller: "How much they matter",
		delays.Pairs: "At which barriers goroutines wait for the last one"}[p.Stage]
	if p.Procs > 0 {
		title += fmt.Sprintf(", with %d processors", p.Procs)
	}
	return title
}

// lost reports whether the delays of an effect are so short that it would not be seen.
func lost(x *delays.Experiment, e *delays.Effect) bool { return x.Metric == "" && e.Lost() }

// someOf lists names, those with the largest effects. The others are in the table.
func someOf(names []string) string {
	const most = 5
	if len(names) > most+1 {
		return fmt.Sprintf("%s, and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// seen is about how large an effect must be to be seen.
func seen(p *delays.PlanResult) float64 {
	if len(p.Effects) == 0 {
		return 0
	}
	return (p.Effects[0].High - p.Effects[0].Low) / 2
}

func amount(x *delays.Experiment, v float64) string {
	if x.Unit == "s" {
		return measure.Time(int64(v * 1e9))
	}
	return digits(v)
}

// runsOf says how a plan was run.
func runsOf(x *delays.Experiment, p *delays.PlanResult) string {
	again := ""
	if p.Failed > 0 {
		again = fmt.Sprintf(" %d were made again because the program failed.", p.Failed)
	}
	if p.Strange == p.Runs {
		again += " Each prints something of its own."
	} else if p.Strange > 0 {
		again += fmt.Sprintf(" %d printed something else than the first one.", p.Strange)
	}
	plain := ""
	if p.Plain > 0 {
		plain = fmt.Sprintf(", and %s with the experiment's probes off", amount(x, p.Plain))
	}
	return fmt.Sprintf("%d runs in random order; without delays one gives %s%s.%s", p.Runs, amount(x, p.Base), plain,
		again)
}

func signedAmount(x *delays.Experiment, v float64) string {
	sign := "+"
	if v < 0 {
		sign, v = "-", -v
	}
	return sign + amount(x, v)
}

// Response is the measured quantity.
func Response(x *delays.Experiment) string {
	switch {
	case x.Metric != "":
		return "the response"
	case x.Asked.Load != "":
		return "the load's time"
	}
	return "the run's time"
}

// short is a name as tables of that width show it.
func short(name string) string { return measure.Short(name, 40) }
