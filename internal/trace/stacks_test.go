package trace_test

import (
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// A goroutine that was stopped by the runtime waits for nothing, whatever an older program wrote
// into the file.
func TestStopped(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for i, functions := range [][]string{{"runtime.asyncPreempt", "main.compute"}, {"main.use"}} {
		b.At(int64(i)*100+10).Wait(g, "sync.Mutex.Lock", 0x1000, b.Stack(functions...))
		b.At(int64(i)*100+60).Unpark(0, g)
		b.Start(g, 0)
	}
	b.At(300).End(g)
	tr := b.Trace()
	var reasons []string
	losses, err := tr.Events(func(list []trace.Event) error {
		for i := range list {
			e := &list[i]
			if e.Kind == trace.Change && e.To == trace.Waiting {
				reasons = append(reasons, tr.Reason(e.Wait().Reason))
				if stopped := tr.Reason(e.Wait().Reason) == "preempted"; stopped != (e.Wait().Object == 0) {
					t.Errorf("a wait for %v with the reason %s", e.Wait().Object, tr.Reason(e.Wait().Reason))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(reasons) != 2 || reasons[0] != "preempted" || reasons[1] != "sync.Mutex.Lock" || losses.Reasons != 1 {
		t.Errorf("found waits for %q and %d stops with other reasons, expected a stop and a wait for a lock", reasons,
			losses.Reasons)
	}
}

// One event stands for a run of yields, after which the goroutine went on each time. It changes no
// state.
func TestYields(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.At(100).Yields(g, 70)
	b.Yields(g, 0)
	b.At(300).End(g)
	tr := b.Trace()
	var n, events uint64
	if _, err := tr.Events(func(list []trace.Event) error {
		for i := range list {
			if e := &list[i]; e.Kind == trace.Yields {
				n, events = e.Yields(), events+1
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n != 70 || events != 1 {
		t.Errorf("found %d yields in %d events, expected 70 in one", n, events)
	}
}
