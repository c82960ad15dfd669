package parquet_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	read "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/export/parquet"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// table reads all columns of a table.
func table[Row any](t rapid.TB, name string, source trace.Source) []Row {
	var out, again bytes.Buffer
	if _, _, err := parquet.Tables[name](&out, source); err != nil {
		t.Fatal(err)
	}
	if _, _, err := parquet.Tables[name](&again, source); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("%s: the same trace is other bytes, error %v", name, err)
	}
	rows, err := read.Read[Row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}

// recorder is a form that notes slices in words, each when it ends.
type recorder struct {
	lanes map[lanes.ID]*lane
	from  map[uint64]lanes.ID
	found []string
}

type lane struct {
	lanes.Lane
	open []string
}

func newRecorder() *recorder {
	return &recorder{lanes: map[lanes.ID]*lane{}, from: map[uint64]lanes.ID{}}
}

func (r *recorder) Lane(l lanes.Lane) {
	x := r.lanes[l.ID]
	if x == nil {
		x = new(lane)
		r.lanes[l.ID] = x
	}
	x.Lane = l
}

func (r *recorder) Begin(id lanes.ID, at trace.Time, kind lanes.Kind, name string, flow uint64) {
	l, by := r.lanes[id], ""
	if flow != 0 {
		by = fmt.Sprint(uint64(r.from[flow]))
	}
	l.open = append(l.open, fmt.Sprintf("%q %s depth %d by %q from %d", valid(name), kind, len(l.open), by, at))
}

func (r *recorder) End(id lanes.ID, at trace.Time) {
	l := r.lanes[id]
	r.found = append(r.found, fmt.Sprintf("%d %s %q %d %s to %d", id, l.Group, valid(l.Name), l.Number,
		l.open[len(l.open)-1], at))
	l.open = l.open[:len(l.open)-1]
}

func (r *recorder) Wakes(id lanes.ID, _ trace.Time, _ string, flow uint64) { r.from[flow] = id }
func (r *recorder) Value(lanes.ID, trace.Time, int64)                      {}

func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// Each slice that lanes show is a row, when it ends, also where there are several groups of rows.
func TestSlices(t *testing.T) {
	b := tracetest.New(1)
	g := b.Go(0, "main.a")
	b.Start(g, 0)
	for i := range 80000 {
		p := b.Proc(fmt.Sprintf("main.f%d", i%1000))
		b.Enter(g, p)
		b.At(b.Now() + int64(i%7))
		b.Exit(g, p)
	}
	slicesOf(t, b.At(b.Now()+1).Trace())
	lanestest.All(t, "../../..", slicesOf)
}

func slicesOf(t rapid.TB, source trace.Source) {
	want := newRecorder()
	if _, _, err := lanes.Show(source, want); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, s := range table[parquet.Slice](t, "slices", source) {
		by := ""
		if s.WokenBy != nil {
			by = fmt.Sprint(*s.WokenBy)
		}
		found = append(found, fmt.Sprintf("%d %s %q %d %q %s depth %d by %q from %d to %d", s.Lane, s.Group, s.Title,
			s.Number, s.Name, s.Kind, s.Depth, by, s.Start, s.End))
	}
	same(t, found, want.found)
}

func same(t rapid.TB, found, want []string) {
	for i := range min(len(found), len(want)) {
		if found[i] != want[i] {
			t.Fatalf("row %d is %.1000s, expected %.1000s", i, found[i], want[i])
		}
	}
	if len(found) != len(want) {
		t.Errorf("found %d rows, expected %d", len(found), len(want))
	}
}

// watcher notes waits in words.
type watcher struct {
	replay.Nop
	r     *replay.Replay
	found []string
}

func (w *watcher) Wake(g *replay.G, x *replay.Wait, by replay.Waker, now trace.Time) {
	ended := ""
	if by.G != nil {
		ended = fmt.Sprint(by.G.ID)
	}
	w.note(g, x, fmt.Sprint(now), ended)
}

