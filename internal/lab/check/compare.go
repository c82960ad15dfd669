package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/stats"
)

// Run is the result of one run of a program.
type Run struct {
	Wall, CPU  int64 // ns, of the whole process
	Procedures map[string]Procedure
}

// Procedure is the result for one procedure.
type Procedure struct {
	Calls int64
	Took  int64 // ns, of all calls, with callees and waits
	Timed bool  // Took is known of every call
}

// Comparison is the results of all modes for the same program. Values are by mode, as in Modes.
type Comparison struct {
	Modes      []string
	Wall, CPU  []Value // ns
	Procedures []Compared
	Unequal    int // procedures whose numbers of calls differ between modes
	Apart      int // procedures whose times differ by more than within
}

// Value is the median of a mode's runs, if any of them knows it.
type Value struct {
	Median int64
	Known  bool
}

// Compared is one procedure.
type Compared struct {
	Name        string
	Calls, Took []Value // Took in ns
	Equal       bool    // all modes count the same calls
	Differ      float64 // difference of the times, as a share of the least; -1 if fewer than two are known
}

const (
	within  = 0.05 // how far times may differ
	most    = 15   // procedures that are compared: those that take the most time
	letters = 40   // of a name in a table
)

// Compare compares runs by mode. Of several runs in one mode the median counts.
func Compare(modes []string, runs map[string][]Run) *Comparison {
	of := func(value func(Run) (int64, bool)) (list []Value) {
		for _, m := range modes {
			list = append(list, median(runs[m], value))
		}
		return list
	}
	c := &Comparison{Modes: modes}
	c.Wall = of(func(r Run) (int64, bool) { return r.Wall, true })
	c.CPU = of(func(r Run) (int64, bool) { return r.CPU, true })
	for _, name := range longest(runs) {
		p := Compared{Name: name}
		p.Calls = of(func(r Run) (int64, bool) { p, ok := r.Procedures[name]; return p.Calls, ok })
		p.Took = of(func(r Run) (int64, bool) { p := r.Procedures[name]; return p.Took, p.Timed })
		p.Equal = !slices.ContainsFunc(p.Calls, func(v Value) bool { return v != p.Calls[0] })
		if !p.Equal {
			c.Unequal++
		}
		if p.Differ = spread(p.Took); p.Differ > within {
			c.Apart++
		}
		c.Procedures = append(c.Procedures, p)
	}
	return c
}

// longest are the procedures that took most time in any run.
func longest(runs map[string][]Run) []string {
	took := map[string]int64{}
	for _, list := range runs {
		for _, r := range list {
			for name, p := range r.Procedures {
				took[name] = max(took[name], p.Took)
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(took), func(a,
		b string) int {
		return cmp.Or(cmp.Compare(took[b], took[a]), cmp.Compare(a, b))
	})
	return names[:min(len(names), most)]
}

func median(runs []Run, value func(Run) (int64, bool)) Value {
	var list []int64
	for _, r := range runs {
		if v, ok := value(r); ok {
			list = append(list, v)
		}
	}
	return Value{stats.Median(list), len(list) > 0}
}

// spread returns the difference of the values, as a share of the least; -1 if fewer than two are
// known.
func spread(values []Value) float64 {
	var list []int64
	for _, v := range values {
		if v.Median > 0 {
			list = append(list, v.Median)
		}
	}
	if len(list) < 2 {
		return -1
	}
	least, most := slices.Min(list), slices.Max(list)
	return float64(most-least) / float64(least)
}

// Doc is the comparison as a report.
func (c *Comparison) Doc() *doc.Doc {
	d := &doc.Doc{Title: "what modes of recording tell of a program"}
	first := d.Add("process", "")
	first.Say("%d of %d procedures have calls that are not equal, %d times that differ by more than %.0f%%", c.Unequal,
		len(c.Procedures), c.Apart, 100*within)
	process := doc.NewTable(append([]string{"of the process"}, c.Modes...)...)
	process.Row(row("wall", c.Wall, doc.Time[int64])...)
	process.Row(row("processor time", c.CPU, doc.Time[int64])...)
	first.Table(process)
	calls := doc.NewTable(append([]string{"procedure"}, c.Modes...)...)
	times := doc.NewTable(append(append([]string{"procedure"}, c.Modes...), "differ")...)
	for _, p := range c.Procedures {
		cells := row(p.Name, p.Calls, doc.Count[int64])
		if !p.Equal {
			cells = append(cells, "not equal")
		}
		calls.Row(cells...)
		cells = row(p.Name, p.Took, doc.Time[int64])
		if p.Differ >= 0 {
			cells = append(cells, doc.Cell{Text: fmt.Sprintf("%.1f%%", 100*p.Differ), Value: p.Differ, Unit: "share"})
		}
		times.Row(cells...)
	}
	d.Add("calls", "Calls").Table(calls)
	d.Add("times", "Time of all calls").Table(times)
	return d
}

func row(name string, values []Value, cell func(int64) doc.Cell) []any {
	cells := []any{doc.Name(name, letters)}
	for _, v := range values {
		if v.Known {
			cells = append(cells, cell(v.Median))
		} else {
			cells = append(cells, "-")
		}
	}
	return cells
}
