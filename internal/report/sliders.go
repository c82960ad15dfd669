package report

import (
	"fmt"
	"strings"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/measure"
)

// speedups are bars by number of processors: the speed-up, its interval, and the speed-up if all
// processors were in use.
type speedups struct {
	Height int
	Bars   []speedupBar
}

type speedupBar struct {
	Procs, Text          string
	Y                    int
	Ideal, Width, Lo, Hi float64
}

func newSpeedups(r *predict.Result) *speedups {
	const wide, high = 800., 26
	most := 1.
	for _, of := range r.Runs {
		most = max(most, float64(of.Procs))
	}
	f := &speedups{Height: high * len(r.Runs)}
	at := func(ns int64) float64 { return min(wide, float64(r.T1)/float64(max(ns, 1))/most*wide) }
	for i, of := range r.Runs {
		f.Bars = append(f.Bars, speedupBar{Procs: fmt.Sprint(of.Procs),
			Text: fmt.Sprintf("%.2f, %s", of.Speedup, measure.Time(of.T)), Y: i * high,
			Ideal: float64(of.Procs) / most * wide, Width: at(of.T), Lo: at(of.Hi), Hi: at(of.Lo)})
	}
	return f
}

// slider is a change of one procedure that was computed for several shares.
type slider struct {
	Name   string
	Procs  string
	Points string // share and T in ns by it, separated: "0:100 10:95"
}

func newSliders(changes []predict.Change) (list []slider) {
	index := map[string]int{}
	for _, c := range changes {
		name, share, _ := strings.Cut(c.Change, "=-")
		percent, ok := strings.CutSuffix(share, "%")
		if !ok || c.Unknown != "" {
			continue
		}
		key := fmt.Sprint(name, c.Procs)
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key] = i
			list = append(list, slider{measure.Visible(strings.TrimPrefix(name, "self:")), processors(c.Procs),
				fmt.Sprintf("0:%d", c.T+c.Gain)})
		}
		list[i].Points += fmt.Sprintf(" %s:%d", percent, c.T)
	}
	return list
}
