package policy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/RESULTS.md")

// section is a file of results: what was measured together.
type section struct {
	Title        string        `json:"title"`
	Machine      string        `json:"machine"`
	Date         string        `json:"date"`
	Commit       string        `json:"commit"`
	Text         []string      `json:"text"`
	Measurements []measurement `json:"measurements"`
	Tables       []struct {
		Columns []string   `json:"columns"`
		Rows    [][]string `json:"rows"`
	} `json:"tables"`
	Remarks []string `json:"remarks"`
}

// measurement is a row. Machine, date and commit are the section's where it has none of its own.
type measurement struct {
	What    string `json:"what"`
	Command string `json:"command"`
	Value   string `json:"value"`
	Spread  string `json:"spread"` // from the least to the most of the runs, where Value is a median
	Target  string `json:"target"`
	Machine string `json:"machine"`
	Date    string `json:"date"`
	Commit  string `json:"commit"`
}

const resultsHead = `# Results

` + "`go test ./internal/policy -run TestResults -update`" + ` writes this page from ` + "`results/*.json`" + `: a file for what was measured
together, a row for each measurement. *Target* is what the measurement was to reach; "not reached" stands in the value. Neighbours on
shared machines move every number: ranges are the medians of several runs. ` + "`results/summary.json`" + ` selects the numbers
of the first section.
`

// The page of results is made from the measurements, and every one has its command.
func TestResults(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "results", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files of results (%v)", len(files), err)
	}
	var out bytes.Buffer
	sections := map[string]section{}
	for _, file := range files {
		if filepath.Base(file) == summaryFile {
			continue
		}
		var s section
		readStrictly(t, file, &s)
		if err := s.check(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		s.write(&out)
		sections[filepath.Base(file)] = s
	}
	head := bytes.NewBufferString(resultsHead)
	if err := readSummary(t).write(head, sections); err != nil {
		t.Fatalf("%s: %v", summaryFile, err)
	}
	text := append(head.Bytes(), out.Bytes()...)
	page := filepath.Join(root, "docs", "RESULTS.md")
	if *update {
		if err := os.WriteFile(page, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, text) {
		t.Errorf("%s is not what results/*.json say; -update writes it", page)
	}
}

var day = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

func (s *section) check() error {
	if s.Title == "" || s.Machine == "" || s.Commit == "" || !day.MatchString(s.Date) {
		return fmt.Errorf("found title %q, machine %q, commit %q, date %q; expected all of them", s.Title, s.Machine,
			s.Commit, s.Date)
	}
	if len(s.Measurements)+len(s.Tables) == 0 {
		return fmt.Errorf("found no measurements")
	}
	for _, m := range s.Measurements {
		if m.What == "" || m.Command == "" || m.Value == "" || m.Date != "" && !day.MatchString(m.Date) {
			return fmt.Errorf("found what %q, command %q, value %q, date %q; expected the first three, and a date as 2026-11-23", m.What, m.Command, m.Value, m.Date)
		}
	}
	return nil
}

func (s *section) write(w *bytes.Buffer) {
	fmt.Fprintf(w, "\n## %s\n\n%s, commit %s: %s.\n", s.Title, s.Date, s.Commit, s.Machine)
	for _, p := range s.Text {
		fmt.Fprintf(w, "\n%s\n", p)
	}
	if len(s.Measurements) > 0 {
		fmt.Fprint(w, "\n| what | command | measured | target |\n|---|---|---|---|\n")
	}
	for _, m := range s.Measurements {
		value := m.Value
		if m.Spread != "" {
			value += " (" + m.Spread + ")"
		}
		for _, own := range []string{m.Machine, m.Date, m.Commit} {
			if own != "" {
				value += "; " + own
			}
		}
		fmt.Fprintf(w, "| %s |\n", row([]string{m.What, m.Command, value, m.Target}))
	}
	for _, t := range s.Tables {
		fmt.Fprintf(w, "\n| %s |\n|%s\n", strings.Join(t.Columns, " | "), strings.Repeat("---|", len(t.Columns)))
		for _, r := range t.Rows {
			fmt.Fprintf(w, "| %s |\n", row(r))
		}
	}
	for _, p := range s.Remarks {
		fmt.Fprintf(w, "\n%s\n", p)
	}
}

// row joins the cells of a row. A bar within a cell must be escaped, or it would end the cell.
func row(cells []string) string {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(c, `\|`, "|"), "|", `\|`)
	}
	return strings.Join(escaped, " | ")
}

// readStrictly reads a JSON file into v, which must have all of its fields.
func readStrictly(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
