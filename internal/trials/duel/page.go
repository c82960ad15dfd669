package duel

import (
	"fmt"
	"os"
	"strings"

	"qinst.dev/internal/trials/bench"
)

// pageFile is the guide's page about the trial.
const pageFile = "docs/guide/duel.md"

// The page's part between these lines is written with the results.
const (
	tablesBegin = "<!-- These tables are written by go run ./internal/trials duel -update. -->\n"
	tablesEnd   = "<!-- Here they end. -->\n"
)

// withTables is the page with these tables.
func withTables(page string, tables ...bench.Table) (string, error) {
	head, rest, ok := strings.Cut(page, tablesBegin)
	_, tail, ends := strings.Cut(rest, tablesEnd)
	if !ok || !ends {
		return "", fmt.Errorf("found no tables in %s, expected them between %q and %q", pageFile, tablesBegin,
			tablesEnd)
	}
	var b strings.Builder
	b.WriteString(head + tablesBegin)
	for _, t := range tables {
		fmt.Fprintf(&b, "\n| %s |\n|%s\n", strings.Join(t.Columns, " | "), strings.Repeat("---|", len(t.Columns)))
		for _, r := range t.Rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
		}
	}
	return b.String() + "\n" + tablesEnd + tail, nil
}

// writePage writes the page with the tables that it shows.
func writePage(name string, tables []bench.Table) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := withTables(string(data), tables[:shown]...)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o666)
	}
	return err
}

// shown is how many of the tables are on the page. The last one has each answer, and is in the
// results only.
const shown = 2
