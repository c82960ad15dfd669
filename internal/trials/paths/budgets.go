package paths

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

// callers are programs that call much, with arguments for two seconds, and for less where all is
// traced.
var callers = []struct{ name, arg, whole string }{{"goldmark", "4000", "700"}, {"toml", "3000", "500"},
	{"interp", "24000", "4000"}}

const (
	topOf = 5
	turns = 3
)

// budgets compares the path at the default budget with that of a complete trace.
func (t *trial) budgets() (bench.Table, error) {
	table := bench.Table{Columns: []string{"program", "the same first", "first five off by", "interval has it"}}
	for _, c := range callers {
		whole, err := t.shares("budget=off,limit=0", c.name, c.whole)
		if err != nil {
			return table, err
		}
		same, most, within, all := 0, 0., 0, 0
		for range turns {
			some, err := t.shares("", c.name, c.arg)
			if err != nil {
				return table, err
			}
			if whole[0].name == some[0].name {
				same++
			}
			for _, x := range whole[:min(topOf, len(whole))] {
				y := share{}
				if i := slices.IndexFunc(some, func(y share) bool { return y.name == x.name }); i >= 0 {
					y = some[i]
				}
				most = max(most, 100*math.Abs(x.of-y.of))
				if all++; x.of >= y.lo && x.of <= y.hi {
					within++
				}
			}
		}
		table.Rows = append(table.Rows, []string{c.name, fmt.Sprintf("%d of %d", same, turns),
			fmt.Sprintf("%.1f points", most), fmt.Sprintf("%d of %d", within, all)})
	}
	return table, nil
}

// share is a procedure's of all procedures' time on the path.
type share struct {
	name       string
	of, lo, hi float64
}

// shares are those of a run, the largest first.
func (t *trial) shares(settings, program, arg string) (list []share, err error) {
	var r critpath.Result
	err = t.Turns(1, []lab.Case{{Name: program, Job: t.job(settings, program, arg)}}, func(run lab.Result) error {
		return t.Ask(&r, "critical", "-json", run.Trace)
	})
	if err != nil {
		return nil, err
	}
	all := 0.
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == critpath.KindProc && e.Name[0] != '[' {
			all += float64(e.Self)
			x := share{e.Name, float64(e.Self), float64(e.Self), float64(e.Self)}
			if e.Interval != nil {
				x.lo, x.hi = float64(e.Interval[0]), float64(e.Interval[1])
			}
			list = append(list, x)
		}
	}
	for i := range list {
		list[i].of, list[i].lo, list[i].hi = list[i].of/all, list[i].lo/all, list[i].hi/all
	}
	slices.SortStableFunc(list, func(a, b share) int { return cmp.Compare(b.of, a.of) })
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: found no procedure on the path", program)
	}
	return list, nil
}
