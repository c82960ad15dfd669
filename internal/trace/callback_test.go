package trace_test

import (
	"slices"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// TestCallback: between two calls from C a thread keeps its processor, and takes it from
// itself when the second begins.
func TestCallback(t *testing.T) {
	t.Parallel()
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
		t.Errorf("%d goroutines, %d entries, %+v, %v; expected 4 and 3, and nothing lost", created, entered, losses,
			err)
	}
}

// TestCallbackStolen: C calls Go again, and before the thread has its processor back
// another one takes it.
func TestCallbackStolen(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	other := b.Go(g, "main.other")
	b.At(30).Syscall(g)
	g = b.At(90).CallAgain(g)
	b.At(100).Steal(g)
	b.At(110).Start(other, 0)
	b.At(150).SyscallEndBlocked(g)
	b.At(200).End(other)
	b.At(210).Start(g, 0)
	b.At(300).End(g)
	tr := b.Trace()
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	ran := trace.Time(-1)
	losses, err := tr.Events(func(events []trace.Event) error {
		for i := range events {
			if e := &events[i]; e.G == trace.GoID(other) && e.To == trace.Running {
				ran = e.Time
			}
		}
		return nil
	})
	if err != nil || losses.Any() || ran != 110 {
		t.Errorf("the other one ran from %d on, %+v, %v; expected 110, and nothing lost or repaired", ran, losses, err)
	}
}

// TestStolenAtTheEnd: a goroutine is in a system call when the program ends. Its beginning is not
// in the trace, because it would only have been written at the end of the call.
func TestStolenAtTheEnd(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	other := b.Go(g, "main.other")
	b.At(100).Steal(g)
	b.At(110).Start(other, 0)
	b.At(200).End(other)
	var states []trace.State
	losses, err := b.Trace().Events(func(events []trace.Event) error {
		for i := range events {
			if e := &events[i]; e.G == trace.GoID(g) && e.Kind == trace.Change {
				states = append(states, e.To)
			}
		}
		return nil
	})
	if expected := []trace.State{trace.Running, trace.Syscall, trace.Blocked}; err != nil || losses.Any() ||
		!slices.Equal(states, expected) {
		t.Errorf("%v, %+v, %v; expected %v, and nothing lost or repaired", states, losses, err, expected)
	}
}
