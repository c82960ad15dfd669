package report

import (
	"fmt"
	"math"
	"strings"

	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/report/doc"
)

// mostFitted is how many effects are shown that are not significant.
const mostFitted = 20

// Effects writes the evaluation of a plan.
func Effects(f *doe.Fit, response string, alpha float64) *doc.Doc {
	d := &doc.Doc{Title: "effects"}
	s := d.Add("effects", "")
	var found []doe.Effect
	tested := 0
	for _, e := range f.Effects {
		if e.Significant {
			found = append(found, e)
		}
		if !e.Error {
			tested++
		}
	}
	for i, e := range found {
		if i == mostSaid {
			s.Say("And %d more, below.", len(found)-i)
			break
		}
		s.Say("%s", says(&e, response))
	}
	many := fmt.Sprint(len(found), " are")
	if len(found) == 0 {
		many = "none is"
	}
	s.Say("The mean of %s is %s. Of %d effects that were tested %s significant. If all were noise, %s of 100 experiments would have one that is.", response, digits(f.Mean), tested, many, digits(100*alpha))
	switch method, order, ordered := strings.Cut(f.SEMethod, ":"); {
	case method == doe.Pool:
		s.Say("An effect has a standard error of %s, if interactions of %s factors and more are noise (%s of them).",
			digits(f.SE), order, digits(f.DF))
	case method == doe.Lenth && ordered:
		s.Say("An effect has a standard error of %s, if most interactions of %s factors and more are noise (Lenth).",
			digits(f.SE), order)
	case method == doe.Lenth:
		s.Say("An effect has a standard error of %s, if most of them are noise (Lenth).", digits(f.SE))
	default:
		s.Say("An effect has a standard error of %s, from runs with the same levels (%s degrees of freedom).",
			digits(f.SE), digits(f.DF))
	}
	t := doc.NewTable("effect", "size", "from", "to", "t", "p", "corrected p", "")
	left := 0
	for i, e := range f.Effects {
		if i-len(found) >= mostFitted && !e.Significant {
			left++
			continue
		}
		verdict := ""
		switch {
		case e.Error:
			verdict = "noise"
		case e.Significant:
			verdict = "significant"
		}
		t.Row(doc.Name(aliased(&e), loopWidth), signed(e.Effect), signed(e.Low), signed(e.High),
			fmt.Sprintf("%.1f", max(-999, min(999, e.T))), probability(e.P), probability(e.PHolm), verdict)
	}
	s.Table(t)
	if left > 0 {
		s.Say("%d more, which are smaller.", left)
	}
	if c := f.Curvature; c != nil {
		s.Say("With all factors halfway %s differs from the mean of the others by %s, between %s and %s: %s.", response,
			signed(c.Effect), signed(c.Low), signed(c.High),
			map[bool]string{true: "it does not rise evenly from the low level to the high one",
				false: "that is no more than noise"}[c.Significant])
	}
	s.Note("An effect is by how much %s rises from the low level of a factor to the high one. From and to: between these it is in %s of 100 experiments. The corrected p counts how many effects were tested (Holm).", response, digits(100*(1-alpha)))
	for _, n := range f.Notes {
		s.Note("%s", n)
	}
	return d
}

// mostSaid is how many significant effects are said in words.
const mostSaid = 3

// says is an effect in words.
func says(e *doe.Effect, response string) string {
	factors, or := strings.Split(e.Name, ":"), ""
	if len(e.Aliases) > 0 {
		or = fmt.Sprintf(" (or %s, which %s the same runs at each level)", strings.Join(e.Aliases, " or "),
			map[bool]string{true: "has", false: "have"}[len(e.Aliases) == 1])
	}
	switch len(factors) {
	case 1:
		verb, size, from, to := "rises", e.Effect, e.Low, e.High
		if size < 0 {
			verb, size, from, to = "falls", -size, -to, -from
		}
		return fmt.Sprintf("As %s%s goes from its low level to the high one, %s %s by %s (%s to %s).", e.Name, or,
			response, verb, digits(size), digits(from), digits(to))
	case 2:
		return fmt.Sprintf("%s and %s%s depend on each other: the effect of either is %s (%s to %s) more where the other one is at its high level than where it is at the low one.",
			factors[0], factors[1], or, digits(2*e.Effect), digits(2*e.Low), digits(2*e.High))
	}
	return fmt.Sprintf("%s%s, which depend on each other, have an interaction of %s (%s to %s).",
		strings.Join(factors, ", "), or, digits(e.Effect), digits(e.Low), digits(e.High))
}

// aliased is an effect's name, with those that have the same runs at each level.
func aliased(e *doe.Effect) string {
	switch n := len(e.Aliases); n {
	case 0:
		return e.Name
	case 1:
		return e.Name + " = " + e.Aliases[0]
	default:
		return fmt.Sprintf("%s and %d aliases", e.Name, n)
	}
}

func digits(x float64) string { return fmt.Sprintf("%.4g", x) }

func signed(x float64) string {
	if x == 0 || math.IsNaN(x) {
		return "0"
	}
	return fmt.Sprintf("%+.4g", x)
}

func probability(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
