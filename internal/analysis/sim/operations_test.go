package sim_test

import (
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// TestSemaphore: a goroutine that wants much is not overtaken by one that wants little. Of a size
// of 3 the first takes 2, the second waits for 2, and the third for 1 after it.
func TestSemaphore(t *testing.T) {
	t.Parallel()
	take := func(op steps.Op, n int64) op {
		o := operate(op, "sem")
		o.step.SetAmount(n)
		return o
	}
	uses := func(n, ms int64) []op {
		return []op{take(steps.Acquire, n), do("work", ms), take(steps.Release, n)}
	}
	p := writeWith(map[string]int{"sem": 3}, uses(2, 10), uses(2, 10), uses(1, 5))
	for _, policy := range sim.Policies {
		if r := sim.Simulate(p.Program, sim.Options{Procs: 3, Policy: policy}); !near(r.T, 20) {
			t.Errorf("%s: it takes %v, expected 20", policy, r.T)
		}
	}
	all := map[steps.ObjectID]bool{1: true}
	if r := sim.Simulate(p.Program, sim.Options{Procs: 3, Policy: sim.Sharing,
		Change: sim.Change{Capped: all, Cap: 5}}); !near(r.T, 10) {
		t.Errorf("with a size of 5 it takes %v, expected 10", r.T)
	}
	if r := sim.Simulate(p.Program, sim.Options{Procs: 3, Policy: sim.Sharing,
		Change: sim.Change{Capped: all, Cap: 2}}); !near(r.T, 25) {
		t.Errorf("with a size of 2 it takes %v, expected 25", r.T)
	}
}

// TestLends: a channel of permits of which there are more holds more of them. One whose items are
// handed on has only more room.
func TestLends(t *testing.T) {
	t.Parallel()
	uses := func(before, after steps.Op) (ops []op) {
		for range 3 {
			ops = append(ops, operate(before, "turn"), do("work", 10), operate(after, "turn"), do("other", 10))
		}
		return ops
	}
	first := append([]op{operate(steps.Send, "turn")}, uses(steps.Receive, steps.Send)...)
	p := writeWith(map[string]int{"turn": 1}, first, uses(steps.Receive, steps.Send), uses(steps.Receive, steps.Send))
	all := map[steps.ObjectID]bool{1: true}
	for permits, want := range map[int]float64{1: 100, 3: 60} {
		change := sim.Change{Capped: all, Lends: sim.Lends(p.Program, all), Cap: permits}
		if r := sim.Simulate(p.Program, sim.Options{Procs: 3, Policy: sim.Sharing, Change: change}); !near(r.T, want) {
			t.Errorf("with %d permits it takes %v, expected %v", permits, r.T, want)
		}
	}
	on := writeWith(map[string]int{"turn": 9}, uses(steps.Send, steps.Send), uses(steps.Receive, steps.Receive))
	if lends := sim.Lends(on.Program, all); lends[1] {
		t.Error("a channel between two lends its items")
	}
}

// TestTicks: a ticker's values come when they came, whatever was done in between, and one that came
// meanwhile is there at once. Work before the first wait lets all of them come later.
func TestTicks(t *testing.T) {
	t.Parallel()
	var ops []op
	for i := range int64(5) {
		lasted := int64(7)
		if i == 0 {
			lasted, ops = 10, append(ops, do("before", 20))
		}
		tick := op{step: steps.Delays(steps.Timer, lasted), obj: "ticks"}
		tick.step.At = trace.Time(20 + 10*(i+1))
		ops = append(ops, tick, do("send", 3))
	}
	p := write(ops)
	for i := range p.Objects {
		p.Objects[i].Ticks = i > 0
	}
	for scale, want := range map[float64]float64{1: 73, 0: 50, 5: 100 + 10 + 5*15} {
		for _, policy := range sim.Policies {
			r := sim.Simulate(p.Program, sim.Options{Procs: 1, Policy: policy,
				Times: sim.Times{Length: func(id steps.StepID) float64 { return scale * float64(p.Step(id).Work) }}})
			if !near(r.T, want) {
				t.Errorf("%s, work %v times as long: it takes %v, expected %v", policy, scale, r.T, want)
			}
		}
	}
}

// TestHandsOver: under Go's scheduler a goroutine that releases a lock to one that has waited for
// more than a millisecond gives it the processor, too. On one processor the sleep of the second
// under the lock then overlaps the work of the first.
func TestHandsOver(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	under := []op{lock("mu"), sleep(2 * ms), unlock("mu"), do("work", ms)}
	p := write(under, under)
	if r := sim.Simulate(p.Program, sim.Options{Procs: 1, Policy: sim.Go}); r.T < 5*ms || r.T > 5.1*ms {
		t.Errorf("it takes %v, expected 5 ms: two sleeps, and the last one's work", r.T)
	}
}

// Two senders come to a channel without a buffer at 10 and 12, and values are received at 20 and
// 30: the first is served first, or last (Sarukkai and Malony 1993, section 4.2).
func TestP4(t *testing.T) {
	t.Parallel()
	p := writeWith(map[string]int{"c": 0},
		[]op{do("a", 10), signal("c"), do("a2", 100)},
		[]op{do("b", 12), signal("c"), do("b2", 1)},
		[]op{do("r", 20), wait("c"), do("r2", 10), wait("c")})
	for lifo, want := range map[bool]float64{false: 120, true: 130} {
		r := sim.Simulate(p.Program, sim.Options{Procs: 3, Policy: sim.List, LIFO: lifo})
		if r.T != want {
			t.Errorf("last one first %t: the run took %v, expected %v: the first sender goes on at 20 or 30", lifo, r.T,
				want)
		}
	}
}

// barrier makes a program's first operation on a lock that of the goroutine that ends the others'
// waits at a barrier.
func (p program) barrier() {
	x := steps.Crossing{}
	for id := range steps.StepID(p.Steps.Len()) {
		switch s := p.Step(id); {
		case s.Kind == steps.Take:
			x.Takes = append(x.Takes, id)
			p.Tokens = max(p.Tokens, s.Token()+1)
		case s.Kind == steps.Give:
			x.Gives = append(x.Gives, id)
		case s.Op == steps.Lock:
			x.At = id
		}
	}
	p.Crossings = []steps.Crossing{x}
}

func take(token steps.Token) op { return op{step: steps.Takes(token)} }
func give(token steps.Token) op { return op{step: steps.Gives(token)} }

// TestP1: with events three goroutines come to a barrier at 120, 160 and 170, and without at 100,
// 150 and 90. So another one is last. After that they leave one every 5, and the run takes 165
// and not 195 (Sarukkai and Malony 1993, section 3.2). The first to leave is the third one, and not
// the second as in the paper, because it ended the others' waits in the recorded run, and does so
// here.
func TestP1(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		behind [2]int64 // more work of the first and the second, after the barrier
		want   float64
	}{{[2]int64{0, 0}, 165}, {[2]int64{100, 0}, 265}, {[2]int64{0, 100}, 260}} {
		p := write(
			[]op{do("p1", 100), take(1), do("more", c.behind[0])},
			[]op{do("p2", 150), take(2), do("more", c.behind[1])},
			[]op{do("p3", 90), operate(steps.Lock, "mu"), do("beta", 5), do("beta", 5), give(2), do("beta", 5),
				give(1)})
		p.barrier()
		if r := sim.Simulate(p.Program, sim.Options{Procs: 3, Policy: sim.List, Exit: sim.ExitReverse}); r.T != c.want {
			t.Errorf("with %v behind: found %v, expected %v", c.behind, r.T, c.want)
		}
	}
}

