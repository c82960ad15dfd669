package steps_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

const ms = 1_000_000

func build(t *testing.T, b *tracetest.Builder) *steps.Program {
	t.Helper()
	p, _, err := steps.Build(b.Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// named are the objects whose first operation has a name.
func named(p *steps.Program, name string) (list []steps.Object) {
	for _, o := range p.Objects {
		if o.Name >= 0 && p.R.T.Points[o.Name].Name == name {
			list = append(list, o)
		}
	}
	return list
}

// Two successive channels at one address are two objects, each with its
// capacity.
func TestChannels(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	send, receive := b.Object("main.ch", spec.OpSend), b.Object("main.ch", spec.OpReceive)
	b.Channel(g, 0x1000, 3)
	b.Sync(g, send, 0x1000, 1)
	b.At(5).Channel(g, 0x1000, 0)
	b.Sync(g, receive, 0x1000, 0)
	b.At(10)
	list := named(build(t, b), "main.ch")
	if len(list) != 2 || list[0].Cap != 3 || list[1].Cap != 0 {
		t.Fatalf("found %+v, expected two channels with capacities of 3 and 0", list)
	}
	if !list[0].Free || list[1].Free {
		t.Errorf("found %+v: the second channel was received from and never sent to, so that its operations are not all known", list)
	}
}

// A channel that is closed before anything else of it is seen is one channel.
func TestClosedFirst(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	done, receive := b.Object("main.done", spec.OpClose), b.Object("main.done", spec.OpReceive)
	h := b.Go(g, "main.worker")
	b.Start(h, 1)
	b.Wait(g, "chan receive", 0x1000, 0)
	b.At(ms).Sync(h, done, 0x1000, 0)
	b.Unpark(h, g)
	b.End(h)
	b.Start(g, 0)
	b.Channel(g, 0x1000, 0)
	b.Sync(g, receive, 0x1000, 0)
	b.At(2 * ms)
	if list := named(build(t, b), "main.done"); len(list) != 1 || !list[0].Free || list[0].Cap != 0 {
		t.Errorf("found %+v, expected one channel without room of which all is known", list)
	}
}

// A receiver whose wait the last event ends has its operation: with the next one it would be seen.
func TestLastOperation(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	send, receive := b.Object("main.ch", spec.OpSend), b.Object("main.ch", spec.OpReceive)
	closes := b.Object("main.ch", spec.OpClose)
	g := b.Go(main, "main.worker")
	b.Start(g, 1)
	b.Channel(main, 0x1000, 0)
	b.Wait(g, "chan receive", 0x1000, 0)
	b.At(ms).Unpark(main, g)
	b.Sync(main, send, 0x1000, 0)
	b.Start(g, 1)
	b.Sync(g, receive, 0x1000, 0)
	b.At(2*ms).Wait(g, "chan receive", 0x1000, 0)
	b.At(3*ms).Sync(main, closes, 0x1000, 0)
	b.Unpark(main, g)
	b.At(3*ms + 1)
	if list := named(build(t, b), "main.ch"); len(list) != 1 || !list[0].Free {
		t.Errorf("found %+v, expected one channel of which all is known", list)
	}
}

// What a channel holds when the trace begins shows in the lengths of its queue.
func TestHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ held, sent int }{{0, 8}, {3, 0}, {3, 8}, {5, 5}} {
		b := tracetest.New(1)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		send, receive := b.Object("main.ch", spec.OpSend), b.Object("main.ch", spec.OpReceive)
		n := c.held
		for range c.sent {
			n++
			b.Sync(g, send, 0x1000, n)
		}
		for range max(c.held, c.sent) { // all that it holds, or as many as are sent
			n--
			b.Sync(g, receive, 0x1000, n)
		}
		b.At(10)
		if list := named(build(t, b), "main.ch"); len(list) != 1 || !list[0].Free || list[0].Held != c.held {
			t.Errorf("%+v: found %+v, expected one channel of which all is known", c, list)
		}
	}
}

