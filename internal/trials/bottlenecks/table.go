package bottlenecks

import (
	"fmt"

	"qinst.dev/internal/trials/bench"
)

// tableOfCases has a row for each case.
func tableOfCases() bench.Table {
	return bench.Table{Columns: []string{"field trials", "bottleneck", "place", "shown", "true", "",
		"in profile by processor", "in profile of waits"}}
}

// row is an outcome in the table.
func (o *outcome) row() []string {
	if o.k.subject == nil {
		said, shown, truth := "nothing", "", ""
		switch {
		case !o.right():
			said = "NOT: " + o.first.ID + " " + o.first.Subject.Name
		case o.first.ID != "":
			share, _, _ := interval("of processor time")(o.first)
			said, shown, truth = "the collector, truly", percent(share), percent(o.gc)
		}
		return []string{o.p.name, o.k.name, said, shown, truth, "", "", ""}
	}
	shown, verdict := o.k.number(o.shown), ""
	if o.hi > 0 {
		shown += fmt.Sprintf(" (%s to %s)", o.k.number(o.lo), o.k.number(o.hi))
	}
	switch {
	case !o.right():
		shown, verdict = "", "NOT: "+o.first.ID+" "+o.first.Subject.Name
	case !o.close():
		verdict = "number"
	}
	return []string{o.p.name, o.k.name, rank(o.rank), shown, o.k.number(o.truth), verdict, rank(o.cpu), rank(o.sync)}
}

func rank(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// summary counts the cases that came out right, by kind.
func summary(all []outcome) bench.Table {
	t := bench.Table{Columns: []string{"field trials by kind", "cases", "first or second", "number right",
		"in profile by processor", "in profile of waits"}}
	for _, k := range kinds {
		var cases, right, numbers, cpu, sync int
		for i := range all {
			if o := &all[i]; o.k.name == k.name {
				cases++
				right += one(o.right())
				numbers += one(o.right() && o.close())
				cpu += one(o.cpu == 1 || o.cpu == 2)
				sync += one(o.sync == 1 || o.sync == 2)
			}
		}
		row := []string{k.name, fmt.Sprint(cases), fmt.Sprint(right), fmt.Sprint(numbers), fmt.Sprint(cpu),
			fmt.Sprint(sync)}
		if k.subject == nil {
			row = []string{k.name + ": no conclusion", fmt.Sprint(cases), fmt.Sprint(right), "", "", ""}
		}
		if cases > 0 {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// screens says how many first screens fit 40 lines of 100 columns.
func screens(all []outcome) string {
	fit := 0
	for i := range all {
		fit += one(all[i].lines <= 40 && all[i].width <= 100)
	}
	return fmt.Sprintf("%d of %d first screens fit 40 lines of 100 columns", fit, len(all))
}
