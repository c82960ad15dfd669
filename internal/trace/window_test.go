package trace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// lines are events in words that do not depend on where reading began, with their
// times in the whole trace: those later than from, up to and including to.
type lines struct {
	from, to trace.Time
	names    map[trace.Slot]trace.GoID
	list     []string
}

func (l *lines) take(shift trace.Time) func([]trace.Event) error {
	l.names = map[trace.Slot]trace.GoID{trace.NoSlot: 0}
	return func(batch []trace.Event) error {
		for _, e := range batch {
			if e.Kind == trace.Create {
				l.names[e.Slot] = e.G
			}
			if e.Time += shift; e.Time > l.from && e.Time <= l.to && e.Kind != trace.Searched && e.Kind != trace.Woke {
				// that says what was before
				by := l.names[e.By]
				e.Slot, e.By = 0, 0
				l.list = append(l.list, fmt.Sprintf("%012d %+v by %d", e.Time, e, by))
			}
		}
		return nil
	}
}

func sameLines(t *rapid.T, what string, got, want []string) {
	slices.Sort(got) // of events at one time any may be the first
	slices.Sort(want)
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: event %d of %d is\n%s\nof %d:\n%s", what, i, len(got), got[i], len(want), want[i])
		}
	}
	t.Fatalf("%s: %d events, expected %d", what, len(got), len(want))
}

// A window has the events that the whole trace has there: read from the beginning,
// read with an index, and written as a file.
func TestWindow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "a.sddf")
		data := shifted(t, random(t).Bytes(), rapid.SliceOfN(rapid.IntRange(0, 40), 4, 4).Draw(t, "skew"))
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path + trace.IndexSuffix)
		plain, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		index, err := os.Create(path + trace.IndexSuffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.WriteIndexEvery(plain, index, rapid.IntRange(1, 100).Draw(t, "every")); err != nil {
			t.Fatal(err)
		}
		index.Close()
		quick, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer quick.Close()
		if !quick.Indexed() {
			t.Fatal("the index was not found")
		}
		from := trace.Time(rapid.Int64Range(0, int64(plain.Wall())-1).Draw(t, "from"))
		to := trace.Time(rapid.Int64Range(int64(from)+1, int64(plain.Wall())).Draw(t, "to"))
		if rapid.Bool().Draw(t, "to the end") {
			to = plain.Wall()
		}
		want := lines{from: from, to: to}
		losses, err := plain.Events(want.take(0))
		if err != nil {
			t.Fatal(err)
		}
		if losses.States > 0 {
			t.Skip("the clocks disagree too much") // what is repaired depends on where reading began
		}
		valid := tracetest.Validate(plain) == nil
		noted := trace.NotingEvery(plain, rapid.IntRange(1, 20).Draw(t, "noted every"), rapid.IntRange(1, 100).Draw(t, "weight"))
		if _, err := noted.Events(func([]trace.Event) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for i, tr := range []*trace.Trace{plain, quick, noted} {
			what := [...]string{"window", "indexed window", "window of notes"}[i]
			w, err := tr.Window(from, to)
			if err != nil {
				t.Fatal(err)
			}
			got := lines{from: from, to: to}
			if _, err := w.Events(got.take(trace.Time(w.Int("cut_from_ns")))); err != nil {
				t.Fatal(err)
			}
			sameLines(t, what, got.list, want.list)
			some := rapid.SliceOfN(rapid.Bool(), len(tr.Points), len(tr.Points)).Draw(t, "points")
			if valid || tr == plain { // where clocks disagree, an index begins to mend them elsewhere
				sameSelection(t, tr, from, to, some)
			}
			if to == plain.Wall() {
				sameFile(t, tr, from, to, want.list)
			}
			if !valid {
				continue // skewed clocks order it against the rules
			}
			if err := tracetest.Validate(w); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	})
}