// Operations that were counted and not traced leave an object to the order of the run, and a note
// says so.
func TestCounted(t *testing.T) {
	t.Parallel()
	for _, counted := range []uint64{0, 5} {
		b := tracetest.New(1)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
		b.Count(lock, counted)
		b.Sync(g, lock, 0x1000, 0)
		b.At(ms).Sync(g, unlock, 0x1000, 0)
		b.At(2 * ms)
		p := build(t, b)
		list := named(p, "main.mu")
		if len(list) != 1 || list[0].Free != (counted == 0) {
			t.Errorf("%d counted: found %+v", counted, list)
		}
		if note := strings.Join(p.Notes, "; "); strings.Contains(note, "main.mu") != (counted > 0) {
			t.Errorf("%d counted: notes are %q", counted, note)
		}
	}
}

// A WaitGroup whose goroutines its method Go starts has no operation where they end.
func TestWaitGroupGo(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	add, join := b.Object("main.wg", spec.OpAdd), b.Object("main.wg", spec.OpWait)
	b.Sync(g, add, 0x1000, 0)
	first := b.Go(g, "sync.(*WaitGroup).Go.func1")
	b.Sync(g, add, 0x1000, 1)
	second := b.Go(g, "sync.(*WaitGroup).Go.func1")
	b.Wait(g, "sync.WaitGroup.Wait", 0x1000, 0)
	b.Start(first, 0)
	b.Start(second, 1)
	b.At(ms).End(first)
	b.At(2*ms).Unpark(second, g)
	b.End(second)
	b.Start(g, 0)
	b.Sync(g, join, 0x1000, 0)
	b.At(3 * ms)
	p := build(t, b)
	if list := named(p, "main.wg"); len(list) != 1 || !list[0].Free {
		t.Fatalf("found %+v, expected one WaitGroup of which all is known", list)
	}
	for i, want := range []bool{false, true, true} {
		if got := p.Gs[i].Done != 0; got != want {
			t.Errorf("goroutine %d ends for a WaitGroup: %v, expected %v", p.Gs[i].ID, got, want)
		}
	}
	for id := range steps.StepID(p.Steps.Len()) {
		if s := p.Step(id); s.Op == steps.Join && s.Dones() != 2 {
			t.Errorf("the WaitGroup's Wait needs %d ends, expected 2", s.Dones())
		}
	}
}

// Where only some operations Done are events the goroutines whose function has them are done when
// they end, if there are as many as operations, and a Join needs all that were created before.
func TestCountedDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hits    uint64 // besides that of the event
		after   int64  // what the first goroutine works after it, in ns
		certain bool
	}{{2, 0, true}, {1, 0, false}, {2, 5000, false}} {
		b := tracetest.New(1)
		work := b.Proc("main.work")
		add, done, join := b.Object("main.wg", spec.OpAdd), b.Object("main.wg", spec.OpDone),
			b.Object("main.wg", spec.OpWait)
		b.In(done, work)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.Sync(g, add, 0x1000, 1)
		b.Count(add, 2)
		b.Count(done, c.hits)
		var all []tracetest.G
		for range 3 {
			all = append(all, b.Go(g, "main.work"))
		}
		b.Wait(g, "sync.WaitGroup.Wait", 0x1000, 0)
		for i, w := range all {
			b.Start(w, 0)
			b.Enter(w, work)
			b.At(b.Now() + 10_000)
			if i == 0 {
				b.Sync(w, done, 0x1000, 2)
				b.At(b.Now() + c.after)
			}
			if i == 2 {
				b.Unpark(w, g)
			}
			b.Exit(w, work)
			b.End(w)
		}
		b.Start(g, 0)
		b.Sync(g, join, 0x1000, 0)
		p := build(t, b)
		list := named(p, "main.wg")
		if len(list) != 1 || list[0].Free != c.certain {
			t.Errorf("%+v: found %+v", c, list)
		}
		ends, needs := 0, 0
		for i := range p.Gs {
			if p.Gs[i].Done != 0 {
				ends++
			}
		}
		for id := range steps.StepID(p.Steps.Len()) {
			if s := p.Step(id); s.Op == steps.Join {
				needs = s.Dones()
			}
		}
		if c.certain && (ends != 3 || needs != 3) {
			t.Errorf("%d goroutines are done when they end, and the Join needs %d, expected 3", ends, needs)
		}
	}
}

