package trace_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// keptOnly is a file as a flight recorder leaves it: of each thread the last blocks.
func keptOnly(t *rapid.T, file []byte, dropped func(thread, blocks int) int) []byte {
	r, err := sddf.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[uint64]int{}
	each := func(f func(p *sddf.Packet) error) {
		r, _ = sddf.NewReader(bytes.NewReader(file), int64(len(file)))
		for p, err := range r.Packets() {
			if err = errors.Join(err, f(p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	each(func(p *sddf.Packet) error {
		if p.Kind == spec.Data && p.Record.Tag == spec.TagEvents {
			blocks[p.Values[0].(uint64)]++
		}
		return nil
	})
	gone := map[uint64]int{}
	for th := range uint64(64) {
		if n := blocks[th]; n > 0 {
			gone[th] = min(dropped(int(th), n), n-1)
		}
	}
	var out bytes.Buffer
	w := sddf.NewWriter(&out, r.Producer, nil)
	if err := w.Attribute("mode", "flight"); err != nil {
		t.Fatal(err)
	}
	each(func(p *sddf.Packet) error {
		switch p.Kind {
		case spec.Attribute:
			return w.Attribute(p.Name, p.Value)
		case spec.Descriptor:
			return w.Define(*p.Record)
		case spec.Data:
			values := slices.Clone(p.Values)
			if p.Record.Tag == spec.TagEvents && int(values[2].(uint64)) < gone[values[0].(uint64)] {
				return nil
			}
			for i, v := range values {
				if b, ok := v.(sddf.Blob); ok {
					if values[i], err = r.ReadBlob(nil, b); err != nil {
						return err
					}
				}
			}
			return w.Data(p.Record.Tag, values...)
		}
		return nil
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// distinct is a random trace whose steps take time, as real ones do: of events at one time on two
// threads no order is known.
func distinct(t *rapid.T) (file []byte, whole *trace.Trace) {
	step := false
	file = tracetest.Random(func(n int) int {
		v := rapid.IntRange(0, n-1).Draw(t, "n")
		if step && n == 2 {
			v = 1
		}
		if step = n == 1000; step {
			v = max(v, 1)
		}
		return v
	}).Bytes()
	whole, err := trace.New(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return file, whole
}

// sameSince compares the last part of a trace with the whole of it there, but for procedures that
// were entered before and that no exit tells of.
func sameSince(t *rapid.T, whole, part *trace.Trace) {
	from := trace.Time(part.Int("cut_from_ns"))
	want, got := lines{from: from, to: whole.Wall()}, lines{from: from, to: whole.Wall()}
	losses, err := whole.Events(want.take(0))
	if err != nil || losses.Any() {
		t.Fatalf("the whole trace: %v, %+v", err, losses)
	}
	if losses, err = part.Events(got.take(from)); err != nil ||
		losses.States+losses.NoGoroutine+losses.Blocks > 0 {
		t.Errorf("%v, %+v", err, losses)
	}
	for _, l := range []*lines{&want, &got} {
		l.list = slices.DeleteFunc(l.list, func(s string) bool {
			return strings.Contains(s, "Kind:4 ") || strings.Contains(s, "Kind:13 ")
		})
	}
	sameLines(t, "the last part", got.list, want.list)
}

// What a flight recorder has kept reads as the whole trace does there.
func TestFlight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file, whole := distinct(t)
		kept := keptOnly(t, file, func(_, n int) int { return rapid.IntRange(0, n-1).Draw(t, "dropped") })
		flight, err := trace.New(bytes.NewReader(kept), int64(len(kept)))
		if err != nil {
			t.Fatal(err)
		}
		sameSince(t, whole, flight)
	})
}

// The last part of a trace reads as the whole trace does there.
func TestLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		_, whole := distinct(t)
		if whole.Wall() < 2 {
			t.Skip("it has no parts")
		}
		long := trace.Time(rapid.Int64Range(1, int64(whole.Wall())-1).Draw(t, "long"))
		part := whole.Last(long)
		if from := trace.Time(part.Int("cut_from_ns")); from > whole.Wall()-long || from+part.Wall() != whole.Wall() {
			t.Errorf("found %d to %d of %d, expected the last %d", from, from+part.Wall(), whole.Wall(), long)
		}
		sameSince(t, whole, part)
	})
}
