package profile_test

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// bigTrace writes about 200 MB: four processors that call procedures two deep,
// 24 ns an event, and every 1,000 calls a park and a wake-up.
func bigTrace(b *testing.B) string {
	name := filepath.Join(b.TempDir(), "big.sddf")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	const procs, calls = 4, 1_550_000
	tb := tracetest.NewTo(w, procs)
	outer, inner := tb.Proc("main.outer"), tb.Proc("main.inner")
	m := tb.Go(0, "runtime.main")
	tb.Start(m, 0)
	gs := []tracetest.G{m}
	for i := 1; i < procs; i++ {
		g := tb.Go(m, "main.worker")
		tb.Start(g, i)
		gs = append(gs, g)
	}
	now := int64(0)
	for i := range calls {
		for _, step := range []func(tracetest.G){
			func(g tracetest.G) { tb.Enter(g, outer) }, func(g tracetest.G) { tb.Enter(g, inner) },
			func(g tracetest.G) { tb.Exit(g, inner) }, func(g tracetest.G) { tb.Exit(g, outer) },
		} {
			for _, g := range gs {
				now += 6
				tb.At(now)
				step(g)
			}
		}
		if i%1000 == 999 {
			k := 1 + i/1000%(procs-1)
			tb.Park(gs[k], "chan receive")
			tb.Unpark(m, gs[k])
			tb.Start(gs[k], k)
		}
	}
	if err := tb.Finish(); err != nil {
		b.Fatal(err)
	}
	w.Flush()
	f.Close()
	return name
}

func BenchmarkRead(b *testing.B) {
	name := bigTrace(b)
	read := func(b *testing.B, f func(t *trace.Trace) int64) {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var events int64
		for b.Loop() {
			t, err := trace.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			events += f(t)
			t.Close()
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		b.ReportMetric(float64(int64(after.HeapSys)-int64(before.HeapSys))/(1<<20), "MiB-heap")
	}
	b.Run("trace", func(b *testing.B) {
		read(b, func(t *trace.Trace) (n int64) {
			t.Events(func(batch []trace.Event) error {
				n += int64(len(batch))
				return nil
			})
			return n
		})
	})
	b.Run("profile", func(b *testing.B) {
		read(b, func(t *trace.Trace) int64 {
			p, err := profile.New(t)
			if err != nil {
				b.Fatal(err)
			}
			return p.Events
		})
	})
}
