package experiment

import (
	"encoding/json"
	"slices"

	"qinst.dev/internal/report/doc"
)

// most is how many runs of a plan are shown at most, and longest how many letters a text has.
const most, longest = 2000, 300

// Within is an experiment that takes no more than a number of bytes as JSON. Some of the runs are
// left out ([Plan.Every]), the last parts ([Plan.More]), and the ends of texts and other lists.
func (x *Experiment) Within(bytes int) *Experiment {
	for n := most; ; n /= 2 {
		y := x.short(n)
		if text, err := json.Marshal(y); n == 0 || err == nil && len(text) <= bytes {
			return y
		}
	}
}

// short is the experiment with n runs of each plan, and fewer of all else.
func (x *Experiment) short(n int) *Experiment {
	y := *x
	for _, text := range []*string{&y.By, &y.Program, &y.Hash, &y.Response, &y.Unit} {
		*text = cut(*text)
	}
	y.Args, y.Said, y.Plans = cuts(x.Args, n/20), said(x.Said, n/20), []Plan{}
	for _, p := range first(x.Plans, n/40) {
		y.Plans = append(y.Plans, p.short(n))
	}
	return &y
}

func (p Plan) short(n int) Plan {
	p.Title, p.Design, p.Said = cut(p.Title), cut(p.Design), said(p.Said, n/20)
	factors, runs, parts := p.Factors, p.Runs, p.Parts
	p.Factors, p.Runs, p.Parts = []Factor{}, []Run{}, []Part{}
	for _, f := range first(factors, n/8) {
		p.Factors = append(p.Factors, Factor{cut(f.Name), cut(f.Kind), cut(f.Low), cut(f.High)})
	}
	every := 1
	if n > 0 {
		every = (len(runs) + n - 1) / n
	}
	for i := 0; n > 0 && i < len(runs); i += every {
		r := runs[i]
		r.Levels = r.Levels[:min(len(r.Levels), len(p.Factors))]
		p.Runs = append(p.Runs, r)
	}
	if every > 1 {
		p.Every = every * max(p.Every, 1)
	}
	for _, x := range first(parts, n/10) {
		x.Names, x.PredictedBy = cuts(x.Names, n/100), cut(x.PredictedBy)
		x.Verdict, x.Note = cut(x.Verdict), cut(x.Note)
		p.Parts = append(p.Parts, x)
	}
	p.More += len(parts) - len(p.Parts)
	return p
}

func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func said(list []*doc.Text, n int) []*doc.Text {
	short := []*doc.Text{}
	for _, x := range first(list, n) {
		short = append(short, &doc.Text{Kind: x.Kind, Level: x.Level, Text: cutAt(x.Text, 4*longest)})
	}
	return short
}

func cuts(list []string, n int) []string {
	list = slices.Clone(first(list, n))
	for i := range list {
		list[i] = cut(list[i])
	}
	return list
}

func cut(text string) string { return cutAt(text, longest) }

// cutAt is the beginning of a text.
func cutAt(text string, letters int) string {
	n := 0
	for i := range text {
		if n++; n > letters {
			return text[:i] + "…"
		}
	}
	return text
}
