package view

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"sync"
	"time"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// mostRecords bounds the records of a kind that are kept: of more, every second one is, then every
// fourth, and so on.
const mostRecords = 4096

// records are those of the program's own kinds.
type records struct {
	mu    sync.Mutex
	t     *trace.Trace
	kinds map[string]*Kind
	left  int64 // that cannot be read
}

// Kind is a kind of records that the program defines.
type Kind struct {
	Name   string   `json:"name"`
	Count  int      `json:"count"`
	Every  int      `json:"every"` // one of so many is among the rows
	Fields []Column `json:"fields"`
	Rows   []*RowOf `json:"rows,omitempty"` // in the order of time
}

// Column is a field of a kind of records.
type Column struct {
	Name   string `json:"name"`
	Unit   string `json:"unit,omitempty"`
	Doc    string `json:"doc,omitempty"`
	Number bool   `json:"number"` // its values are
}

// RowOf is a record.
type RowOf struct {
	At     trace.Time `json:"at_ns"`
	G      trace.GoID `json:"g"`
	Values []any      `json:"values"`
}

// watching is a source whose records are kept as it is read.
type watching struct {
	trace.Source
	r *records
}

// Events shows the events, after it has looked for records.
func (w watching) Events(f func([]trace.Event) error) (trace.Losses, error) {
	return w.Source.Events(func(batch []trace.Event) error {
		for i := range batch {
			if batch[i].Kind == trace.Record {
				w.r.take(&batch[i])
			}
		}
		return f(batch)
	})
}

func (r *records) take(e *trace.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.t.Record(e)
	if err != nil || p.Record == nil {
		r.left++
		return
	}
	k := r.kinds[p.Name]
	if k == nil {
		k = &Kind{Name: shown(p.Name), Every: 1, Fields: columns(p.Record.Fields, p.Values)}
		r.kinds[p.Name] = k
	}
	if k.Count++; (k.Count-1)%k.Every != 0 {
		return
	}
	row := &RowOf{At: e.Time, G: e.G}
	for i := range k.Fields {
		var v any
		if i < len(p.Values) {
			v = shownValue(p.Values[i], p.Record.Fields[i].Type)
		}
		row.Values = append(row.Values, v)
	}
	if k.Rows = append(k.Rows, row); len(k.Rows) == mostRecords {
		for i := range mostRecords / 2 {
			k.Rows[i] = k.Rows[2*i]
		}
		clear(k.Rows[mostRecords/2:])
		k.Rows, k.Every = k.Rows[:mostRecords/2], 2*k.Every
	}
}

// columns are the fields, as the values of a first record are.
func columns(fields []spec.Field, values []any) (list []Column) {
	for i, f := range fields {
		c := Column{Name: shown(f.Name), Unit: shown(f.Unit), Doc: shown(f.Doc)}
		if i < len(values) {
			switch values[i].(type) {
			case uint64, int64, float64, float32:
				c.Number = f.Type != spec.Time
			}
		}
		if f.Type == spec.Duration {
			c.Unit = "ns"
		}
		list = append(list, c)
	}
	return list
}

// shownValue is a value as JSON has it.
func shownValue(v any, of string) any {
	switch v := v.(type) {
	case nil, bool, uint64:
		return v
	case int64:
		if of == spec.Time {
			return time.Unix(0, v).UTC().Format(time.RFC3339Nano)
		}
		return v
	case string:
		return shown(v)
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case float32:
		return shownValue(float64(v), of)
	}
	return shown(fmt.Sprint(v))
}

// records answers with all kinds, or with the records of one.
func (s *Server) records(q url.Values) (any, error) {
	r := &s.view.records
	r.mu.Lock()
	defer r.mu.Unlock()
	if !q.Has("name") {
		list := []Kind{}
		for _, k := range r.kinds {
			list = append(list, Kind{Name: k.Name, Count: k.Count, Every: k.Every, Fields: k.Fields})
		}
		slices.SortFunc(list, func(a, b Kind) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
		})
		return list, nil
	}
	for _, k := range r.kinds {
		if k.Name == q.Get("name") {
			return *k, nil
		}
	}
	return nil, fmt.Errorf("found the name %q, expected that of a kind of /api/v1/records", q.Get("name"))
}
