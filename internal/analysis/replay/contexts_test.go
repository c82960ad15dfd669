package replay_test

import (
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace/tracetest"
)

// A context's origin is an older context, so that every walk over origins ends: also where
// goroutines are started recursively, and so begin in contexts that others enter.
func TestOrigins(t *testing.T) {
	t.Parallel()
	seen, nested := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		b := tracetest.New(1)
		procs := []uint32{b.Proc("main.main"), b.Proc("main.visit"), b.Proc("main.walk"),
			b.Loop("main.walk: for", false)}
		var waiting []tracetest.G
		left := 60
		var body func(g tracetest.G, depth int)
		body = func(g tracetest.G, depth int) {
			for ; left > 0; left-- {
				b.At(b.Now() + 10)
				switch p := rapid.SampledFrom(procs).Draw(rt, "point"); rapid.IntRange(0, 4).Draw(rt, "step") {
				case 0:
					return
				case 1, 2:
					if depth < 8 {
						left--
						b.Enter(g, p)
						body(g, depth+1)
						b.Exit(g, p)
					}
				case 3:
					waiting = append(waiting, b.Go(g, "main.visit"))
				case 4:
					b.Name(g, rapid.SampledFrom([]string{"reader", "writer"}).Draw(rt, "name"))
				}
			}
		}
		waiting = append(waiting, b.Go(0, "runtime.main"))
		for len(waiting) > 0 {
			g := waiting[0]
			waiting = waiting[1:]
			b.Start(g, 0)
			body(g, 0)
			b.At(b.Now() + 10).End(g)
		}
		r := replay.New(b.Trace(), replay.Options{})
		if _, err := r.Run(replay.Nop{}); err != nil {
			rt.Fatal(err)
		}
		for id := range replay.ContextID(r.Contexts.Len()) {
			switch from := r.Contexts.Node(id).From; {
			case from >= id:
				rt.Fatalf("context %d was entered from %d, expected an older one", id, from)
			case from >= 0:
				nested++
			}
			seen++
		}
	})
	if seen == 0 || nested == 0 {
		t.Errorf("%d contexts, %d of them entered from others: nothing was tested", seen, nested)
	}
}
