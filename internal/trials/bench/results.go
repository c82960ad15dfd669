package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Table is a table as files of results have it. The head of its first column names it.
type Table struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Print prints a table.
func (t Table) Print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range slices.Concat([][]string{t.Columns}, t.Rows) {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	_ = w.Flush() // errors of the standard output cannot be reported
	fmt.Println()
}

// Add adds a row, and shows it: the others may take long.
func (t *Table) Add(row []string) {
	t.Rows = append(t.Rows, row)
	fmt.Fprintln(os.Stderr, strings.Join(row, " | "))
}

// File is a file of results, from which docs/RESULTS.md is made. Rows that a trial does not measure
// stay as they are.
type File struct {
	Title        string          `json:"title"`
	Machine      string          `json:"machine"`
	Date         string          `json:"date"`
	Commit       string          `json:"commit"`
	Text         []string        `json:"text,omitempty"`
	Measurements json.RawMessage `json:"measurements,omitempty"`
	Tables       []Table         `json:"tables"`
	Remarks      []string        `json:"remarks,omitempty"`
}

// Read reads a file.
func Read(name string) (k File, err error) {
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	return k, err
}

// Named returns the index of a table, -1 if the file does not have it.
func (k *File) Named(name string) int {
	return slices.IndexFunc(k.Tables, func(t Table) bool { return t.Columns[0] == name })
}

// keep puts tables into a file in the place of the older ones.
func keep(name string, tables []Table) error {
	k, err := Read(name)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if i := k.Named(t.Columns[0]); i >= 0 {
			k.Tables[i] = t
		} else {
			k.Tables = append(k.Tables, t)
		}
	}
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return err
	}
	k.Commit, k.Date = strings.TrimSpace(string(commit)), time.Now().Format(time.DateOnly)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(k); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o666)
}
