package doe

import (
	"math"
	"slices"
	"strings"
)

// Residuals are, in the order of the runs, the responses less the mean, the effects of these names,
// and differences between blocks. Their standard deviation is 0 if there are too few runs for one.
func (d *Data) Residuals(f *Fit, effects []string) (list []float64, deviation float64) {
	list = make([]float64, len(d.Runs))
	for i, r := range d.Runs {
		list[i] = r.Response - f.Mean
	}
	for _, x := range f.Effects {
		if slices.Contains(effects, x.Name) {
			d.without(list, &x)
		}
	}
	sum, n := map[int]float64{}, map[int]float64{}
	for i, r := range d.Runs {
		sum[r.Block], n[r.Block] = sum[r.Block]+list[i], n[r.Block]+1
	}
	squares := 0.
	for i, r := range d.Runs {
		list[i] -= sum[r.Block] / n[r.Block]
		squares += list[i] * list[i]
	}
	if df := len(list) - len(n) - len(effects); df > 0 {
		deviation = math.Sqrt(squares / float64(df))
	}
	return list, deviation
}

// without subtracts an effect: half of it, with the sign of the product of its factors' levels.
func (d *Data) without(list []float64, x *Effect) {
	var factors []int
	for name := range strings.SplitSeq(x.Name, ":") {
		factors = append(factors, slices.Index(d.Factors, name))
	}
	for i, r := range d.Runs {
		sign := 1.
		for _, k := range factors {
			sign *= float64(r.Levels[k])
		}
		list[i] -= sign * x.Effect / 2
	}
}
