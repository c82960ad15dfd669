package report

import (
	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/report/doc"
)

// CriticalPage is the page for a browser: the sections of [Critical], the run over time, the path
// through goroutines, and the gains of changes.
func CriticalPage(p *steps.Program, r *critpath.Result, f *advice.Facts, gains []predict.Change) (*doc.Doc, error) {
	d := Critical(r, f)
	if r.Replay == 0 {
		return d, nil
	}
	if !r.Computed {
		if err := figure(d, running(p), "running", "Running and ready"); err != nil {
			return nil, err
		}
	}
	if err := figure(d, newGantt(p, r), "gantt", "Goroutines, and the path through them"); err != nil {
		return nil, err
	}
	if sliders := newSliders(gains); len(sliders) > 0 {
		return d, figure(d, sliders, "sliders", "What if")
	}
	return d, nil
}
