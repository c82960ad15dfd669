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
		if err := s.text(out, cmp.Or(d.Columns, columns), d.Coloured); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (s *Section) text(w io.Writer, columns int, coloured bool) error {
	in, style := "", map[Kind]string{}
	if coloured {
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
			if err := b.Table.WriteText(w, in+strings.Repeat(indent, b.Table.Level)); err != nil {
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

// WriteText writes a table, each line after an indent.
func (t *Table) WriteText(w io.Writer, indent string) error {
	rows := t.Rows
	if t.headed() {
		head := make([]Cell, len(t.Columns))
		for i, c := range t.Columns {
			head[i].Text = measure.Visible(c.Name)
		}
		rows = append([][]Cell{head}, rows...)
	}
	width := map[int]int{}
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], len([]rune(c.Text)))
		}
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		line := indent
		for i, c := range r {
			text := c.Text
			if i > 0 {
				line += "\t"
				if !t.Columns[i].Left {
					text = strings.Repeat(" ", width[i]-len([]rune(text))) + text
				}
			}
			line += text
		}
		fmt.Fprintln(tw, strings.TrimRight(line, " \t"))
	}
	return tw.Flush()
}
