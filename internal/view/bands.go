package view

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// Band is a picture of a number over time, divided by names: how many processors are busy by
// procedure, or how many goroutines wait for a lock by its holder.
type Band struct {
	ID     string   `json:"id"` // busy, after (a change), subject or path
	Title  string   `json:"title"`
	Top    float64  `json:"top"` // of the scale
	Series []Series `json:"series"`
}

// Series is the part of a name in a band.
type Series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"` // means of parts of the window, which have equal lengths
}

// mostSeries is how many names a band has, and leastOf the share of the area that each of them has
// at least. All others are one more.
const (
	mostSeries = 9
	leastOf    = 0.01
)

// area adds up for how long names last in the parts of a window.
type area struct {
	from, to trace.Time
	parts    int
	rows     map[uint32][]float64 // ns in each part
}

func newArea(from, to trace.Time, parts int) *area {
	return &area{from, to, parts, map[uint32][]float64{}}
}

// add adds n things of a name that last from a to b.
func (a *area) add(name uint32, from, to trace.Time, n float64) {
	from, to = max(from, a.from), min(to, a.to)
	if from >= to {
		return
	}
	row := a.rows[name]
	if row == nil {
		row = make([]float64, a.parts)
		a.rows[name] = row
	}
	each := float64(a.to-a.from) / float64(a.parts)
	x, end := float64(from-a.from)/each, float64(to-a.from)/each
	for i := int(x); i < a.parts && float64(i) < end; i++ {
		row[i] += n * each * (min(end, float64(i+1)) - max(x, float64(i)))
	}
}

// band names the rows, those first that last longest.
func (a *area) band(id, title string, names []string) *Band {
	each := float64(a.to-a.from) / float64(a.parts)
	b := &Band{ID: id, Title: title, Series: []Series{}}
	total, all := map[uint32]float64{}, 0.
	var order []uint32
	for name, row := range a.rows {
		order = append(order, name)
		for _, ns := range row {
			total[name] += ns
			all += ns
		}
	}
	slices.SortFunc(order, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(total[y], total[x]), strings.Compare(names[x], names[y]))
	})
	sums := make([]float64, a.parts)
	rest := false
	for i, name := range order {
		if !rest {
			b.Series = append(b.Series, Series{strings.ToValidUTF8(names[name], "\uFFFD"), make([]float64, a.parts)})
		}
		last := &b.Series[len(b.Series)-1]
		if !rest && i+1 < len(order) && (i == mostSeries || total[name] < leastOf*all) {
			rest, last.Name = true, others
		}
		for j, ns := range a.rows[name] {
			last.Values[j] += ns / each
			sums[j] += ns / each
		}
	}
	for _, s := range b.Series {
		for j := range s.Values {
			s.Values[j] = math.Round(s.Values[j]*1000) / 1000
		}
	}
	b.Top = math.Round(1000*slices.Max(sums)) / 1000
	return b
}

const others = "all others"

// subject is the band of the subject of a conclusion.
const subject = "subject"

// parallelism is how many processors are busy, by the procedure that their goroutines are in.
func (ts *tracks) parallelism(from, to trace.Time, parts int) *Band {
	a := newArea(from, to, parts)
	for _, p := range ts.list {
		if p.lane.Group != lanes.Processors || len(p.depths) == 0 {
			continue
		}
		for s := range within(p.depths[0], from, to) {
			g := ts.by[ts.titled[s.name]]
			if g == nil {
				continue
			}
			g.walk(max(s.from, from), min(s.to, to), nil, func(x, y trace.Time, at where) {
				a.add(at.procedure, x, y, 1)
			})
		}
	}
	return a.band("busy", "busy processors, by procedure", ts.names)
}

// inside is how many goroutines are inside of a procedure or loop, by their states.
func (ts *tracks) inside(name string, from, to trace.Time, parts int) *Band {
	a := newArea(from, to, parts)
	n, ok := ts.index[name]
	if !ok {
		return nil
	}
	is := func(s *slice) bool { return s.name == n && s.kind <= lanes.Loop }
	for _, g := range ts.list {
		if g.lane.Group == lanes.Goroutines {
			g.walk(from, to, is, func(x, y trace.Time, at where) {
				if at.subject {
					a.add(ts.doing[at.kind], x, y, 1)
				}
			})
		}
	}
	return a.band(subject, "goroutines in "+name, ts.names)
}

// started is how many goroutines that were started for a function there are, by their states.
func (ts *tracks) started(function string, from, to trace.Time, parts int) *Band {
	a := newArea(from, to, parts)
	for _, g := range ts.list {
		if g.lane.Group != lanes.Goroutines || shown(ts.names[g.start]) != function || len(g.depths) == 0 {
			continue
		}
		first, last := g.depths[0][0].from, g.depths[0][len(g.depths[0])-1].to
		g.walk(max(first, from), min(last, to), nil, func(x, y trace.Time, at where) {
			a.add(ts.doing[at.kind], x, y, 1)
		})
	}
	return a.band(subject, "goroutines "+function, ts.names)
}

