// Package consumers tests exports with those that read them: tables with DuckDB, metrics with the
// parser and linter of Prometheus, spans with the receiver of the OpenTelemetry Collector. It is a
// module of its own, because these are large libraries that nothing else needs: GOWORK=off go test
// ./...
package consumers

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

const root = "../../.."

// The queries of the guide work as they are there, and each has rows.
func TestQueries(t *testing.T) {
	db := open(t, "locks")
	page, err := os.ReadFile(filepath.Join(root, "docs/guide/sql.md"))
	if err != nil {
		t.Fatal(err)
	}
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllSubmatch(page, -1)
	if len(queries) != 10 {
		t.Errorf("found %d queries, expected 10", len(queries))
	}
	for i, q := range queries {
		rows, err := db.Query(string(q[1]))
		if err != nil {
			t.Errorf("query %d: %v", i+1, err)
			continue
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil || n == 0 {
			t.Errorf("query %d: found %d rows, error %v", i+1, n, err)
		}
	}
}

// Tables agree with each other: waits with their slices and objects, call paths with entries.
func TestSums(t *testing.T) {
	for _, name := range []string{"locks", "convoy", "quicksort"} {
		db := open(t, name)
		for what, query := range map[string]string{
			"waits of goroutines that are also slices": `SELECT
				(SELECT count(*) FROM 'waits.parquet' WHERE end_ns IS NOT NULL),
				(SELECT count(*) FROM 'waits.parquet' w SEMI JOIN 'slices.parquet' s ON w.goroutine = s.lane_number
					AND s.kind = 'wait' AND s.start_ns = w.start_ns AND s.end_ns = w.end_ns WHERE w.end_ns IS NOT NULL)`,
			"busy time of call paths and of procedures": `SELECT
				(SELECT sum(busy_ns) FROM 'stacks.parquet'),
				(SELECT sum(self_busy_ns) FROM 'entries.parquet' WHERE kind = 'proc')`,
		} {
			var x, y int64
			if err := db.QueryRow(query).Scan(&x, &y); err != nil || x != y || x == 0 {
				t.Errorf("%s, %s: found %d and %d, expected the same; error %v", name, what, x, y, err)
			}
		}
	}
}

// open exports a kept trace, and opens a database in the folder with the tables.
func open(t *testing.T, name string) *sql.DB {
	t.Helper()
	dir := t.TempDir()
	run := func(in, command string, args ...string) {
		t.Helper()
		cmd := exec.Command(command, args...)
		cmd.Dir, cmd.Env = in, append(os.Environ(), "GOWORK=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", command, args, err, out)
		}
	}
	run(root, "go", "build", "-o", filepath.Join(dir, "qinst"), "./cmd/qinst")
	for _, table := range []string{"slices", "waits", "entries", "objects", "stacks"} {
		run(root, filepath.Join(dir, "qinst"), "export", "-to", "parquet", "-table", table,
			"-o", filepath.Join(dir, table+".parquet"), "testdata/kept/"+name+".sddf")
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec("SET file_search_path = '" + dir + "'"); err != nil {
		t.Fatal(err)
	}
	return db
}
