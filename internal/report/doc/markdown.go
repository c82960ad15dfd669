package doc

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"qinst.dev/internal/measure"
)

// WriteMarkdown writes a report for a pull request or the summary of a CI run. The sections before
// the first table are open, the others behind a click, because such pages are read from the top.
func (d *Doc) WriteMarkdown(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s\n\n", escape(d.Title))
	folded := false
	for _, s := range d.Sections {
		folded = folded || slices.ContainsFunc(s.Blocks, func(b Block) bool { return b.Table != nil })
		switch {
		case folded:
			fmt.Fprintf(out, "<details><summary>%s</summary>\n\n", escape(s.Title))
		case s.Title != "":
			fmt.Fprintf(out, "## %s\n\n", escape(s.Title))
		}
		s.markdown(out)
		if folded {
			fmt.Fprint(out, "</details>\n\n")
		}
	}
	return out.Flush()
}

func (s *Section) markdown(w io.Writer) {
	for _, b := range s.Blocks {
		switch {
		case b.Text != nil && b.Text.Kind == Plain:
			fmt.Fprintf(w, "%s- %s\n", strings.Repeat(indent, b.Text.Level), escape(b.Text.Text))
		case b.Text != nil:
			fmt.Fprintf(w, "- **%s**: %s\n", b.Text.Kind, escape(b.Text.Text))
		case b.Table != nil:
			b.Table.markdown(w)
		}
		for i, item := range b.List {
			fmt.Fprintf(w, "%d. %s\n", i+1, escape(item))
		}
	}
	fmt.Fprintln(w)
}

func (t *Table) markdown(w io.Writer) {
	fmt.Fprint(w, "\n|")
	for _, c := range t.Columns {
		fmt.Fprintf(w, " %s |", escape(c.Name))
	}
	fmt.Fprint(w, "\n|")
	for i, c := range t.Columns {
		if i == 0 || c.Left {
			fmt.Fprint(w, " --- |")
		} else {
			fmt.Fprint(w, " ---: |")
		}
	}
	for _, r := range t.Rows {
		fmt.Fprint(w, "\n|")
		for i := range t.Columns {
			text := ""
			if i < len(r) {
				text = escape(r[i].Text)
			}
			fmt.Fprintf(w, " %s |", text)
		}
	}
	fmt.Fprint(w, "\n\n")
}

// escape takes the meaning from letters that Markdown, its tables, or HTML within it would take
// as markup: names of programs and procedures are text.
func escape(s string) string { return markup.Replace(measure.Visible(s)) }

var markup = strings.NewReplacer("\\", "\\\\", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "#", "\\#", "[", "\\[",
	"]", "\\]",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "~", "\\~")
