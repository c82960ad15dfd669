package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// less lists what less work in the parts that matter would change, where there is one number of
// processors.
func less(d *doc.Doc, x *delays.Experiment, r *delays.Result) {
	t := doc.NewTable("part", "takes in all", "per delay", "+-", "a tenth less", "from", "to")
	var rows []delays.Effect
	for i := range r.Plans {
		p := &r.Plans[i]
		if p.Procs != r.Plans[0].Procs || p.Stage == delays.Pairs {
			return
		}
		for _, e := range p.Effects {
			if e.Significant && e.Takes > 0 && r.Best(p, &e) && !lost(x, &e) {
				rows = append(rows, e)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b delays.Effect) int {
		one, _, _ := a.Less()
		other, _, _ := b.Less()
		if x.Metric == "" { // what makes the run shorter first
			return cmp.Compare(one, other)
		}
		return cmp.Compare(math.Abs(other), math.Abs(one))
	})
	for _, e := range rows {
		change, lo, hi := e.Less()
		t.Row(doc.Name(e.Name, nameWidth), measure.Time(int64(e.Takes*e.Visits)), fmt.Sprintf("%.2f", e.PerVisit),
			fmt.Sprintf("%.2f", e.PerVisitSE), signedAmount(x, change), signedAmount(x, lo), signedAmount(x, hi))
	}
	if len(rows) > 0 {
		s := d.Add("less", "What less work would change")
		s.Table(t)
		s.Note("takes in all: processor time of the part and of what it calls, without goroutines that it starts, or how long a lock was held, in the first run. a tenth less: by how much %s changes if that is a tenth less, as it did with delays, which are at the beginning of each visit: of a procedure that does much after it, what it calls tells more. from and to are about the delays' effect, and not about that time.", what(x))
	}
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
	return fmt.Sprintf("%d runs in random order; without delays one gives %s.%s", p.Runs, amount(x, p.Base), again)
}

func signedAmount(x *delays.Experiment, v float64) string {
	sign := "+"
	if v < 0 {
		sign, v = "-", -v
	}
	return sign + amount(x, v)
}

// what is the measured quantity.
func what(x *delays.Experiment) string {
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