// The order in which goroutines leave a barrier: as they came, the last one first, or as they were
// created.
func TestExits(t *testing.T) {
	t.Parallel()
	for exit, want := range map[sim.Exit]float64{sim.ExitRecorded: 140, sim.ExitFIFO: 150, sim.ExitReverse: 130,
		sim.ExitFixed: 150} {
		// They come at 30, 10 and 20, and a works 100 after that. One leaves every 10, beginning at
		// 30: in the recorded run b, a, c.
		p := write(
			[]op{do("c", 20), take(3), do("c2", 1)},
			[]op{do("b", 10), take(2), do("b2", 1)},
			[]op{do("a", 30), take(1), do("a2", 100)},
			[]op{do("d", 5), operate(steps.Lock, "mu"), give(2), do("d1", 10), give(1), do("d2", 10), give(3)})
		p.barrier()
		if r := sim.Simulate(p.Program, sim.Options{Procs: 4, Policy: sim.List, Exit: exit}); r.T != want {
			t.Errorf("%s: the run took %v, expected %v", exit, r.T, want)
		}
	}
}

// A channel's capacity: with a buffer of one a stage waits for the next one at once.
func TestCapacity(t *testing.T) {
	t.Parallel()
	send := []op{}
	get := []op{}
	for range 10 {
		send = append(send, do("send", 1), signal("ch"))
		get = append(get, wait("ch"), do("get", 3))
	}
	for capacity, ends := range map[int]float64{-1: 10, 0: 1 + 3*9, 2: 1 + 3*7, 20: 10} {
		caps := map[string]int{"ch": capacity}
		if capacity < 0 {
			delete(caps, "ch")
		}
		p := writeWith(caps, send, get)
		p.Last = 0 // the sender
		if r := sim.Simulate(p.Program, sim.Options{Policy: sim.Sharing}); !near(r.T, ends) {
			t.Errorf("capacity %d: the sender ends at %v, expected %v", capacity, r.T, ends)
		}
	}
}
