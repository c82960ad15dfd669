// Package lanestest has a form that checks lanes, and traces to show in it.
package lanestest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/export/lanes"
	_ "qinst.dev/internal/format/pack" // kept traces are compressed
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// Recorder is a form that notes all in words, and all that is wrong.
type Recorder struct {
	Shown []string
	Wrong []string
	Ended int // lanes

	lanes map[lanes.ID]*lane
	flows map[uint64]trace.Time
}

type lane struct {
	of   lanes.Lane
	open []string
	last trace.Time
	gone bool
}

func (r *Recorder) note(format string, args ...any) {
	for i, x := range args {
		if name, ok := x.(string); ok { // as a file has it
			args[i] = strings.ToValidUTF8(name, "\uFFFD")
		}
	}
	r.Shown = append(r.Shown, fmt.Sprintf(format, args...))
}
func (r *Recorder) wrong(format string, args ...any) {
	r.Wrong = append(r.Wrong, fmt.Sprintf(format, args...))
}

// Lane notes a lane.
func (r *Recorder) Lane(l lanes.Lane) {
	if r.lanes == nil {
		r.lanes, r.flows = map[lanes.ID]*lane{}, map[uint64]trace.Time{}
	}
	if r.lanes[l.ID] == nil {
		r.lanes[l.ID] = &lane{}
	}
	r.lanes[l.ID].of, r.lanes[l.ID].gone = l, false
	r.note("%s %d %q", l.Group, l.ID, l.Name)
}

func (r *Recorder) at(id lanes.ID, now trace.Time) *lane {
	l := r.lanes[id]
	if l == nil {
		r.wrong("%d: no such lane", id)
		return &lane{}
	}
	if l.gone {
		r.wrong("%s: something happens after its end, at %d", l.of.Name, now)
	}
	if now < l.last {
		r.wrong("%s: time goes back from %d to %d", l.of.Name, l.last, now)
	}
	l.last = now
	return l
}

// Gone notes that a lane has ended.
func (r *Recorder) Gone(id lanes.ID) {
	if l := r.lanes[id]; l == nil || l.gone || len(l.open) > 0 {
		r.wrong("%d: a lane ends that is not there, has ended or has open slices", id)
		return
	}
	r.lanes[id].gone = true
	r.Ended++
}

// Begin notes the begin of a slice.
func (r *Recorder) Begin(id lanes.ID, at trace.Time, kind lanes.Kind, name string, flow uint64) {
	l := r.at(id, at)
	l.open = append(l.open, name)
	if from, ok := r.flows[flow]; flow != 0 && (!ok || from > at) {
		r.wrong("%s: flow %d ends without a beginning", l.of.Name, flow)
	}
	delete(r.flows, flow)
	r.note("%d %d begin %s %q flow %d", at, id, kind, name, flow)
}

// End notes its end.
func (r *Recorder) End(id lanes.ID, at trace.Time) {
	l := r.at(id, at)
	if len(l.open) == 0 {
		r.wrong("%s: a slice ends that has not begun, at %d", l.of.Name, at)
		return
	}
	l.open = l.open[:len(l.open)-1]
	r.note("%d %d end", at, id)
}

// Wakes notes the begin of a flow.
func (r *Recorder) Wakes(id lanes.ID, at trace.Time, name string, flow uint64) {
	r.at(id, at)
	r.flows[flow] = at
	r.note("%d %d %s flow %d", at, id, name, flow)
}

// Value notes a value.
func (r *Recorder) Value(id lanes.ID, at trace.Time, n int64) {
	if r.at(id, at); n < 0 {
		r.wrong("%d: value %d", id, n)
	}
	r.note("%d %d value %d", at, id, n)
}

// Check returns all errors, with slices and flows that do not end.
func (r *Recorder) Check() []string {
	for id, l := range r.lanes {
		if len(l.open) > 0 {
			r.wrong("%d %s: %d slices have no end", id, l.of.Name, len(l.open))
		}
	}
	for flow := range r.flows {
		r.wrong("flow %d has no end", flow)
	}
	return r.Wrong
}

