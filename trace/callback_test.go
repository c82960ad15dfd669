package trace_test

import (
	"testing"

	"qinst.dev/trace"
	"qinst.dev/trace/tracetest"
)

// TestCallback: between two calls from C a thread keeps its processor, and takes it from
// itself when the second begins.
func TestCallback(t *testing.T) {
	b := tracetest.New(1)
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for i := range int64(3) {
		b.At(100*i+10).Enter(g, f)
		b.At(100*i+20).Exit(g, f)
		b.At(100*i + 30).Syscall(g)
		g = b.At(100*i + 90).Callback(g)
	}
	b.At(400).End(g)
	tr := b.Trace()
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	created, entered := 0, 0
	losses, err := tr.Events(func(events []trace.Event) error {
		for i := range events {
			switch events[i].Kind {
			case trace.Create:
				created++
			case trace.Enter:
				entered++
			}
		}
		return nil
	})
	if err != nil || losses.Any() || created != 4 || entered != 3 {
		t.Errorf("%d goroutines, %d entries, %+v, %v; expected 4 and 3, and nothing lost", created, entered, losses, err)
	}
}