// A wait that the last one of several goroutines ends, when it ends, is for all of them, though no
// operation tells of it: those of the same kind, and not those that go on.
func TestAwaited(t *testing.T) {
	t.Parallel()
	for _, more := range []bool{false, true} {
		b := tracetest.New(2)
		work := b.Proc("main.work")
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.Go(g, "main.background")
		first, second := b.Go(g, "main.worker"), b.Go(g, "main.worker")
		if more {
			b.Go(g, "main.worker") // it has not begun when the others have ended
		}
		b.Wait(g, "sync.WaitGroup.Wait", 0x1000, 0)
		b.Start(first, 0)
		b.Start(second, 1)
		b.Enter(first, work)
		b.At(1*ms).Exit(first, work)
		b.End(first)
		b.At(2*ms).Unpark(second, g)
		b.End(second)
		b.Start(g, 0)
		b.At(3 * ms)
		p := build(t, b)
		var needs, done int
		for id := range steps.StepID(p.Steps.Len()) {
			if s := p.Step(id); s.Op == steps.Join && p.Objects[s.Obj].Free {
				needs = s.Dones()
			}
		}
		for i := range p.Gs {
			if p.Gs[i].Done != 0 {
				done++
			}
		}
		if want := map[bool]int{false: 2, true: 0}[more]; needs != want || done != want {
			t.Errorf("one more goroutine: %v; the wait is for %d ends, of %d goroutines, expected %d", more, needs, done,
				want)
		}
	}
}

// A worker of the collector begins to work because of the goroutine that began the cycle.
func TestCycle(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	worker := b.Go(0, "runtime.gcBgMarkWorker")
	b.Start(worker, 1)
	b.At(ms).Park(worker, "GC worker (idle)")
	b.At(3*ms).Note(g, spec.EvGCBegin)
	b.At(4*ms).Unpark(0, worker)
	b.Start(worker, 1)
	b.At(5 * ms)
	p := build(t, b)
	gives, takes := map[steps.Token]bool{}, 0
	for id := range steps.StepID(p.Steps.Len()) {
		switch s := p.Step(id); s.Kind {
		case steps.Give:
			gives[s.Token()] = true
		case steps.Take:
			if takes++; !gives[s.Token()] {
				t.Errorf("the worker takes token %d, which nobody gave before", s.Token())
			}
		}
	}
	if takes != 1 {
		t.Errorf("found %d waits for a token, expected the worker's", takes)
	}
}

// The collector's workers begin when a goroutine starts them, as others do: otherwise they would
// come from outside, at a time that no change of the program moves, and so would all that wait for
// them.
func TestSystemGoroutine(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.At(ms)
	worker := b.Go(g, "runtime.gcBgMarkWorker")
	b.Start(worker, 1)
	b.At(2*ms).Park(worker, "GC worker (idle)")
	b.At(3 * ms)
	p := build(t, b)
	for i := range p.Gs {
		if g := &p.Gs[i]; g.ID == trace.GoID(worker) && g.By != 0 {
			t.Errorf("the worker was started by %d, expected the goroutine that did", g.By)
		}
	}
}

// TestTimeline: all that goroutines worked is in the timeline, and so is how long they were ready.
func TestTimeline(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	for i := range 500 {
		p := build(t, tracetest.Random(r.IntN))
		work, waited := 0., 0.
		for g := range p.Gs {
			at := p.Gs[g].Created
			for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
				s := p.Step(id)
				work += float64(s.Work)
				if s.Kind == steps.Ready && s.Cause() == steps.WakeUp {
					waited += float64(int64(s.At-at) - s.Work)
				}
				at = s.At
			}
		}
		const n = 37
		running, ready := p.Timeline(n)
		sum := func(list []float64) (ns float64) {
			for _, v := range list {
				ns += v * float64(p.End) / n
			}
			return ns
		}
		if got := sum(running); math.Abs(got-work) > 1e-6*max(work, 1) {
			t.Fatalf("program %d: the timeline has work of %v ns, expected %v", i, got, work)
		}
		if got := sum(ready); math.Abs(got-waited) > 1e-6*max(waited, 1) {
			t.Fatalf("program %d: the timeline has %v ns ready, expected %v", i, got, waited)
		}
	}
}

// A list has its elements in order, over the ends of its pieces.
func TestList(t *testing.T) {
	t.Parallel()
	var l steps.List[int]
	for i := range 10_000 {
		l.Add(i)
	}
	for i := range l.Len() {
		if *l.At(i) != i {
			t.Fatalf("element %d of a list is %d", i, *l.At(i))
		}
	}
}

