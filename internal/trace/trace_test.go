package trace_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

func open(t testing.TB, data []byte) *trace.Trace {
	t.Helper()
	tr, err := trace.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// all returns the events as text and the losses.
func all(t testing.TB, tr *trace.Trace) ([]string, trace.Losses) {
	t.Helper()
	var out []string
	last := trace.Time(0)
	losses, err := tr.Events(func(batch []trace.Event) error {
		for _, e := range batch {
			if e.Time < last {
				t.Errorf("time goes back from %d to %d", last, e.Time)
			}
			last = e.Time
			out = append(out, fmt.Sprintf("%+v", e))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, losses
}

func random(t *rapid.T) *tracetest.Builder {
	return tracetest.Random(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
}

func TestRandomTracesAreValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		if err := tracetest.Validate(random(t).Trace()); err != nil {
			t.Fatal(err)
		}
	})
}

// A file cut anywhere is read up to the cut, and says so.
func TestTruncated(t *testing.T) {
	t.Parallel()
	b := tracetest.Random(counter(7))
	data := b.Bytes()
	whole, _ := all(t, open(t, data))
	opened := 0
	for n := range len(data) - 20 { // without the check at the end, nothing is missing
		tr, err := trace.New(bytes.NewReader(data[:n]), int64(n))
		if err != nil {
			if n > 32 {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		opened++
		events, losses := all(t, tr)
		if !losses.Any() {
			t.Fatalf("cut at %d: no loss reported", n)
		}
		if len(events) > 2*len(whole)+10 {
			t.Fatalf("cut at %d: %d events, of %d", n, len(events), len(whole))
		}
	}
	if opened < len(data)/2 {
		t.Fatalf("only %d cuts opened", opened)
	}
}

// counter draws numbers that look random and are the same in every run.
func counter(seed uint32) func(int) int {
	return func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
}

func TestForeignFiles(t *testing.T) {
	t.Parallel()
	other := sddf.Preamble("x", spec.Records)
	other = bytes.Replace(other, append([]byte(spec.Magic), spec.Version), append([]byte(spec.Magic), 9), 1)
	for _, c := range []struct{ data, want string }{
		{"", "empty, expected an SDDF file"},
		{"\x7fELF\x02\x01\x01", `it starts with "\x7fELF`},
		{"go 1.25 trace\x00\x00\x00", `it starts with "go 1.25 trace`},
		{string(other), "SDDF version 9, expected version 4, or 1 to 2"},
	} {
		_, err := trace.New(strings.NewReader(c.data), int64(len(c.data)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want one line with %q", c.data, err, c.want)
		}
	}
}

// A missing block is counted, and the rest of the trace still makes sense.
func TestLostBlock(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	b.BlockBytes = 128
	f := b.Proc("main.f")
	m := b.Go(0, "runtime.main")
	b.Start(m, 0)
	for i := range 100 {
		b.At(int64(100*i+1)).Enter(m, f)
		b.At(int64(100*i+50)).Exit(m, f)
	}
	data := b.Bytes()
	cut := withoutBlock(t, data, 5)
	events, losses := all(t, open(t, cut))
	if losses.Blocks != 1 || losses.Missing == 0 || losses.Missing > 20 {
		t.Errorf("losses %+v", losses)
	}
	if len(events) < 150 {
		t.Errorf("only %d events left", len(events))
	}
}

// withoutBlock removes the nth event block from a file.
func withoutBlock(t *testing.T, data []byte, n int) []byte {
	t.Helper()
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == spec.Data && p.Name == "events" {
			if n--; n < 0 {
				return append(append([]byte{}, data[:p.Off]...), data[p.Off+p.Len:]...)
			}
		}
	}
}

// skewed writes two threads' blocks by hand. Thread 1's clock is skew behind, so
// that it starts a goroutine before the other thread created it.
func skewed(t *testing.T, skew int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "test", spec.Records)
	w.Data(spec.TagClock, uint64(0), int64(0), int64(0), uint64(100e6))
	entry := func(dt, kind, arg uint64, words ...uint64) []uint64 {
		return append([]uint64{dt<<32 | kind<<24 | arg}, words...)
	}
	block := func(th uint32, ticks uint64, entries ...[]uint64) {
		var b []byte
		for _, e := range entries {
			for _, x := range e {
				for s := 0; s < 64; s += 8 {
					b = append(b, byte(x>>s))
				}
			}
		}
		w.Data(spec.TagEvents, th, th+100, uint64(0), ticks, uint64(0), int32(-1), b)
	}
	g := func(id, seq uint64) uint64 { return id | seq<<spec.GoBits }
	block(0, 1000,
		entry(0, spec.EvProcs, 2), entry(0, spec.EvProcStart, 0), entry(0, spec.EvGoCreate, 0, g(1, 1), 7),
		entry(0, spec.EvGoStart, 0, g(1, 2)),
		entry(1000, spec.EvGoCreate, 0, g(2, 1), 8), entry(1000, spec.EvGoPark, 3), entry(0, spec.EvProcStop, 0))
	block(1, 2000-uint64(skew),
		entry(0, spec.EvProcStart, 1), entry(10, spec.EvGoStart, 0, g(2, 2)), entry(1980, spec.EvGoUnpark, 0, g(1, 3)),
		entry(5, spec.EvGoStop, 0), entry(5, spec.EvGoStart, 0, g(1, 4)))
	w.Data(spec.TagClock, uint64(10000), int64(10000), int64(0), uint64(100e6))
	w.Data(spec.TagEnd, uint64(10000), "exit", int32(0), uint64(0), uint64(0), uint64(0), uint64(0))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Sequence numbers order events whose clocks disagree.
func TestSkew(t *testing.T) {
	t.Parallel()
	for _, skew := range []int{0, 5, 100, 900} {
		if err := tracetest.Validate(open(t, skewed(t, skew))); err != nil {
			t.Errorf("skew %d: %v", skew, err)
		}
	}
}

// When the event before never comes, the stream goes on, repaired and counted.
func TestLostPredecessor(t *testing.T) {
	t.Parallel()
	data := withoutBlock(t, skewed(t, 0), 0)
	events, losses := all(t, open(t, data))
	if losses.States == 0 {
		t.Errorf("no repair counted: %+v", losses)
	}
	if len(events) < 5 {
		t.Errorf("%d events", len(events))
	}
}

// Reading twice, from one opened trace or two, gives the same events.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	data := tracetest.Random(counter(3)).Bytes()
	tr := open(t, data)
	a, la := all(t, tr)
	b, lb := all(t, tr)
	c, lc := all(t, open(t, data))
	if fmt.Sprint(a) != fmt.Sprint(b) || fmt.Sprint(a) != fmt.Sprint(c) || la != lb || la != lc {
		t.Error("two readings differ")
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	m := b.Go(0, "runtime.main")
	b.At(5).Start(m, 0)
	b.At(1e12+7).Park(m, "sleep")
	tr := b.Trace()
	var times []trace.Time
	tr.Events(func(batch []trace.Event) error {
		for _, e := range batch {
			if e.Kind == trace.Change {
				times = append(times, e.Time)
			}
		}
		return nil
	})
	if fmt.Sprint(times) != "[5 1000000000007]" || tr.Wall() != 1e12+7 {
		t.Errorf("times %v, wall %d", times, tr.Wall())
	}
}

func FuzzTrace(f *testing.F) {
	for seed := range uint32(4) {
		data := tracetest.Random(counter(seed)).Bytes()
		f.Add(data)
		if tr, err := trace.New(bytes.NewReader(data), int64(len(data))); err == nil && tr.Wall() > 2 {
			var part bytes.Buffer // what begins in the middle
			if err := tr.Cut(&part, tr.Wall()/3, tr.Wall()/3*2+1); err != nil {
				f.Fatal(err)
			}
			f.Add(part.Bytes())
		}
	}
	f.Add([]byte("\x94\x00\xa4SDDF\x01\xa0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := trace.New(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		all(t, tr)
	})
}
