// Package doc is the model of a report: sections of statements, lists and tables, whose cells
// keep their numbers and units. It has a renderer each for a terminal, for Markdown, for HTML and
// for JSON. What a report says is decided where it is built; how it looks is decided here.
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
}

// Section is a part of a report. The first one has no title: it is what a reader sees first.
type Section struct {
	ID     string  `json:"id"` // stable
	Title  string  `json:"title,omitempty"`
	Blocks []Block `json:"blocks"`

	figure template.HTML // in place of the blocks where pictures can be shown
}

// Block is one of its fields.
type Block struct {
	Text  *Text    `json:"text,omitempty"`
	List  []string `json:"list,omitempty"` // in order of importance
	Table *Table   `json:"table,omitempty"`
}

// Kind is what a statement is about.
type Kind string

// Kinds of statements.
const (
	Plain   Kind = ""
	Note    Kind = "note"    // something that the report cannot say, or what its numbers rest on
	Warning Kind = "warning" // something that makes numbers doubtful
)

// Text is a statement.
type Text struct {
	Kind  Kind   `json:"kind,omitempty"`
	Level int    `json:"level,omitempty"` // of indentation
	Text  string `json:"text"`
}

// Table is rows of cells. Its head is empty where the cells speak for themselves.
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

// Cell is a value and how people read it.
type Cell struct {
	Text  string
	Value any // nil: the text is all there is
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

// Say adds a statement.
func (s *Section) Say(format string, args ...any) { s.say(Plain, 0, format, args...) }

// Detail adds a statement that belongs to the one before.
func (s *Section) Detail(format string, args ...any) { s.say(Plain, 1, format, args...) }

// Note adds a statement about the report itself.
func (s *Section) Note(format string, args ...any) { s.say(Note, 0, format, args...) }

// Warn adds a warning.
func (s *Section) Warn(format string, args ...any) { s.say(Warning, 0, format, args...) }

func (s *Section) say(kind Kind, level int, format string, args ...any) {
	s.Blocks = append(s.Blocks, Block{Text: &Text{kind, level, fmt.Sprintf(format, args...)}})
}

// List adds a list; nothing if it is empty.
func (s *Section) List(items []string) {
	if len(items) > 0 {
		s.Blocks = append(s.Blocks, Block{List: items})
	}
}

// Table adds a table; nothing if it has no rows.
func (s *Section) Table(t *Table) {
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, Block{Table: t})
	}
}

// Figure sets what a renderer with pictures shows in place of the section's blocks.
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

// Time is a cell of a time.
func Time[T ~int64](ns T) Cell { return Cell{measure.Time(ns), int64(ns), "ns"} }

// Share is a cell of a part of a whole.
func Share(part, whole int64) Cell {
	return Cell{measure.Percent(part, whole), measure.Ratio(part, whole), "share"}
}

// Count is a cell of a number of things.
func Count[T int | int64 | uint64](n T) Cell { return Cell{measure.Count(n), n, "count"} }

// Name is a cell of a name, which a terminal shows in at most so many letters.
func Name(name string, width int) Cell { return Cell{measure.Short(name, width), name, ""} }
