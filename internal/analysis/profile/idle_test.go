package profile

import (
	"testing"

	"qinst.dev/internal/trace/tracetest"
)

// Waits for the time, for connections, for signals and until the run is over are nobody's loss;
// others are.
func TestIdles(t *testing.T) {
	const wall = 1000
	for name, c := range map[string]struct {
		o    Object
		want bool
	}{
		"a ticker":    {Object{Waits: 10, Wait: 900, EndedBy: []Wait{{EndedByTimer, 880}, {"main.stop", 20}}}, true},
		"accept":      {Object{Waits: 3, Wait: 900, WaitedIn: []Wait{{"net.(*TCPListener).Accept", 900}}}, true},
		"signals":     {Object{Waits: 3, Wait: 900, WaitedIn: []Wait{{"os/signal.loop", 900}}}, true},
		"for the end": {Object{Waits: 2, Wait: 1900, EndedBy: []Wait{{"main.main", 1900}}}, true},
		"a queue":     {Object{Waits: 10, Wait: 900, EndedBy: []Wait{{"main.send", 900}}}, false},
		"half a ticker": {Object{Waits: 10, Wait: 900, EndedBy: []Wait{{EndedByTimer, 500}, {"main.send", 400}}},
			false},
		"a lock for all": {Object{Waits: 1, Wait: 990, Holds: 2}, false},
	} {
		if got := c.o.idles(wall); got != c.want {
			t.Errorf("%s: idle %v, expected %v", name, got, c.want)
		}
	}
}

// A goroutine that a timer starts has waited for nothing, and still is what nothing ran for.
func TestIdleUntilTimer(t *testing.T) {
	b := tracetest.New(1)
	work := b.Proc("main.tick")
	m := b.Go(0, "runtime.main")
	b.Start(m, 0)
	b.At(10).Wait(m, "select", 0, 0)
	b.At(50)
	g := b.Go(0, "main.tick")
	b.At(52).Start(g, 0)
	b.Enter(g, work)
	b.At(60).Exit(g, work)
	b.End(g)
	p, err := New(b.Trace())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.IdleFor) != 1 || p.IdleFor[0].Reason != StartedByTimer || p.IdleFor[0].Function != "main.tick" ||
		p.IdleFor[0].Time != 40 {
		t.Errorf("nothing ran for %+v, expected 40 ns until a timer called main.tick", p.IdleFor)
	}
}

// A goroutine whose creation was lost may have been started by anybody.
func TestIdleUntilUncreated(t *testing.T) {
	b := tracetest.New(1)
	m := b.Go(0, "runtime.main")
	b.Start(m, 0)
	b.At(10).Wait(m, "select", 0, 0)
	g := b.Uncreated()
	b.At(50).Start(g, 0)
	b.At(60).End(g)
	p, err := New(b.Trace())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.IdleFor) != 0 || p.Idle != 40 {
		t.Errorf("nothing ran for %d ns, for %+v, expected 40 for no known reason", p.Idle, p.IdleFor)
	}
}
