package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"qinst.dev/internal/measure"
	"qinst.dev/internal/stats"
	"qinst.dev/report/doc"
)

// CheckRun is what one run of a program told, in one mode.
type CheckRun struct {
	Wall, CPU  int64 // ns, of the whole process
	Procedures map[string]CheckProc
}

// CheckProc is what it told of one procedure.
type CheckProc struct {
	Calls uint64
	Took  int64 // ns, of all calls, with what they called and waited for
	Timed bool  // Took is known of every call
}

// checkWithin is how far times may differ from the median of the modes.
const checkWithin = 0.05

// Check compares what modes tell of the same program: counts must be equal, times
// within five percent. Of several runs the medians are shown.
func Check(w io.Writer, modes []string, runs map[string][]CheckRun) error {
	names := checkNames(modes, runs)
	t := doc.NewTable(append([]string{"of the process"}, modes...)...)
	t.Row(checkRow("wall", modes, runs, func(r CheckRun) (int64, bool) { return r.Wall, true }, measure.Time[int64])...)
	t.Row(checkRow("processor time", modes, runs, func(r CheckRun) (int64, bool) { return r.CPU, true }, measure.Time[int64])...)
	if err := t.WriteText(w, ""); err != nil {
		return err
	}
	counts := doc.NewTable(append([]string{"calls"}, modes...)...)
	times := doc.NewTable(append(append([]string{"time of all calls"}, modes...), "differ")...)
	unequal, apart := 0, 0
	for _, name := range names {
		calls := checkRow(measure.Short(name, nameWidth), modes, runs, func(r CheckRun) (int64, bool) {
			p, ok := r.Procedures[name]
			return int64(p.Calls), ok
		}, func(n int64) string { return measure.Count(n) })
		if slices.ContainsFunc(calls[1:], func(c any) bool { return c != calls[1] }) {
			unequal++
			calls = append(calls, "not equal")
		}
		counts.Row(calls...)
		took := func(r CheckRun) (int64, bool) { p := r.Procedures[name]; return p.Took, p.Timed }
		row := checkRow(measure.Short(name, nameWidth), modes, runs, took, measure.Time[int64])
		d := checkSpread(modes, runs, took)
		if d > checkWithin {
			apart++
		}
		if d >= 0 {
			row = append(row, fmt.Sprintf("%.1f%%", 100*d))
		}
		times.Row(row...)
	}
	for _, t := range []*doc.Table{counts, times} {
		fmt.Fprintln(w)
		if err := t.WriteText(w, ""); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%d of %d procedures have calls that are not equal, %d times that differ by more than %.0f%%\n", unequal, len(names), apart, 100*checkWithin)
	return err
}

// checkNames are the procedures that take most time.
func checkNames(modes []string, runs map[string][]CheckRun) []string {
	took := map[string]int64{}
	for _, m := range modes {
		for _, r := range runs[m] {
			for name, p := range r.Procedures {
				took[name] = max(took[name], p.Took)
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(took), func(a, b string) int { return cmp.Or(cmp.Compare(took[b], took[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), top)]
}

func checkRow(name string, modes []string, runs map[string][]CheckRun, value func(CheckRun) (int64, bool), format func(int64) string) []any {
	row := []any{name}
	for _, m := range modes {
		cell := "-"
		if v, ok := checkMedian(runs[m], value); ok {
			cell = format(v)
		}
		row = append(row, cell)
	}
	return row
}

func checkMedian(runs []CheckRun, value func(CheckRun) (int64, bool)) (int64, bool) {
	var list []int64
	for _, r := range runs {
		if v, ok := value(r); ok {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	return stats.Median(list), true
}

// checkSpread is how far the modes' medians lie apart, as a share of the least; -1 if
// fewer than two know the value.
func checkSpread(modes []string, runs map[string][]CheckRun, value func(CheckRun) (int64, bool)) float64 {
	var list []int64
	for _, m := range modes {
		if v, ok := checkMedian(runs[m], value); ok && v > 0 {
			list = append(list, v)
		}
	}
	if len(list) < 2 {
		return -1
	}
	least, most := slices.Min(list), slices.Max(list)
	return float64(most-least) / float64(least)
}