// TestDoubts: what a trace is only a part of stands first.
func TestDoubts(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	b.At(4_000_000).Park(main, "chan receive")
	b.At(5_000_000)
	tr := b.Trace()
	window, err := tr.Window(1_000_000, 3_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		source trace.Source
		want   string
	}{"whole": {tr, "was waiting"}, "window": {window, "a part of a run, 2.00ms of it from 1.00ms on"}} {
		p, _, err := steps.Build(c.source, steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], c.want) {
			t.Errorf("%s: found the warnings %q, expected one with %q", what, p.Warnings, c.want)
		}
	}
}

// TestLate: of a wait for a timer only the time until that was due is a delay on any machine.
// Behind it the goroutine waited for a processor, if none was idle; if one was, the system was
// late.
func TestLate(t *testing.T) {
	t.Parallel()
	for _, busy := range []bool{true, false} {
		b := tracetest.New(1)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		h := b.Go(g, "main.hog")
		b.At(ms).Park(g, "sleep")
		b.Start(h, 0)
		if !busy {
			b.At(2*ms).Park(h, "sleep")
		}
		b.At(20*ms).UnparkLate(g, 9*ms)
		if busy {
			b.Yield(h)
		}
		b.Start(g, 0)
		b.At(21 * ms)
		p := build(t, b)
		var delay, ready int64
		at := p.Gs[0].Created
		for id := p.Gs[0].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			switch {
			case s.Kind == steps.Delay && s.Cause() == steps.Timer:
				delay = s.Lasts()
			case s.Kind == steps.Ready:
				ready = max(ready, int64(s.At-at)-s.Work)
			}
			at = s.At
		}
		want := [2]int64{10 * ms, 9 * ms}
		if !busy {
			want = [2]int64{19 * ms, 0}
		}
		if got := [2]int64{delay, ready}; got != want {
			t.Errorf("busy %v: found a delay of %d ns and %d ns ready, expected %v", busy, delay, ready, want)
		}
	}
}

// TestEndless: work that lasts until a time is over is named, if it is much; what an ordinary
// procedure does is not.
func TestEndless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		timed bool
		turns int64 // ms
		named bool
	}{{true, 50, true}, {true, 5, false}, {false, 50, false}} {
		b := tracetest.New(1)
		load, other := b.Proc("main.load"), b.Proc("main.other")
		if c.timed {
			b.Timed(load)
		}
		inner := b.Proc("main.inner")
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.Enter(g, load)
		b.Enter(g, inner)
		b.At(c.turns * ms)
		b.Exit(g, inner)
		b.Exit(g, load)
		b.Enter(g, other)
		b.At(100 * ms)
		b.Exit(g, other)
		b.End(g)
		p := build(t, b)
		if notes := strings.Join(p.Warnings, "; "); strings.Contains(notes, "main.load, with") != c.named {
			t.Errorf("%+v: the doubts are %q", c, notes)
		}
	}
}

// TestUntold: where the system does not say when it took a processor, what it gave the thread is
// left of long pieces of work, and the rest is a wait for the processor. Short pieces stay as they
// are.
func TestUntold(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	g := b.Go(0, "runtime.main")
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	b.Given(0, 0, 0, 0)
	b.Start(g, 0)
	b.At(20*ms).Sync(g, lock, 0x1000, 0)
	b.Sync(g, unlock, 0x1000, 0)
	b.Given(0, 15*ms, 5*ms, 0)
	b.At(40*ms).Sync(g, lock, 0x1000, 0)
	b.Given(0, 35*ms, 5*ms, 0)
	b.At(40*ms+ms/2).Sync(g, unlock, 0x1000, 0)
	b.Given(0, 35*ms, 5*ms+ms/2, 0)
	p := build(t, b)
	var work, off []int64
	at := p.Gs[0].Created
	for id := p.Gs[0].First; id != 0; id = p.Step(id).Next {
		if s := p.Step(id); s.Kind == steps.Ready && s.Cause() == steps.OffCPU {
			work, off = append(work, s.Work), append(off, int64(s.At-at)-s.Work)
		} else if s.Work > 0 {
			work, off = append(work, s.Work), append(off, 0)
		}
		at = p.Step(id).At
	}
	if want := []int64{15 * ms, 20 * ms, ms / 2}; !slices.Equal(work, want) ||
		!slices.Equal(off, []int64{5 * ms, 0, 0}) || p.OffCPU != 5*ms {
		t.Errorf("found work of %v ns, off its processor for %v, %d ns in all; expected work of %v, and 5 ms of the first piece off", work, off, p.OffCPU, want)
	}
	if !strings.Contains(strings.Join(p.Notes, "; "), "did not say when") {
		t.Errorf("notes are %q", p.Notes)
	}
}