// sameSelection compares the events at some points with those among all.
func sameSelection(t *rapid.T, tr *trace.Trace, from, to trace.Time, some []bool) {
	got := lines{from: from, to: to}
	selected := func(point trace.PointID) bool { return some[point] }
	if err := tr.Select(from, to, selected, got.take(0)); err != nil {
		t.Fatal(err)
	}
	want := lines{from: from, to: to}
	pick := want.take(0)
	if _, err := tr.Events(func(batch []trace.Event) error {
		for i, e := range batch {
			if e.AtPoint() && some[e.Point()] {
				if i > 0 && e.Kind == trace.Exit && batch[i-1].Kind == trace.Trips {
					_ = pick(batch[i-1 : i])
				}
				_ = pick(batch[i : i+1])
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	sameLines(t, "selection", got.list, want.list)
}

// sameFile compares the window's file, but for times: those of a window of few ns
// are rounded otherwise. One that ends before the trace does may have events in it
// that wait for a cause which is not.
func sameFile(t *rapid.T, tr *trace.Trace, from, to trace.Time, timed []string) {
	var want []string
	for _, line := range timed {
		ns, rest, _ := strings.Cut(line, " ")
		if n, err := strconv.ParseInt(ns, 10, 64); err != nil || n < int64(from)+3 {
			return // rounding may make it one of those before
		}
		want = append(want, untimed(rest))
	}
	var out bytes.Buffer
	if err := tr.Cut(&out, from, to); err != nil {
		t.Fatal(err)
	}
	file, err := trace.New(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	got := lines{to: 1 << 62}
	losses, err := file.Events(got.take(0))
	if err != nil {
		t.Fatal(err)
	}
	if losses.Any() && to-from > 10 { // one of few ns may be of no length in ticks
		t.Fatalf("the file lost %v", losses.List())
	}
	for i, line := range got.list {
		_, rest, _ := strings.Cut(line, " ")
		got.list[i] = untimed(rest)
	}
	sameLines(t, "file", got.list, want)
}

var times = regexp.MustCompile(`Time:[0-9]+ `)

func untimed(line string) string { return times.ReplaceAllString(line, "") }

// shifted is a file in which the threads' clocks disagree.
func shifted(t *rapid.T, data []byte, skew []int) []byte {
	var out bytes.Buffer
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	w := sddf.NewWriter(&out, r.Producer, nil)
	for p, err := range r.Packets() {
		if err != nil {
			t.Fatal(err)
		}
		switch p.Kind {
		case spec.Attribute:
			err = w.Attribute(p.Name, p.Value)
		case spec.Descriptor:
			err = w.Define(*p.Record)
		case spec.Data:
			for i, v := range p.Values {
				if b, ok := v.(sddf.Blob); ok {
					if p.Values[i], err = r.ReadBlob(nil, b); err != nil {
						t.Fatal(err)
					}
				}
			}
			if p.Record.Tag == spec.TagEvents {
				p.Values[3] = p.Values[3].(uint64) + uint64(skew[p.Values[0].(uint64)%uint64(len(skew))])
			}
			err = w.Data(p.Record.Tag, p.Values...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Whatever an index says, reading ends and does not panic.
func TestHostileIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.sddf")
	if err := tracetest.Random(counter(3)).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var index bytes.Buffer
	if err := trace.WriteIndexEvery(tr, &index, 20); err != nil {
		t.Fatal(err)
	}
	tr.Close()
	open := func() *trace.Trace {
		tr, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	if err := os.WriteFile(path+trace.IndexSuffix, index.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	whole := open()
	if !whole.Indexed() {
		t.Error("the index as it was written was not used")
	}
	whole.Close()
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Clone(index.Bytes())
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		if rapid.Bool().Draw(t, "truncated") {
			data = data[:rapid.IntRange(0, len(data)-1).Draw(t, "length")]
		}
		if err := os.WriteFile(path+trace.IndexSuffix, data, 0o666); err != nil {
			t.Fatal(err)
		}
		tr := open()
		defer tr.Close()
		if err := tr.Select(tr.Wall()/2, tr.Wall(), nil, func([]trace.Event) error { return nil }); err == nil {
			var out bytes.Buffer
			if err := tr.Cut(&out, tr.Wall()/2, tr.Wall()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestPointsNamed(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	for _, name := range []string{"main.main", "main.(*Cache).Get", "main.(*Cache).Put", "io.ReadAll"} {
		b.Proc(name)
	}
	tr := b.Trace()
	for pattern, want := range map[string]string{
		"main.main": "main.main", "main.(*Cache).*": "main.(*Cache).Get main.(*Cache).Put",
		"*t": "main.(*Cache).Get main.(*Cache).Put",
		"*":  "main.main main.(*Cache).Get main.(*Cache).Put io.ReadAll", "main": "main.main", "": "",
		"*main*main*": "main.main", "io.*": "io.ReadAll", "Cache.get": "main.(*Cache).Get", "Cache": "",
	} {
		var got []string
		found, _ := tr.PointsNamed(pattern)
		for i, p := range tr.Points {
			if found[trace.PointID(i)] {
				got = append(got, p.Name)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q matches %q, expected %q", pattern, s, want)
		}
	}
}

// A part is as long as it is, though a thread's last event before it is long ago.
func TestCutLength(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	f := b.Proc("main.f")
	g, h := b.Go(0, "runtime.main"), b.Go(0, "main.h")
	b.Start(g, 0)
	b.Start(h, 1)
	b.At(10).Enter(h, f)
	for ns := int64(100); ns < 1000; ns += 100 {
		b.At(ns).Enter(g, f)
		b.At(ns+50).Exit(g, f)
	}
	b.Exit(h, f)
	var out bytes.Buffer
	if err := b.Trace().Cut(&out, 500, 900); err != nil {
		t.Fatal(err)
	}
	part, err := trace.New(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if part.Wall() != 400 {
		t.Errorf("the part lasts %d ns, expected 400", part.Wall())
	}
}

// A part that begins while a goroutine is in a system call without its processor has nothing
// to repair, and has all that follows.
func TestCutBlocked(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	g, h := b.Go(0, "runtime.main"), b.Go(0, "main.h")
	b.Start(g, 0)
	b.At(100).Syscall(g)
	b.At(200).Steal(g)
	b.At(300).Start(h, 0)
	b.At(600).SyscallEndBlocked(g)
	b.At(700).Start(g, 1)
	b.At(800).End(h)
	whole := b.Trace()
	for _, from := range []trace.Time{150, 250, 400, 650} {
		var out bytes.Buffer
		if err := whole.Cut(&out, from, whole.Wall()); err != nil {
			t.Fatal(err)
		}
		part, err := trace.New(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if err := tracetest.Validate(part); err != nil {
			t.Errorf("from %d: %v", from, err)
		}
		if got, want := steps(t, part, 0), steps(t, whole, from); !slices.Equal(got, want) {
			t.Errorf("from %d: %q, expected %q", from, got, want)
		}
	}
}

// steps are the changes of state later than a time, in words without times: a part's are rounded
// apart from those of the whole.
func steps(t *testing.T, tr *trace.Trace, from trace.Time) (list []string) {
	t.Helper()
	if _, err := tr.Events(func(batch []trace.Event) error {
		for _, e := range batch {
			if e.Kind == trace.Change && e.Time > from {
				list = append(list, fmt.Sprint(e.G, e.From, e.To, e.Cause))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// ticksAt returns the ticks of a time of a built trace, whose clock has two a ns.
func ticksAt(t *rapid.T, file []byte, at trace.Time) uint64 {
	r, err := sddf.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range r.Packets() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == spec.Data && p.Record.Tag == spec.TagClock {
			return p.Values[0].(uint64) + 2*uint64(at)
		}
	}
	t.Fatal("found no clock record")
	return 0
}

func commanded(file []byte, args ...spec.Attr) []byte {
	return sddf.AppendCommand(slices.Clip(file), spec.CommandWindow, args...)
}

// A stream with the command is the window that it names, to all that read traces; to others
// it is the whole stream still.
func TestWindowCommand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := random(t).Bytes()
		whole, err := trace.New(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		from := trace.Time(rapid.Int64Range(0, int64(whole.Wall())-1).Draw(t, "from"))
		to := trace.Time(rapid.Int64Range(int64(from)+1, int64(whole.Wall())+10).Draw(t, "to"))
		data := commanded(file, spec.Attr{Key: spec.WindowTo, Value: ticksAt(t, file, to)},
			spec.Attr{Key: spec.WindowFrom, Value: ticksAt(t, file, from)})
		got, err := trace.New(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.Window(from, to)
		if err != nil {
			t.Fatal(err)
		}
		if got.Wall() != want.Wall() || fmt.Sprint(got.Attrs) != fmt.Sprint(want.Attrs) || got.End != want.End {
			t.Errorf("a part of %d ns, %v, %v, expected %d, %v, %v", got.Wall(), got.Attrs, got.End, want.Wall(),
				want.Attrs, want.End)
		}
		sameLines(t, "by command", linesOf(t, got), linesOf(t, want))
		part, err := got.Window(0, got.Wall())
		if err != nil {
			t.Fatal(err)
		}
		sameLines(t, "a window of it", linesOf(t, part), linesOf(t, want))
	})
}

func linesOf(t *rapid.T, tr *trace.Trace) []string {
	l := lines{from: -1, to: 1 << 62}
	if _, err := tr.Events(l.take(0)); err != nil {
		t.Fatal(err)
	}
	return l.list
}

// A command that names no part of the trace is a loss, and the trace is whole. Of several
// commands the last is meant.
func TestBadWindowCommand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := random(t).Bytes()
		whole, err := trace.New(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		at := func(key string, time trace.Time) spec.Attr {
			return spec.Attr{Key: key, Value: ticksAt(t, file, time)}
		}
		wall := whole.Wall()
		for name, args := range map[string][]spec.Attr{
			"nothing":    {},
			"from alone": {at(spec.WindowFrom, 0)},
			"to alone":   {at(spec.WindowTo, wall)},
			"texts":      {{Key: spec.WindowFrom, Value: "0"}, {Key: spec.WindowTo, Value: "9"}},
			"backwards":  {at(spec.WindowFrom, wall), at(spec.WindowTo, 0)},
			"behind":     {at(spec.WindowFrom, wall), at(spec.WindowTo, wall+10)},
			"before":     {{Key: spec.WindowFrom, Value: uint64(1)}, {Key: spec.WindowTo, Value: uint64(2)}},
			"huge":       {{Key: spec.WindowFrom, Value: uint64(1 << 63)}, {Key: spec.WindowTo, Value: ^uint64(0)}},
		} {
			data := commanded(file, args...)
			got, err := trace.New(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			if l := got.Losses(); got.Wall() != wall || l.Records != whole.Losses().Records+1 {
				t.Errorf("%s: %d ns of %d, lost %v, expected the whole trace and one record lost", name, got.Wall(),
					wall, l.List())
			}
			data = commanded(data, at(spec.WindowFrom, 0), at(spec.WindowTo, wall))
			if got, err = trace.New(bytes.NewReader(data), int64(len(data))); err != nil {
				t.Fatal(err)
			}
			if l := got.Losses(); got.End.Reason != "cut" || l.Records != whole.Losses().Records {
				t.Errorf("%s, and then a good one: ended by %s, lost %v", name, got.End.Reason, l.List())
			}
		}
	})
}

// A stream with the command has an index, too: of the window.
func TestWindowCommandIndexed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.sddf")
	rapid.Check(t, func(t *rapid.T) {
		file := random(t).Bytes()
		whole, err := trace.New(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		from := trace.Time(rapid.Int64Range(0, int64(whole.Wall())-1).Draw(t, "from"))
		data := commanded(file, spec.Attr{Key: spec.WindowFrom, Value: ticksAt(t, file, from)},
			spec.Attr{Key: spec.WindowTo, Value: ticksAt(t, file, whole.Wall())})
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path + trace.IndexSuffix)
		plain, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		index, err := os.Create(path + trace.IndexSuffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.WriteIndexEvery(plain, index, rapid.IntRange(1, 20).Draw(t, "every")); err != nil {
			t.Fatal(err)
		}
		index.Close()
		indexed, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer indexed.Close()
		if !indexed.Indexed() {
			t.Fatal("the index was not found")
		}
		begin := trace.Time(rapid.Int64Range(0, int64(plain.Wall())-1).Draw(t, "begin"))
		want, err := plain.Window(begin, plain.Wall())
		if err != nil {
			t.Fatal(err)
		}
		got, err := indexed.Window(begin, plain.Wall())
		if err != nil {
			t.Fatal(err)
		}
		sameLines(t, "by index", linesOf(t, got), linesOf(t, want))
	})
}
