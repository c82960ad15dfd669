package doc

import (
	"fmt"
	"slices"
	"strings"
)

// group is columns of a table that are left out together: one with a name, and those after it that
// tell more of the same and have none.
type group struct {
	name        string
	from, until int
	left        bool
}

// groups are those that may be left out, the least important one first. Numbers stand in the order
// of their importance, and tell less than places and reasons. The first column says what a row is
// about, the second one what it is sorted by.
func (t *Table) groups() (list []group) {
	for i, c := range t.Columns {
		switch last := len(list) - 1; {
		case i == 0 || c.Name == "" && c.Left:
		case c.Name == "" && last >= 0 && list[last].until == i:
			list[last].until++
		case c.Name != "":
			list = append(list, group{c.Name, i, i + 1, c.Left})
		}
	}
	if len(list) == 0 {
		return nil
	}
	list = list[1:]
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b group) int {
		switch {
		case a.left == b.left:
			return 0
		case b.left:
			return -1
		}
		return 1
	})
	return list
}

// fit returns the table without the least important columns, so that it is no wider than width, and
// their names. A table without a head is as wide as it is.
func (t *Table) fit(indent string, width int) (_ *Table, without []string) {
	need := len(indent) - gap
	widths := t.widths()
	for i := range t.Columns {
		need += widths[i] + gap
	}
	if width == 0 || need <= width || !t.headed() {
		return t, nil
	}
	out := map[int]bool{}
	var names []group
	for _, g := range t.groups() {
		if need <= width {
			break
		}
		for i := g.from; i < g.until; i++ {
			out[i] = true
			need -= widths[i] + gap
		}
		names = append(names, g)
	}
	slices.SortFunc(names, func(a, b group) int { return a.from - b.from })
	for _, g := range names {
		without = append(without, g.name)
	}
	short := &Table{Level: t.Level}
	for i, c := range t.Columns {
		if !out[i] {
			short.Columns = append(short.Columns, c)
		}
	}
	for _, r := range t.Rows {
		var row []Cell
		for i, c := range r {
			if !out[i] {
				row = append(row, c)
			}
		}
		short.Rows = append(short.Rows, row)
	}
	return short, without
}

// leftOut says which columns a table has besides.
func leftOut(names []string) string {
	return fmt.Sprintf("without %s: a wider terminal, or a pipe, shows all columns", strings.Join(names, ", "))
}
