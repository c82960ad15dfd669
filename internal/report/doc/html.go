package doc

import (
	_ "embed"
	"html/template"
	"io"
	"regexp"
	"strings"

	"qinst.dev/internal/measure"
)

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Parse(pageHTML))

// Look is the style of a page and the script of its figures.
type Look struct {
	Style  template.CSS
	Script template.JS
}

// WriteHTML writes a report as a page that needs nothing else. Figures have names of the program's,
// too, and all of them are to be visible: line breaks and tabs are the only characters of that kind
// that are its own.
func (d *Doc) WriteHTML(w io.Writer, look Look) error {
	var b strings.Builder
	err := page.Execute(&b, struct {
		*Doc
		Look
	}{d, look})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, ownSpace.ReplaceAllStringFunc(b.String(), measure.Visible))
	return err
}

// ownSpace matches what is between line breaks and tabs.
var ownSpace = regexp.MustCompile(`[^\n\t]+`)

// Shown is the figure of a section, "" if it has none.
func (s *Section) Shown() template.HTML { return s.figure }

// Headed reports whether the table has a head.
func (t *Table) Headed() bool { return t.headed() }

// IsLeft reports whether a column is aligned to the left.
func (t *Table) IsLeft(i int) bool { return i == 0 || t.Columns[i].Left }

// Sorts reports whether a cell has a number to sort by.
func (c Cell) Sorts() bool { return c.Unit != "" }

// Full returns the full name if a terminal shows only a part of it.
func (c Cell) Full() string {
	if s, ok := c.Value.(string); ok {
		return s
	}
	return ""
}