// Lanes are all lanes, with their last names.
func (r *Recorder) Lanes() (list []lanes.Lane) {
	for _, l := range r.lanes {
		list = append(list, l.of)
	}
	return list
}

// Same compares a file with what a recorder was shown. Lanes of numbers need no name of their own
// in a file.
func Same(t rapid.TB, found, want []string) {
	counters := func(line string) bool { return strings.HasPrefix(line, lanes.Queues.String()) }
	found, want = slices.DeleteFunc(found, counters), slices.DeleteFunc(want, counters)
	for i := range min(len(found), len(want)) {
		if found[i] != want[i] {
			t.Fatalf("line %d is %s, expected %s", i, found[i], want[i])
		}
	}
	if len(found) != len(want) {
		t.Errorf("found %d lines, expected %d", len(found), len(want))
	}
}

// Named is a trace with a procedure of a name.
func Named(name string) trace.Source {
	ops := []tracetest.Op{tracetest.Do(name, 1000)}
	return tracetest.Simulate(1, []tracetest.Thread{{Name: "main.a", Ops: ops}}).Trace()
}

// Each tests with recorded traces, below a root of the repository, and with random ones.
func Each(t *testing.T, root string, test func(tb rapid.TB, source trace.Source)) {
	files, err := filepath.Glob(filepath.Join(root, "testdata/kept/*.sddf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d traces, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			source, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer source.Close()
			test(t, source)
		})
	}
	t.Run("random", rapid.MakeCheck(func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		test(t, tracetest.Random(draw).Trace())
	}))
}

// All tests with the traces of [Each] and of [Odd].
func All(t *testing.T, root string, test func(tb rapid.TB, source trace.Source)) {
	Each(t, root, test)
	Odd(t, test)
}

// Odd tests with traces that are hard to write: names that are no text or very long, no events,
// counts alone, and losses.
func Odd(t *testing.T, test func(tb rapid.TB, source trace.Source)) {
	for name, b := range map[string]*tracetest.Builder{"names": Names(), "nothing": tracetest.New(1).At(1),
		"counted": counted(), "lost": lost()} {
		t.Run(name, func(t *testing.T) { test(t, b.Trace()) })
	}
}

// OddName has what forms may not take as it is. Forms keep what is valid UTF-8.
const OddName = "main.\x00\x1b[2J\r\xff\"\\'</script>,;{}\u2028"

// Names is a trace with such names, and with some that are very long.
func Names() *tracetest.Builder {
	b := tracetest.New(1)
	g := b.Go(0, OddName)
	b.Start(g, 0)
	for _, name := range []string{OddName, "main." + strings.Repeat("x", 1<<20)} {
		p, lock := b.Proc(name), b.Object(name+".lock", spec.OpLock)
		b.BeginRegion(g, name)
		b.Enter(g, p)
		b.Sync(g, lock, 0x1000, 0)
		b.At(b.Now() + 1000)
		b.Exit(g, p)
		b.EndRegion(g, name)
	}
	b.End(g)
	return b.At(b.Now() + 1)
}

func counted() *tracetest.Builder {
	b := tracetest.New(1)
	g, p := b.Go(0, "main.a"), b.Proc("main.f")
	b.Start(g, 0)
	b.Count(p, 1000)
	b.At(1000)
	b.End(g)
	return b
}

func lost() *tracetest.Builder {
	b := tracetest.New(1)
	g, p := b.Go(0, "main.a"), b.Proc("main.f")
	b.Start(g, 0)
	b.Enter(g, p)
	b.At(500)
	b.Gap(0, 10)
	b.At(1000)
	b.Exit(g, p)
	b.Exit(g, p) // without an entry
	return b.At(1001)
}
