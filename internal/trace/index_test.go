package trace_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// A tick is a ns in these files.
func recorded(t *testing.T, write func(w *sddf.Writer)) *trace.Trace {
	t.Helper()
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "test", spec.Records)
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.New(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func clock(w *sddf.Writer, ns uint64) { w.Data(spec.TagClock, ns, int64(ns), int64(ns), uint64(100e6)) }

func end(w *sddf.Writer, ns uint64) {
	w.Data(spec.TagEnd, ns, "exit", int32(0), uint64(0), uint64(0), uint64(0), uint64(0))
}

// marks is a block of n events, 10 ns apart.
func marks(w *sddf.Writer, seq uint64, n int) {
	var b []byte
	for range n {
		b = binary.LittleEndian.AppendUint64(b, 10<<32|spec.EvGCBegin<<24)
	}
	w.Data(spec.TagEvents, uint32(1), uint32(7), seq, uint64(1000), uint64(0), int32(-1), b)
}

func events(t *testing.T, tr *trace.Trace) (n int, losses trace.Losses) {
	t.Helper()
	losses, err := tr.Events(func(batch []trace.Event) error {
		for _, e := range batch {
			if e.Kind == trace.Mark {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, losses
}

// What threads used and the control group lost before the trace is not its own.
func TestBaselines(t *testing.T) {
	t.Parallel()
	tr := recorded(t, func(w *sddf.Writer) {
		w.Data(spec.TagOSCPU, uint32(1), uint32(7), uint64(1000), uint64(500), uint64(300))
		w.Data(spec.TagThrottle, uint64(1000), uint64(9000), uint64(1))
		clock(w, 1000)
		w.Data(spec.TagOSCPU, uint32(1), uint32(7), uint64(2000), uint64(1400), uint64(350))
		w.Data(spec.TagOSCPU, uint32(2), uint32(8), uint64(2000), uint64(60), uint64(5))
		w.Data(spec.TagThrottle, uint64(2000), uint64(9040), uint64(1))
		clock(w, 2000)
		end(w, 2000)
	})
	want := []trace.Thread{{ID: 1, TID: 7, Run: 900, Wait: 50}, {ID: 2, TID: 8, Run: 60, Wait: 5}}
	if len(tr.Threads) != 2 || tr.Threads[0] != want[0] || tr.Threads[1] != want[1] || tr.Throttled != 40 {
		t.Errorf("threads %+v, throttled %d, want %+v and 40", tr.Threads, tr.Throttled, want)
	}
}

// A chunk that was written while its thread still filled it comes again, whole.
func TestGrownBlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second, want int
		records             int64
	}{{3, 5, 5, 0}, {5, 5, 5, 0}, {5, 3, 5, 1}} {
		tr := recorded(t, func(w *sddf.Writer) {
			clock(w, 1000)
			marks(w, 0, c.first)
			marks(w, 0, c.second)
			clock(w, 2000)
			end(w, 2000)
		})
		if n, losses := events(t, tr); n != c.want || losses.Records != c.records {
			t.Errorf("%d, then %d events: read %d, losses %v", c.first, c.second, n, losses.List())
		}
	}
}

// The trace ends at the limit, the run does not.
func TestLimit(t *testing.T) {
	t.Parallel()
	tr := recorded(t, func(w *sddf.Writer) {
		clock(w, 1000)
		marks(w, 0, 10)
		w.Data(spec.TagLimit, uint64(1045), uint64(123), "bytes")
		clock(w, 2000)
		end(w, 2000)
	})
	if n, losses := events(t, tr); n != 4 || losses.Any() || tr.Wall() != 45 || tr.Ran != 1000 {
		t.Errorf("%d events, losses %v, wall %d, ran %d; want 4, none, 45, 1000", n, losses.List(), tr.Wall(), tr.Ran)
	}
}

// Between two readings a thread had a processor for an even part of the time in which it wanted
// one.
func TestShare(t *testing.T) {
	t.Parallel()
	tr := recorded(t, func(w *sddf.Writer) {
		clock(w, 1000)
		for _, r := range [][3]uint64{{1000, 0, 0}, {2000, 900, 100}, {3000, 1000, 1000}, {4000, 1000, 1000}} {
			w.Data(spec.TagOSCPU, uint32(1), uint32(7), r[0], r[1], r[2])
		}
		clock(w, 4000)
		end(w, 4000)
	})
	for _, c := range []struct {
		thread trace.ThreadID
		at     trace.Time
		share  float64
		until  trace.Time
	}{{1, 0, 0.9, 1000}, {1, 999, 0.9, 1000}, {1, 1000, 0.1, 2000}, {1, 2500, 1, 3000}, {2, 500, 1, math.MaxInt64}} {
		if share, until := tr.Share(c.thread, c.at); share != c.share || until != c.until {
			t.Errorf("thread %d at %d: %v until %d, expected %v until %d", c.thread, c.at, share, until, c.share,
				c.until)
		}
	}
}
