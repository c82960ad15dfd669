package experiment

import (
	"strings"

	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/report"
)

// alpha is the probability that any effect is found where there is none.
const alpha = 0.05

// ofTable is an experiment whose runs were made by hand, as qinst doe fit evaluates it.
func ofTable(d *doe.Data) (*Experiment, error) {
	f, err := d.Fit(doe.Method{}, alpha)
	if err != nil {
		return nil, err
	}
	p := Plan{Title: "Which factors matter", Factors: []Factor{}, Runs: []Run{}, Parts: []Part{}}
	for _, name := range d.Factors {
		p.Factors = append(p.Factors, Factor{Name: name, Low: "-1", High: "1"})
	}
	var found []string
	for _, e := range f.Effects {
		part := Part{Names: strings.Split(e.Name, ":"), Measured: About(e.Effect, e.SE, e.Low, e.High),
			Found: e.Significant, Verdict: "no more than noise"}
		if e.Significant {
			found, part.Verdict = append(found, e.Name), "significant"
		}
		if len(part.Names) > 1 {
			part.Note = halved + " "
		}
		if len(e.Aliases) > 0 {
			part.Note += "or " + strings.Join(e.Aliases, " or ") + ", which this plan does not tell apart"
		}
		p.Parts = append(p.Parts, part)
	}
	left, deviation := d.Residuals(f, found)
	p.Deviation = deviation
	for i, r := range d.Runs {
		p.Runs = append(p.Runs, Run{r.Block, signs(r.Levels), r.Response, &left[i]})
	}
	page := report.Effects(f, d.Response, alpha)
	return &Experiment{Version: Version, Kind: Kind, By: "qinst doe", Response: d.Response,
		Said: texts(page.Sections[0], true), Plans: []Plan{p}}, nil
}
