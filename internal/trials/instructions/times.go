package instructions

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// again is a second plain case: what it differs from the first is the machine's noise.
const again = "plain again"

// times measures processor time, user and system, of whole processes. In each turn every setting
// runs once, in an order by chance, because otherwise one would always follow the same other.
func (t *trial) times(set []program, turns int) (bench.Table, error) {
	table := bench.Table{Columns: []string{"processor time", "plain, ms", again + ", %"}}
	for _, s := range timed {
		table.Columns = append(table.Columns, s.name+", %")
	}
	for _, p := range set {
		fmt.Fprintln(os.Stderr, "timing", p.name)
		took, err := t.timeOf(p, turns)
		if err != nil {
			return table, err
		}
		plain := took["plain"]
		row := []string{p.what, fmt.Sprintf("%.0f; %.0f", ms(slices.Min(plain)), ms(stats.Median(plain)))}
		for _, name := range slices.Concat([]string{again}, names(timed)) {
			row = append(row, fmt.Sprintf("%+.0f; %+.0f", over(slices.Min(took[name]), slices.Min(plain)),
				over(stats.Median(took[name]), stats.Median(plain))))
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

func names(settings []setting) (list []string) {
	for _, s := range settings {
		list = append(list, s.name)
	}
	return list
}

func ms(d time.Duration) float64          { return float64(d) / float64(time.Millisecond) }
func over(d, plain time.Duration) float64 { return percent(int64(d-plain), int64(plain)) }

// timeOf runs a program in turns, and returns its times by the name of the setting.
func (t *trial) timeOf(p program, turns int) (map[string][]time.Duration, error) {
	cases := []lab.Case{{Name: "plain", Job: t.job(p, nil, p.timed)}, {Name: again, Job: t.job(p, nil, p.timed)}}
	for _, s := range timed {
		cases = append(cases, lab.Case{Name: s.name, Job: t.job(p, &s, p.timed)})
	}
	took := map[string][]time.Duration{}
	for range turns {
		rand.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		err := t.Turns(1, cases, func(r lab.Result) error {
			took[r.Case] = append(took[r.Case], r.CPU)
			return t.same(p, p.timed, r.Stdout)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return took, nil
}
