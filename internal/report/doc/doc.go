// Package doc is the model of a report: sections of statements, lists and tables, whose cells
// keep their numbers and units. It has a renderer each for a terminal, for Markdown, for HTML and
// for JSON. The code that builds a report decides its contents; this package decides only its
// form.
package doc

import (
	"fmt"
	"html/template"
	"slices"

	"qinst.dev/internal/measure"
)

// Doc is a report.
type Doc struct {
	Title    string     `json:"title"`
	Sections []*Section `json:"sections"`

	// Columns is the width that statements are broken for, 0 for the usual one.
	Columns int `json:"-"`
	// Width is that of the terminal that tables must fit; 0: they are as wide as they are.
	Width int `json:"-"`
	// Coloured makes headings bold and warnings yellow, for a terminal that can. All other text is
	// visible: what names contain moves no cursor.
	Coloured bool `json:"-"`
}

// Section is a part of a report. The first one has no title, because it is the summary that a
// reader sees first.
type Section struct {
	ID     string  `json:"id"` // stable
	Title  string  `json:"title,omitempty"`
	Blocks []Block `json:"blocks"`

	figure template.HTML // replaces the blocks in renderers with pictures
}

// Block is one of its fields.
type Block struct {
	Text  *Text    `json:"text,omitempty"`
	List  []string `json:"list,omitempty"` // in order of importance
	Table *Table   `json:"table,omitempty"`
}

// Kind is the kind of a statement.
type Kind string

// Kinds of statements.
const (
	Plain   Kind = ""
	Note    Kind = "note"    // a limit of the report, or an assumption behind its numbers
	Warning Kind = "warning" // something that makes numbers doubtful
)

// Text is a statement.
type Text struct {
	Kind  Kind   `json:"kind,omitempty"`
	Level int    `json:"level,omitempty"` // of indentation
	Text  string `json:"text"`
}

// Table is rows of cells. Its head is empty if the cells need no explanation.
type Table struct {
	Columns []Column `json:"columns"`
	Rows    [][]Cell `json:"rows"`
	Level   int      `json:"level,omitempty"`
}

// Column is the head of a column.
type Column struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"` // of its values: ns, share, count, bytes
	Left bool   `json:"-"`              // aligned so
}

// Cell is a value and its form for people.
type Cell struct {
	Text  string
	Value any // nil: there is only the text
	Unit  string
}

// Add appends a section.
func (d *Doc) Add(id, title string) *Section {
	s := &Section{ID: id, Title: title}
	d.Sections = append(d.Sections, s)
	return s
}

// Section returns the section of an id, nil if there is none.
func (d *Doc) Section(id string) *Section {
	if i := slices.IndexFunc(d.Sections, func(s *Section) bool { return s.ID == id }); i >= 0 {
		return d.Sections[i]
	}
	return nil
}

// Short is the section with the first rows of its tables.
func (s *Section) Short(rows int) *Section {
	short := *s
	short.Blocks = slices.Clone(s.Blocks)
	for i, b := range short.Blocks {
		if b.Table != nil && len(b.Table.Rows) > rows {
			t := *b.Table
			t.Rows = t.Rows[:rows]
			short.Blocks[i].Table = &t
		}
	}
	return &short
}

// Say adds a statement.
func (s *Section) Say(format string, args ...any) { s.say(Plain, 0, format, args...) }

// Detail adds a statement that belongs to the one before.
func (s *Section) Detail(format string, args ...any) { s.say(Plain, 1, format, args...) }

// Note adds a statement about the report itself.
func (s *Section) Note(format string, args ...any) { s.say(Note, 0, format, args...) }

// Warn adds a warning.
func (s *Section) Warn(format string, args ...any) { s.say(Warning, 0, format, args...) }

func (s *Section) say(kind Kind, level int, format string, args ...any) {
	s.Blocks = append(s.Blocks, Block{Text: &Text{kind, level, measure.Visible(fmt.Sprintf(format, args...))}})
}

// List adds a list; nothing if it is empty.
func (s *Section) List(items []string) {
	if len(items) == 0 {
		return
	}
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = measure.Visible(item)
	}
	s.Blocks = append(s.Blocks, Block{List: list})
}

// Table adds a table; nothing if it has no rows.
func (s *Section) Table(t *Table) {
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, Block{Table: t})
	}
}

// Figure sets the HTML that a renderer with pictures shows instead of the section's blocks.
func (s *Section) Figure(html template.HTML) { s.figure = html }

// NewTable starts a table with a head; columns after the first are aligned to the right.
func NewTable(names ...string) *Table {
	t := &Table{}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	return t
}

// Left aligns columns to the left, by number from 0 on.
func (t *Table) Left(columns ...int) *Table {
	for _, i := range columns {
		t.column(i).Left = true
	}
	return t
}

func (t *Table) column(i int) *Column {
	for len(t.Columns) <= i {
		t.Columns = append(t.Columns, Column{})
	}
	return &t.Columns[i]
}

// Row adds a row: of cells, and of strings, which are cells without a value.
func (t *Table) Row(cells ...any) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case Cell:
			row[i] = c
		case string:
			row[i] = Cell{Text: c}
		default:
			row[i] = Cell{Text: fmt.Sprint(c), Value: c}
		}
		row[i].Text = measure.Visible(row[i].Text)
		if col := t.column(i); col.Unit == "" {
			col.Unit = row[i].Unit
		}
	}
	t.Rows = append(t.Rows, row)
}

// headed reports whether the table has a head.
func (t *Table) headed() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name != "" })
}

// Time returns a cell for a time.
func Time[T ~int64](ns T) Cell { return Cell{measure.Time(ns), int64(ns), "ns"} }

// Share returns a cell for a part of a whole.
func Share(part, whole int64) Cell {
	return Cell{measure.Percent(part, whole), measure.Ratio(part, whole), "share"}
}

// Count returns a cell for a number of things.
func Count[T int | int64 | uint64](n T) Cell { return Cell{measure.Count(n), n, "count"} }

// Name returns a cell for a name, which a terminal shortens to width letters.
func Name(name string, width int) Cell {
	return Cell{measure.Short(measure.Visible(name), width), name, ""}
}
