package extensions_test

import (
	"bytes"
	"io"
	"testing"

	"qinst.dev/extensions"
	"qinst.dev/internal/trace/tracetest"
)

// calls is the trace of a program that calls a lot: pairs at two depths.
func calls(n int) []byte {
	tr := tracetest.New(1)
	outer, inner := tr.Proc("main.outer"), tr.Proc("main.inner")
	tr.BlockBytes = 32 << 10
	g := tr.Go(0, "runtime.main")
	tr.Start(g, 0)
	for i := range n / 4 {
		tr.At(int64(1000 + 100*i))
		tr.Enter(g, outer)
		tr.At(tr.Now() + 10)
		tr.Enter(g, inner)
		tr.At(tr.Now() + 10)
		tr.Exit(g, inner)
		tr.At(tr.Now() + 10)
		tr.Exit(g, outer)
	}
	tr.End(g)
	return tr.Bytes()
}

type null struct{ n int }

func (e *null) Batch(b *extensions.Batch)   { e.n += len(b.Events) }
func (e *null) Flush(*extensions.Out, bool) {}

func BenchmarkReduce(b *testing.B) {
	const events = 1 << 20
	file := calls(events)
	for _, name := range []string{"null", "profile", "lifetimes", "transitions", "sample:100", "heavy", "windows",
		"outliers"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				f, err := extensions.Open(bytes.NewReader(file), int64(len(file)))
				if err != nil {
					b.Fatal(err)
				}
				if name == "null" {
					f.Use(name, extensions.Procedures, &null{})
				} else {
					s, e, err := extensions.Find(name)
					if err != nil {
						b.Fatal(err)
					}
					f.Use(name, s.Kinds, e)
				}
				b.StartTimer()
				if err := f.Reduce(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
		})
	}
}