// waits is how many goroutines wait for an object, by the procedure that waits.
func (ts *tracks) waits(object string, from, to trace.Time, parts int) *Band {
	a := newArea(from, to, parts)
	is := func(s *slice) bool {
		return s.kind == lanes.Wait && (ts.names[s.name] == object || strings.HasSuffix(ts.names[s.name], " "+object))
	}
	for _, g := range ts.list {
		if g.lane.Group == lanes.Goroutines {
			g.walk(from, to, is, func(x, y trace.Time, at where) {
				if at.subject {
					a.add(at.procedure, x, y, 1)
				}
			})
		}
	}
	return a.band(subject, "goroutines that wait for "+object+", by procedure", ts.names)
}

// queue is how many goroutines wait for locks of a name, by the procedure of its holder; nil:
// there are none.
func (ts *tracks) queue(name string, from, to trace.Time, parts int) *Band {
	a := newArea(from, to, parts)
	found := false
	for _, q := range ts.list {
		if q.lane.Group != lanes.Queues || !called(q.lane.Name, name, ": waiting") {
			continue
		}
		found = true
		held := ts.by[ts.holders[q.lane.Number]]
		for i, v := range q.values {
			until := ts.end
			if i+1 < len(q.values) {
				until = q.values[i+1].at
			}
			if v.n > 0 && v.at < to && until > from {
				ts.holding(held, max(v.at, from), min(until, to), func(x, y trace.Time, by uint32) {
					a.add(by, x, y, float64(v.n))
				})
			}
		}
	}
	if !found {
		return nil
	}
	return a.band(subject, "goroutines that wait for "+name+", by the procedure of its holder", ts.names)
}

// called reports whether a lane has a name and an end, perhaps with a number between them.
func called(lane, name, end string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(lane, end), name)
	return ok && (rest == "" || strings.HasPrefix(rest, " (") && strings.HasSuffix(rest, ")"))
}

// holding yields the procedures in which a lock is held between two times.
func (ts *tracks) holding(held *track, from, to trace.Time, yield func(x, y trace.Time, by uint32)) {
	if held != nil && len(held.depths) > 0 {
		for s := range within(held.depths[0], from, to) {
			x, y := max(s.from, from), min(s.to, to)
			if from < x {
				yield(from, x, ts.nobody)
			}
			if g := ts.by[ts.titled[s.name]]; g != nil {
				g.walk(x, y, nil, func(x, y trace.Time, at where) { yield(x, y, at.procedure) })
			} else {
				yield(x, y, s.name)
			}
			from = y
		}
	}
	if from < to {
		yield(from, to, ts.nobody)
	}
}

// mostParts bounds the parts of a window.
const mostParts = 2000

// bands answers with pictures of the run, of one conclusion if there is an item, and of one part of
// the program if there is a name.
func (s *Server) bands(q url.Values) (any, error) {
	f, t, n, err := s.window(q, mostParts)
	if err != nil {
		return nil, err
	}
	v := s.view
	v.tracks.mu.Lock()
	busy := v.tracks.parallelism(f, t, n)
	v.tracks.mu.Unlock()
	busy.Top = max(busy.Top, float64(v.t.Int("gomaxprocs"))) // so that one sees how many are not
	list := []*Band{busy}
	if q.Has("item") {
		if err := v.Wait(); err != nil {
			return nil, unread{err}
		}
		items := v.items()
		i, err := number(q, "item", 0, int64(len(items))-1)
		if err != nil {
			return nil, err
		}
		after := v.after(&items[i], f, t, n)
		if after != nil { // on one scale
			busy.Top = max(busy.Top, after.Top)
			after.Top = busy.Top
		}
		list = append(list, after, v.tracks.of(items[i].Subject, f, t, n))
	}
	if q.Has("name") {
		b, err := v.named(q.Get("kind"), q.Get("name"), f, t, n)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	if s.progress().Done {
		list = append(list, v.pathBand(f, t, n))
	}
	return slices.DeleteFunc(list, func(b *Band) bool { return b == nil || len(b.Series) == 0 }), nil
}

// named is the picture of a part of the program; nil: the trace has none.
func (v *View) named(kind, name string, from, to trace.Time, parts int) (*Band, error) {
	kinds := []string{profile.KindProc, profile.KindLoop, profile.KindGoroutine, profile.KindSync}
	if !slices.Contains(kinds, kind) {
		return nil, fmt.Errorf("found kind=%.40s, expected one of %s", kind, strings.Join(kinds, ", "))
	}
	if err := v.Wait(); err != nil {
		return nil, unread{err}
	}
	return v.tracks.of(advice.Subject{Kind: kind, Name: name}, from, to, parts), nil
}

// of is the picture of the subject of a conclusion; nil: there is none.
func (ts *tracks) of(s advice.Subject, from, to trace.Time, parts int) *Band {
	switch s.Kind {
	case profile.KindProc, profile.KindLoop:
		return ts.inside(s.Name, from, to, parts)
	case profile.KindGoroutine:
		return ts.started(s.Name, from, to, parts)
	case profile.KindSync:
		if b := ts.queue(s.Name, from, to, parts); b != nil && len(b.Series) > 0 {
			return b
		}
		return ts.waits(s.Name, from, to, parts)
	}
	return nil
}
