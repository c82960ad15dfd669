// Package parquet writes tables of a trace as Apache Parquet, for SQL: DuckDB, ClickHouse, Spark,
// pandas. Each table is a file. Times are in ns since the trace began; a missing value is NULL.
//
//	table     a row is
//	slices    a slice of a lane: a goroutine's procedure, loop, wait, system call, time
//	          ready or off-CPU; a processor's goroutine; a hold of a lock; a region; a cycle
//	          of the collector
//	waits     a wait of a goroutine, with its object and the goroutine that ended it
//	entries   an entry of the profile: a procedure, loop, goroutines of a start
//	          function, region, labels, object
//	objects   the objects of synchronization of one name
//	stacks    a call path, with the times on it
//
// The types below are the schemas. Lost are lengths of queues, intervals of estimates,
// distributions, samples, and records of the program's own. Bytes in names that are no UTF-8 become
// U+FFFD.
package parquet

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// Write writes a table of a trace. It returns what has no lane, and the losses of the trace.
type Write func(to io.Writer, source trace.Source) (lanes.Left, trace.Losses, error)

// Tables are the tables, by name.
var Tables = map[string]Write{
	"slices":  writeSlices,
	"waits":   writeWaits,
	"entries": ofProfile(entries),
	"objects": ofProfile(objects),
	"stacks":  ofProfile(stacks),
}

// Names are those of tables.
func Names() []string { return slices.Sorted(maps.Keys(Tables)) }

// mostRows is how many rows are in memory at a time: a group of them in the file.
const (
	mostRows = 1 << 16
	mostPut  = 1 << 8 // rows that are handed over at once
)

// table is a file with rows. The first error stays.
type table[Row any] struct {
	w    *parquet.GenericWriter[Row]
	rows []Row
	err  error
}

func newTable[Row any](to io.Writer) *table[Row] {
	return &table[Row]{w: parquet.NewGenericWriter[Row](to, parquet.MaxRowsPerRowGroup(mostRows),
		parquet.Compression(&zstd.Codec{}), parquet.CreatedBy("qinst", "", ""))}
}

func (t *table[Row]) add(row Row) {
	if t.rows = append(t.rows, row); len(t.rows) == mostPut {
		t.put()
	}
}

func (t *table[Row]) put() {
	if t.err == nil {
		_, t.err = t.w.Write(t.rows)
	}
	clear(t.rows) // of names
	t.rows = t.rows[:0]
}

func (t *table[Row]) close() error {
	if t.put(); t.err != nil {
		return t.err
	}
	return t.w.Close()
}

// text is a name in UTF-8.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// known is a value that may be missing.
func known[T any](x T, is bool) *T {
	if !is {
		return nil
	}
	return &x
}