func (w *watcher) note(g *replay.G, x *replay.Wait, end, by string) {
	in := ""
	if x.In >= 0 {
		in = w.r.T.Points[x.In].Name
	}
	w.found = append(w.found, fmt.Sprintf("%d in %q %s from %d to %s by %s", g.ID, valid(in), w.r.T.Reason(x.Reason),
		x.Since, end, by))
}

// Each wait is a row, those without an end, too.
func TestWaits(t *testing.T) {
	objects := 0
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		want := new(watcher)
		want.r = replay.New(source, replay.Options{})
		if _, err := want.r.Run(want); err != nil {
			t.Fatal(err)
		}
		for _, g := range want.r.Goroutines() {
			if g.State == trace.Waiting && g.Wait != nil {
				want.note(g, g.Wait, "", "")
			}
		}
		var found []string
		for _, w := range table[parquet.Wait](t, "waits", source) {
			found = append(found, fmt.Sprintf("%d in %q %s from %d to %s by %s", w.Goroutine, or(w.Procedure), w.Reason,
				w.Start, or(w.End), or(w.EndedBy)))
			if or(w.Object) == "main.(*server).state" {
				objects++
			}
		}
		same(t, found, want.found)
	})
	if objects != 2 {
		t.Errorf("found %d waits for main.(*server).state, expected 2", objects)
	}
}

func or[T any](x *T) string {
	if x == nil {
		return ""
	}
	return fmt.Sprint(*x)
}

// Entries, objects and call paths are those of the profile.
func TestProfile(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		var want, found []string
		for i := range p.Entries {
			e := &p.Entries[i]
			want = append(want, fmt.Sprintf("%s %s %q %q %d %d %d %d %d %d %d %d %d %d", e.Kind, valid(e.ID),
				valid(e.Name), valid(e.File), e.Line, e.Calls, e.SelfNPT, e.NPT, e.SelfBusy, e.Busy, e.SelfBlocked,
				e.Blocked, e.SelfReady, e.Ready))
		}
		for _, e := range table[parquet.Entry](t, "entries", source) {
			found = append(found, fmt.Sprintf("%s %s %q %q %d %d %d %d %d %d %d %d %d %d", e.Kind, e.ID, e.Name, e.File,
				e.Line, e.Calls, e.SelfNPT, e.NPT, e.SelfBusy, e.Busy, e.SelfBlocked, e.Blocked, e.SelfReady, e.Ready))
		}
		same(t, found, want)
		want, found = nil, nil
		for i := range p.Objects {
			o := &p.Objects[i]
			want = append(want, fmt.Sprintf("%q %s %q %v", valid(o.Name), o.Kind, valid(o.File), []int64{
				int64(o.Line), int64(o.Objects), int64(o.Ops), o.Waits, o.Wait, o.Worst, o.Ready, int64(o.Queue),
				o.Holds, o.Hold, o.Longest}))
		}
		for _, o := range table[parquet.Object](t, "objects", source) {
			found = append(found, fmt.Sprintf("%q %s %q %v", o.Name, o.Kind, o.File, []int64{int64(o.Line), o.Objects,
				int64(o.Ops), o.Waits, o.Wait, o.Worst, o.Ready, o.Queue, o.Holds, o.Hold, o.Longest}))
		}
		same(t, found, want)
		paths(t, p, table[parquet.Stack](t, "stacks", source))
	})
}

func paths(t rapid.TB, p *profile.Profile, rows []parquet.Stack) {
	want := []parquet.Stack{{Path: []string{"[no processor busy]"}, NPT: p.Idle}}
	for st := range p.Stacks() {
		path := []string{}
		for i := range st.Frames {
			path = append(path, valid(st.Frames[i].Name))
		}
		slices.Reverse(path)
		want = append(want, parquet.Stack{Path: path, NPT: st.NPT, Busy: st.Busy, Spin: st.Spin, Blocked: st.Blocked,
			Ready: st.Ready, Syscall: st.Syscall, Off: st.Off})
	}
	for i := range rows {
		if rows[i].Path == nil {
			rows[i].Path = []string{}
		}
	}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("found paths %.2000v, expected %.2000v", rows, want)
	}
}