// TestMissed: a few operations of a lock that have no event do not give up the rest; each goroutine
// gives back what it took.
func TestMissed(t *testing.T) {
	t.Parallel()
	for _, missed := range []int{0, 1, 20} {
		b := tracetest.New(2)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		h := b.Go(g, "main.other")
		b.Start(h, 1)
		lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
		for i := range 100 {
			g := []tracetest.G{g, h}[i%2]
			b.At(b.Now() + 10)
			b.Sync(g, lock, 0x1000, 0)
			if i%4 == 0 && i/4 < missed {
				b.Count(unlock, 1)
				continue
			}
			b.At(b.Now() + 10)
			b.Sync(g, unlock, 0x1000, 0)
		}
		b.At(b.Now() + 10)
		p := build(t, b)
		list := named(p, "main.mu")
		if len(list) != 1 || list[0].Free != (missed <= 1) {
			t.Errorf("%d missed: found %+v", missed, list)
		}
		if note := strings.Join(p.Notes, "; "); strings.Contains(note, "have no event") != (missed == 1) {
			t.Errorf("%d missed: notes are %q", missed, note)
		}
		for i := range p.Gs {
			held := 0
			for id := p.Gs[i].First; id != 0; id = p.Step(id).Next {
				if s := p.Step(id); s.Op != steps.NoOp && s.Point() < 0 {
					t.Errorf("%d missed: step %d, %s, has no point", missed, id, s.Op)
				}
				switch p.Step(id).Op {
				case steps.Lock:
					held++
				case steps.Unlock:
					held--
				}
				if held < 0 || held > 1 {
					t.Fatalf("%d missed: goroutine %d has the lock %d times", missed, p.Gs[i].ID, held)
				}
			}
			if held != 0 {
				t.Errorf("%d missed: goroutine %d keeps the lock", missed, p.Gs[i].ID)
			}
		}
	}
}

// What goroutines worked to wake threads is told apart, and how long that takes by how long a
// processor was idle. If there were too few to tell, it is what was measured when the program
// started.
func TestWaking(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 20} {
		b := tracetest.New(2)
		b.Attribute("wake_ns", int64(7000))
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		h := b.Go(g, "main.h")
		b.Start(h, 1)
		for i := range n {
			from, idle, call := int64(i+1)*ms, int64(3000), int64(6400)
			if i%2 == 1 {
				idle, call = 300_000, 25_600
			}
			b.At(from).Park(h, "chan receive")
			b.Idle(1)
			b.At(from+idle).Unpark(g, h)
			b.Note(g, spec.EvWakeBegin)
			b.At(from+idle+call).Note(g, spec.EvWakeEnd)
			b.At(from+idle+2*call).Start(h, 1)
			b.Syscall(g)
			b.At(from + idle + 3*call).SyscallEnd(g)
		}
		p := build(t, b)
		short, long := steps.Wake{Call: 7000, Late: 12_000}, steps.Wake{Call: 7000, Late: 12_000}
		if n > 1 {
			short, long = steps.Wake{Call: 6400, Late: 12_800}, steps.Wake{Call: 25_600, Late: 51_200}
		}
		for idle, want := range map[float64]steps.Wake{1000: short, 3500: short, 290_000: long, 1e9: long} {
			if got := p.Wakes.Of(idle); got != want {
				t.Errorf("of %d: to wake a thread after %v ns takes %v, expected %v", n, idle, got, want)
			}
		}
		sum := int64(0)
		for id := range steps.StepID(p.Steps.Len()) {
			sum += p.Step(id).Waking()
		}
		if want := int64(n+1)/2*6400 + int64(n)/2*25_600; sum != want {
			t.Errorf("of %d: of the work %d ns were to wake threads, expected %d", n, sum, want)
		}
	}
}
