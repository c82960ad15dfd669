package trace_test

import (
	"errors"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// long is a trace of several hundred batches.
func long() *trace.Trace {
	var ops []tracetest.Op
	for range 100_000 {
		ops = append(ops, tracetest.Do("main.f", 100))
	}
	return tracetest.Simulate(2, []tracetest.Thread{{Name: "main.g", Ops: ops}, {Name: "main.h", Ops: ops}}).Trace()
}

// seen is what a reader saw, and how its reading ended.
type seen struct {
	events []trace.Event
	losses trace.Losses
	err    error
}

func (s *seen) read(most int) func(trace.Source) {
	return func(source trace.Source) {
		s.losses, s.err = source.Events(func(events []trace.Event) error {
			if s.events = append(s.events, events...); len(s.events) > most {
				return errEnough
			}
			return nil
		})
	}
}

var errEnough = errors.New("enough")

// Two readers see what one would, each at its own pace, and one that leaves does not end the other.
func TestTogether(t *testing.T) {
	tr := long()
	var alone seen
	alone.read(1 << 30)(tr)
	if alone.err != nil || len(alone.events) < 400_000 {
		t.Fatalf("%d events, error %v", len(alone.events), alone.err)
	}
	same := func(name string, s *seen) {
		t.Helper()
		if s.err != nil || len(s.events) != len(alone.events) || s.losses != alone.losses {
			t.Errorf("%s: %d events, losses %v, error %v; expected %d, %v and none", name, len(s.events), s.losses, s.err,
				len(alone.events), alone.losses)
			return
		}
		for i := range s.events {
			if s.events[i] != alone.events[i] {
				t.Fatalf("%s: event %d is %v, expected %v", name, i, s.events[i], alone.events[i])
			}
		}
	}
	var one, other seen
	trace.Together(tr, one.read(1<<30), other.read(1<<30))
	same("one of two", &one)
	same("the other of two", &other)

	var stays, leaves seen
	trace.Together(tr, stays.read(1<<30), leaves.read(10_000))
	same("the one that stays", &stays)
	if n := len(leaves.events); !errors.Is(leaves.err, errEnough) || n < 10_000 || n > 20_000 {
		t.Errorf("the one that leaves saw %d events, and then %v", n, leaves.err)
	}

	var both [2]seen
	trace.Together(tr, both[0].read(10), both[1].read(10))
	if !errors.Is(both[0].err, errEnough) || !errors.Is(both[1].err, errEnough) {
		t.Errorf("both left, with %v and %v", both[0].err, both[1].err)
	}

	var twice seen
	trace.Together(tr, func(s trace.Source) {
		new(seen).read(1 << 30)(s)
		twice.read(1 << 30)(s)
	}, func(trace.Source) {})
	same("the one that reads twice, beside one that does not read", &twice)
}

// The tables of a reader are its own.
func TestTogetherTables(t *testing.T) {
	tr := long()
	name := tr.Points[0].Name
	trace.Together(tr, func(s trace.Source) {
		s.Tables().Points[0].Name = "changed"
		s.Tables().Dotted["changed"] = true
	}, func(s trace.Source) {
		new(seen).read(1 << 30)(s)
		if s.Tables().Points[0].Name != name || s.Tables().Dotted["changed"] {
			t.Error("one reader sees what the other one changed")
		}
	})
	if tr.Points[0].Name != name {
		t.Error("the source has what a reader changed")
	}
}
