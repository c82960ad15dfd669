package doc

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"qinst.dev/internal/measure"
)

// indent precedes the contents of a section on a terminal.
const indent = "  "

// WriteText writes a report for a terminal.
func (d *Doc) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	for i, s := range d.Sections {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := s.text(out, d); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (s *Section) text(w io.Writer, d *Doc) error {
	in, style, columns := "", map[Kind]string{}, cmp.Or(d.Columns, columns)
	if d.Coloured {
		style = styles
	}
	if s.Title != "" {
		fmt.Fprintln(w, styled(style[heading], measure.Visible(strings.ToUpper(s.Title))))
		in = indent
	}
	for _, b := range s.Blocks {
		switch {
		case b.Text != nil:
			var lines strings.Builder
			wrapped(&lines, columns, in+strings.Repeat(indent, b.Text.Level), prefixes[b.Text.Kind], b.Text.Text)
			fmt.Fprintln(w, styled(style[b.Text.Kind], strings.TrimSuffix(lines.String(), "\n")))
		case b.Table != nil:
			if err := b.Table.WriteText(w, in+strings.Repeat(indent, b.Table.Level), d.Width); err != nil {
				return err
			}
		}
		for i, item := range b.List {
			wrapped(w, columns, in, fmt.Sprintf("%d. ", i+1), item)
		}
	}
	return nil
}

// heading is the kind of a section's title.
const heading Kind = "heading"

// styles are what a terminal takes to show statements in bold and in yellow, by kind.
var styles = map[Kind]string{heading: "\x1b[1m", Warning: "\x1b[33m"}

// styled returns lines in a style, and as they are without one.
func styled(style, lines string) string {
	if style == "" {
		return lines
	}
	return style + lines + "\x1b[0m"
}

// columns is the usual width of a terminal.
const columns = 100

// wrapped writes a statement in lines that fit a terminal. Its further lines stand below its first
// word.
func wrapped(w io.Writer, columns int, in, prefix, text string) {
	line := in + prefix
	width, start := len([]rune(line)), true
	for word := range strings.SplitSeq(text, " ") {
		n := len([]rune(word))
		switch {
		case start:
			start = false
		case width+1+n > columns:
			fmt.Fprintln(w, line)
			line, width = in+strings.Repeat(" ", len(prefix)), len(in)+len(prefix)
		default:
			line, width = line+" ", width+1
		}
		line, width = line+word, width+n
	}
	fmt.Fprintln(w, line)
}

// prefixes are the words before statements, by kind.
var prefixes = map[Kind]string{Note: "note: ", Warning: "WARNING: "}

// gap is the number of blanks between columns.
const gap = 2

// head is the row of the columns' names.
func (t *Table) head() []Cell {
	head := make([]Cell, len(t.Columns))
	for i, c := range t.Columns {
		head[i].Text = measure.Visible(c.Name)
	}
	return head
}

// widths are those of the columns.
func (t *Table) widths() map[int]int {
	width := map[int]int{}
	for _, r := range append([][]Cell{t.head()}, t.Rows...) {
		for i, c := range r {
			width[i] = max(width[i], len([]rune(c.Text)))
		}
	}
	return width
}

// WriteText writes a table, each line after an indent. On a terminal of some width the least
// important columns are left out that do not fit, and a line says which. For other writers width is
// 0.
func (t *Table) WriteText(w io.Writer, indent string, width int) error {
	t, without := t.fit(indent, width)
	rows := t.Rows
	if t.headed() {
		rows = append([][]Cell{t.head()}, rows...)
	}
	widths := t.widths()
	tw := tabwriter.NewWriter(w, 0, 8, gap, ' ', 0)
	for _, r := range rows {
		line := indent
		for i, c := range r {
			text := c.Text
			if i > 0 {
				line += "\t"
				if !t.Columns[i].Left {
					text = strings.Repeat(" ", widths[i]-len([]rune(text))) + text
				}
			}
			line += text
		}
		fmt.Fprintln(tw, strings.TrimRight(line, " \t"))
	}
	if err := tw.Flush(); err != nil || len(without) == 0 {
		return err
	}
	wrapped(w, width, indent, "", leftOut(without))
	return nil
}
