package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// Delays writes the result of an experiment with delays.
func Delays(x *delays.Experiment, r *delays.Result) *doc.Doc {
	d := &doc.Doc{Title: "delays"}
	s := d.Add("delays", "")
	switch {
	case len(r.Barriers) > 0:
		barriersConcluded(s, x, r)
	case len(r.Plans) > 0:
		concluded(s, x, r)
	}
	less(d, x, r)
	for i := range r.Plans {
		if r.Plans[i].Stage == delays.Pairs {
			barrierTable(d.Add(fmt.Sprintf("plan-%d", i+1), planTitle(&r.Plans[i])), x, r, &r.Plans[i])
			continue
		}
		planTable(d.Add(fmt.Sprintf("plan-%d", i+1), planTitle(&r.Plans[i])), x, r, &r.Plans[i])
	}
	if len(r.Classes) > 0 {
		s := d.Add("classes", "With the number of processors")
		t := doc.NewTable("part", "class", "effect is proportional to")
		for _, c := range r.Classes {
			power := ""
			if c.SE > 0 {
				power = fmt.Sprintf("p^(%.2f +- %.2f)", c.Power, c.SE)
			}
			t.Row(doc.Name(c.Name, nameWidth), c.Class, power)
		}
		s.Table(t)
		s.Note("parallel: its work is divided among the processors. flat: it is done one after the other, or on a processor that has more to do than others. growing: the more goroutines there are, the longer they wait for it. Where visits are not as many on each number of processors, effects are compared for delays of one part of what a visit takes there.")
	}
	for _, n := range r.Notes {
		s.Note("%s", n)
	}
	if len(x.Advice) > 0 {
		others(d, conclusions(d, x.Advice, ""))
	}
	return d
}

// concluded writes the conclusions. Among plans on the same number of processors the best one for a
// part ([delays.Result.Best]) decides whether it matters.
func concluded(s *doc.Section, x *delays.Experiment, r *delays.Result) {
	it, more, fewer := "the run", "longer", "shorter"
	switch {
	case x.Metric != "":
		it, more, fewer = "the response", "greater", "less"
	case x.Asked.Load != "":
		it, more, fewer = "the load", "last longer", "last shorter"
	}
	type group struct {
		makes string
		names []string
		most  float64
	}
	groups := []group{{makes: more}, {makes: fewer}}
	matter, aside := r.Matter(x)
	factors := map[int]bool{}
	for i := range r.Plans {
		for _, e := range r.Plans[i].Effects {
			factors[e.Factor] = true
		}
	}
	others := len(factors) - len(matter) - len(aside)
	for _, e := range matter {
		g := &groups[0]
		if e.Effect < 0 {
			g = &groups[1]
		}
		g.names, g.most = append(g.names, e.Name), max(g.most, math.Abs(e.Effect))
	}
	if x.Metric != "" { // of a rate, parts that make it smaller are of interest
		slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.most, a.most) })
	}
	if len(groups[0].names) == 0 {
		groups[0], groups[1] = groups[1], groups[0]
	}
	if len(matter) == 0 {
		s.Say("Nothing that was delayed made %s %s, by more than runs differ anyway: an effect of less than about %s would not be seen.", it, more, amount(x, seen(&r.Plans[0])))
	} else {
		s.Say("These parts make %s %s if they take longer: %s.", it, groups[0].makes, someOf(groups[0].names))
	}
	if len(groups[1].names) > 0 {
		s.Say("These make it %s: %s.", groups[1].makes, someOf(groups[1].names))
	}
	if len(aside) > 0 {
		s.Say("Parts that contain one of these, or are called by several of them, are not listed: %s.", someOf(aside))
	}
	if others > 0 && len(matter) > 0 {
		s.Say("No difference was seen of %d more.", others)
	}
}

// planTable lists effects.
func planTable(s *doc.Section, x *delays.Experiment, r *delays.Result, p *delays.PlanResult) {
	s.Say("%s", runsOf(x, p))
	t := doc.NewTable("rank", "part", "construct", "visits", "delay", "effect", "from", "to", "per delay", "+-",
		"weight", "corrected p", "").Left(1, 2)
	for _, e := range p.Effects {
		verdict := ""
		if e.Significant {
			verdict = "significant"
		}
		t.Row(fmt.Sprint(e.Rank), doc.Name(e.Name, nameWidth), e.Construct, doc.Count(uint64(e.Visits)),
			measure.Time(int64(e.Delay)), signedAmount(x, e.Effect), signedAmount(x, e.Low), signedAmount(x, e.High),
			fmt.Sprintf("%.2f", e.PerVisit), fmt.Sprintf("%.2f", e.PerVisitSE), weightOf(&e), probability(e.PHolm),
			verdict)
	}
	s.Table(t)
	for _, i := range p.Interactions {
		interaction(s, x, &i)
	}
	var names, doubted []string
	for _, e := range p.Effects {
		if lost(x, &e) {
			names = append(names, e.Name)
		} else if e.Doubts() && x.Metric == "" {
			doubted = append(doubted, e.Name)
		}
	}
	if len(doubted) > 0 {
		s.Say("The critical path of one run gives other weights than the delays, which were measured in many runs: %s.", someOf(doubted))
	}
	if len(names) > 0 {
		s.Warn("the delays of %s take less time together than runs differ by anyway (%s), so that nothing is known of what they do; a longer -delay tells", someOf(names), amount(x, seen(p)))
	}
	if c := p.Curvature; c != nil && c.Significant {
		s.Warn("with half of the delays the response is %s off the middle: effects are not proportional to delays",
			signedAmount(x, c.Effect))
	}
	from := "the differences between runs with the same delays"
	if strings.HasPrefix(p.SEMethod, doe.Lenth) {
		from = "the small ones among interactions (Lenth), as no run was made twice"
	}
	columns := ""
	if p == &r.Plans[0] { // the others have the same
		columns = "effect: by how much the response rises with the part's delays; from and to: in 95 of 100 experiments it is between these. per delay: the part of its delays by which the run became longer: 1 if everything waits for it, 0 if nothing does. weight: the same as the critical path of one run tells it, without an experiment; - where it tells none, or only an interval. "
		if x.Metric != "" {
			columns = "effect: by how much the response rises with the part's delays; from and to: in 95 of 100 experiments it is between these. per delay: by how much it rises for each second that all its delays take together. weight: the part of them by which the run, not the response, would become longer, as the critical path of one run tells it; - where it tells none, or only an interval. "
		}
	}
	s.Note("%sErrors are from %s.", columns, from)
}

// interaction names the parts whose effects depend on each other.
func interaction(s *doc.Section, x *delays.Experiment, i *delays.Interaction) {
	others := "the other"
	if len(i.Names) > 2 {
		others = "the others together"
	}
	of, effect := strings.Join(i.Names, " and "), signedAmount(x, 2*i.Effect)
	if n := len(i.Aliases); n > 0 {
		of, effect = of+", or "+strings.Join(i.Aliases[0], " and "), amount(x, 2*math.Abs(i.Effect))
		switch {
		case n == 2:
			of += ", or another pair, which this plan does not tell apart"
		case n > 2:
			of += fmt.Sprintf(", or one of %d more pairs, which this plan does not tell apart", n-1)
		}
	}
	s.Say("%s: the effect of one differs by %s between the delays of %s (standard error %s, corrected p %s).", of,
		effect, others, amount(x, 2*i.SE), probability(i.PHolm))
}

func weightOf(e *delays.Effect) string {
	if e.Weight == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *e.Weight)
}
