package policy

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// summaryFile selects the numbers that the page of results begins with.
const summaryFile = "summary.json"

const (
	numbersInSummary = 10
	mostSummaryLines = 40 // one screen
)

// summary is the selection. It has questions and references; the figures are those of the sections.
type summary struct {
	Title   string   `json:"title"`
	Text    []string `json:"text"`
	Numbers []number `json:"numbers"`
}

// number is one of them. Command and target are its first measurement's unless it has its own.
type number struct {
	Question string `json:"question"`
	File     string `json:"file"`
	Parts    []part `json:"parts"`
	Command  string `json:"command"`
	Target   string `json:"target"`
	Reached  *bool  `json:"reached"` // nil: by the limit of the parts

	// These are set only for a number without a section, whose data was not kept.
	Measured string `json:"measured"`
	Source   string `json:"source"`
	Machine  string `json:"machine"`
	Date     string `json:"date"`
	Commit   string `json:"commit"`
}

// part is a figure: some words of a measurement's value, or the distribution of a table's column.
type part struct {
	Label string `json:"label"`
	File  string `json:"file"` // that of the number if it is ""

	Measurement string `json:"measurement"` // how its description begins
	Quote       string `json:"quote"`       // the words

	Table  string   `json:"table"` // the head of its first column
	Column string   `json:"column"`
	Span   bool     `json:"span"` // take the widths of "(a to b)" and not the first numbers
	Unit   string   `json:"unit"`
	Of     string   `json:"of"`    // what the rows are
	Limit  *float64 `json:"limit"` // count the rows that are not above it
}

// write writes the table.
func (s *summary) write(w *bytes.Buffer, sections map[string]section) error {
	if len(s.Numbers) != numbersInSummary {
		return fmt.Errorf("found %d numbers, expected %d", len(s.Numbers), numbersInSummary)
	}
	start := bytes.Count(w.Bytes(), []byte("\n"))
	fmt.Fprintf(w, "\n## %s\n", s.Title)
	for _, p := range s.Text {
		fmt.Fprintf(w, "\n%s\n", p)
	}
	fmt.Fprint(w, "\n| number | measured | target | command | section, date, commit, machine |\n")
	fmt.Fprint(w, "|---|---|---|---|---|\n")
	for _, n := range s.Numbers {
		cells, err := n.cells(sections)
		if err != nil {
			return fmt.Errorf("%q: %w", n.Question, err)
		}
		fmt.Fprintf(w, "| %s |\n", row(cells))
	}
	if lines := bytes.Count(w.Bytes(), []byte("\n")) - start; lines > mostSummaryLines {
		return fmt.Errorf("found %d lines, expected %d at most", lines, mostSummaryLines)
	}
	return nil
}

var inCommand = regexp.MustCompile(`,? commits? ([0-9a-f]{7}(?: and [0-9a-f]{7})?)`)

// cells are the columns of a number's row.
func (n *number) cells(sections map[string]section) ([]string, error) {
	if n.Measured != "" {
		return n.own()
	}
	s, ok := sections[n.File]
	if !ok || len(n.Parts) == 0 {
		return nil, fmt.Errorf("found the file %q and %d parts, expected one of results", n.File, len(n.Parts))
	}
	var first *measurement
	var figures []string
	reached := true
	for _, p := range n.Parts {
		from, ok := sections[cmp.Or(p.File, n.File)]
		if !ok {
			return nil, fmt.Errorf("found the file %q, expected one of results", p.File)
		}
		text, m, within, err := p.figure(&from)
		if err != nil {
			return nil, err
		}
		first = cmp.Or(first, m)
		figures = append(figures, strings.TrimSpace(p.Label+" "+text))
		reached = reached && within
	}
	if n.Reached != nil {
		reached = *n.Reached
	}
	if first == nil {
		first = &measurement{}
	}
	command, commit := n.Command, cmp.Or(first.Commit, s.Commit)
	if command == "" {
		command = first.Command
		if at := inCommand.FindStringSubmatchIndex(command); at != nil {
			command, commit = command[:at[0]], command[at[2]:at[3]]
		}
	} else if !s.says(command) {
		return nil, fmt.Errorf("%s does not have the command %s", n.File, command)
	}
	if strings.HasPrefix(command, "go ") {
		command, _, _ = strings.Cut(command, " (")
		command = "`" + command + "`"
	}
	target := cmp.Or(n.Target, first.Target)
	if before, _, found := strings.Cut(target, ": not reached"); found {
		target = before
	}
	if command == "" || target == "" {
		return nil, fmt.Errorf("found the command %q and the target %q, expected both", command, target)
	}
	return []string{n.Question, strings.Join(figures, "; "), met(target, reached), command,
		origin(fmt.Sprintf("[%s](#%s)", s.Title, slug(s.Title)), cmp.Or(first.Date, s.Date), commit,
			cmp.Or(first.Machine, s.Machine))}, nil
}

// own are the columns of a number without a section.
func (n *number) own() ([]string, error) {
	if n.File != "" || n.Reached == nil || !day.MatchString(n.Date) ||
		slices.Contains([]string{n.Command, n.Target, n.Source, n.Machine, n.Commit}, "") {
		return nil, fmt.Errorf("expected command, target, reached, source, machine, date and commit, and no file")
	}
	return []string{n.Question, n.Measured, met(n.Target, *n.Reached), n.Command,
		origin(n.Source, n.Date, n.Commit, n.Machine)}, nil
}

// figure is a part's text and the measurement that it is from, nil if it is from a table. within
// reports whether all rows of a table are within the limit.
func (p *part) figure(s *section) (text string, from *measurement, within bool, err error) {
	if p.Table != "" {
		text, within, err = p.distribution(s)
		return text, nil, within, err
	}
	for i, m := range s.Measurements {
		if !strings.HasPrefix(m.What, p.Measurement) {
			continue
		}
		if from != nil {
			return "", nil, false, fmt.Errorf("found several measurements with %q, expected one", p.Measurement)
		}
		from = &s.Measurements[i]
	}
	switch {
	case from == nil || p.Measurement == "":
		return "", nil, false, fmt.Errorf("found no measurement that begins with %q", p.Measurement)
	case p.Quote == "" || !strings.Contains(from.Value, p.Quote):
		return "", nil, false, fmt.Errorf("found %q, expected %q in it", from.Value, p.Quote)
	}
	return p.Quote, from, true, nil
}

var (
	firstNumber = regexp.MustCompile(`^[+-]?[0-9.]+`)
	interval    = regexp.MustCompile(`\(([+-]?[0-9.]+) to ([+-]?[0-9.]+)\)`)
)

// distribution describes a table's column: its median and range, and the rows within the limit.
func (p *part) distribution(s *section) (text string, within bool, err error) {
	values, err := p.values(s)
	if err != nil {
		return "", false, err
	}
	slices.Sort(values)
	n := len(values)
	median := (values[(n-1)/2] + values[n/2]) / 2
	text = fmt.Sprintf("median %s %s (%s to %s)", decimal(median), p.Unit, decimal(values[0]), decimal(values[n-1]))
	if p.Limit == nil {
		return text, true, nil
	}
	few := 0
	for _, v := range values {
		if v <= *p.Limit {
			few++
		}
	}
	return fmt.Sprintf("%s; %d of %d %s at %s %s or less", text, few, n, p.Of, decimal(*p.Limit), p.Unit), few == n, nil
}

// values are the numbers of a table's column.
func (p *part) values(s *section) (values []float64, err error) {
	for _, t := range s.Tables {
		column := slices.Index(t.Columns, p.Column)
		if t.Columns[0] != p.Table || column < 0 {
			continue
		}
		for _, r := range t.Rows {
			v, err := number64(r[column], p.Span)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		return values, nil
	}
	return nil, fmt.Errorf("found no table %q with a column %q", p.Table, p.Column)
}

// number64 is the number that a cell begins with, or the width of the interval in it.
func number64(cell string, span bool) (float64, error) {
	if !span {
		return strconv.ParseFloat(firstNumber.FindString(cell), 64)
	}
	m := interval.FindStringSubmatch(cell)
	if m == nil {
		return 0, fmt.Errorf("found %q, expected an interval", cell)
	}
	low, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, err
	}
	high, err := strconv.ParseFloat(m[2], 64)
	return high - low, err
}

// decimal writes a number with one decimal at most.
func decimal(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64) // a negative 0 becomes 0
}

// says reports whether a section has these words in its text or commands.
func (s *section) says(words string) bool {
	return slices.ContainsFunc(s.Text, func(p string) bool { return strings.Contains(p, words) }) ||
		slices.ContainsFunc(s.Measurements, func(m measurement) bool { return strings.Contains(m.Command, words) })
}

// met is a target, and whether it is reached.
func met(target string, reached bool) string {
	if reached {
		return target
	}
	return target + ": **not reached**"
}

// origin is where a number is from. The versions of a machine's software are in its section.
func origin(source, date, commit, machine string) string {
	machine, _, _ = strings.Cut(machine, ", Go ")
	return strings.Join([]string{source, date, commit, machine}, ", ")
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9 -]`)

// slug is the anchor that Markdown gives a heading.
func slug(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// readSummary reads the selection.
func readSummary(t *testing.T) *summary {
	t.Helper()
	var s summary
	readStrictly(t, filepath.Join(root, "results", summaryFile), &s)
	return &s
}

// Figures are those of the measurements: a quotation that these do not have is an error, as is a
// measurement or a table that is missing.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := section{
		Measurements: []measurement{
			{What: "gains in programs", Value: "3 of 4; before 2"},
			{What: "gains in tests", Value: "all"},
		},
	}
	five := 5.0
	s.Tables = append(s.Tables, struct {
		Columns []string   `json:"columns"`
		Rows    [][]string `json:"rows"`
	}{
		Columns: []string{"cost", "pairs"},
		Rows: [][]string{
			{"a", "12.5 (1.5 to 4.0)"}, {"b", "-3.6 (0 to 1)"}, {"c", "+5.0 (-1 to 1)"}, {"d", "0.1 (0 to 9)"},
		},
	})
	for _, c := range []struct {
		part part
		want string // "" for an error
	}{
		{part{Measurement: "gains in p", Quote: "3 of 4"}, "3 of 4"},
		{part{Measurement: "gains in p", Quote: "4 of 4"}, ""},
		{part{Measurement: "gains", Quote: "3 of 4"}, ""},
		{part{Measurement: "losses", Quote: "3"}, ""},
		{part{Table: "cost", Column: "pairs", Unit: "%"}, "median 2.6 % (-3.6 to 12.5)"},
		{part{Table: "cost", Column: "pairs", Unit: "%", Limit: &five, Of: "programs"},
			"median 2.6 % (-3.6 to 12.5); 3 of 4 programs at 5 % or less"},
		{part{Table: "cost", Column: "pairs", Unit: "points", Span: true}, "median 2.3 points (1 to 9)"},
		{part{Table: "cost", Column: "gains"}, ""},
		{part{Table: "cost", Column: "cost"}, ""},
	} {
		got, _, _, err := c.part.figure(&s)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: found %q (%v), expected %q", c.part, got, err, c.want)
		}
	}
}
