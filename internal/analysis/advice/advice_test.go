package advice_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

const ms = 1_000_000

// threads are n of the same steps.
func threads(n int, ops ...tracetest.Op) (list []tracetest.Thread) {
	for range n {
		list = append(list, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return list
}

// Programs with one cause of waiting each, and the advice that there is for it.
func TestAdvice(t *testing.T) {
	do, lock, unlock := tracetest.Do, tracetest.Lock("main.mu"), tracetest.Unlock("main.mu")
	var convoy, meets []tracetest.Op
	for range 50 {
		convoy = append(convoy, do("main.outside", 4*ms), tracetest.Enter("main.update"), lock, do("main.inside", ms),
			unlock, tracetest.Leave("main.update"))
		meets = append(meets, do("main.outside", 10*ms), lock, do("main.inside", ms), unlock)
	}
	heavy := append(threads(3, do("main.work", 3*ms)), threads(1, do("main.work", 9*ms))...)
	alone := append(threads(3, tracetest.Wait("go"), do("main.work", 5*ms)),
		threads(1, do("main.input", 5*ms), tracetest.Signal("go"), tracetest.Signal("go"), tracetest.Signal("go"),
			do("main.work", 5*ms))...)
	var barrier, turns []tracetest.Thread
	for i := range 3 {
		var steps, turn []tracetest.Op
		for k := range 10 {
			took := int64(ms)
			if k%3 == i {
				took = 6 * ms
			}
			steps = append(steps, do("main.step", took), tracetest.Barrier("main.meet", 3))
			turn = append(turn, tracetest.Wait(fmt.Sprint("turn", i)), do("main.step", ms),
				tracetest.Signal(fmt.Sprint("turn", (i+1)%3)))
		}
		if i == 0 {
			turn = turn[1:]
		}
		barrier = append(barrier, tracetest.Thread{Name: "main.worker", Ops: steps})
		turns = append(turns, tracetest.Thread{Name: "main.worker", Ops: turn})
	}
	var many []tracetest.Op
	for range 60_000 {
		many = append(many, do("main.small", 100), lock, do("main.inside", 1), unlock)
	}
	for _, c := range []struct {
		name    string
		procs   int
		threads []tracetest.Thread
		want    []string
	}{
		{"a barrier", 3, barrier, []string{
			"balance the work before main.meet, a barrier at which 20 of 20 waits ended together: goroutines waited 100ms for the last one, 100.0% of that while main.main worked; not all processors were busy for 50.0ms"}},
		{"each needs what the one before made", 3, turns, []string{
			"the run is serial: for 30.0ms (100.0% of the run) no second goroutine had work for another of the 3 processors",
			"the 3 goroutines main.worker work one behind the other, as if each needed the result of the one before: 1.00 processors were busy on average in their 30.0ms"}},
		{"few parts of work", 4, threads(2, do("main.work", 9*ms)), []string{
			"split the work into more parts: 100.0% of it is in 2 goroutines main.worker, fewer than the 4 processors, which were not all busy for 9.00ms (starvation by small problem size)"}},
		{"many operations", 1, threads(1, many...), []string{
			"synchronize less often: operations take about 1.20ms by themselves, without waiting (19.8% of busy), most of it in 120,000 operations on main.mu. Larger pieces of work need fewer of them"}},

		{"all busy", 4, threads(4, do("main.work", 9*ms)), nil},
		{"a lock that is seldom waited for", 4, threads(4, meets...), nil},
		{"a lock convoy (W5)", 8, threads(8, convoy...), []string{
			"shorten what main.mu guards in main.update (test.go:3), or split it: goroutines queued for it for 399ms (98.8% of the run), 2.98 on average; it was held for 400ms (99.0% of the run)"}},
		{"one goroutine has most of the work (W8)", 4, heavy, []string{
			"balance the load of the 4 goroutines main.worker: one of them worked for 9.00ms, the others for 3.00ms on average, and not all processors were busy for 6.00ms"}},
		{"serial input (W6)", 4, alone, []string{"divide the work of main.input among goroutines, or do it beside other work: for 5.00ms (50.0% of the run) it kept one processor busy, and no other goroutine could run"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			hints := hintsOf(t, tracetest.SimulateOn(tracetest.New(c.procs).Attribute("atomic_cost_ps", 10_000),
				c.threads))
			for _, want := range c.want {
				if !strings.Contains(hints, want) {
					t.Errorf("no %q", want)
				}
			}
			if (hints != "") != (c.want != nil) || t.Failed() {
				t.Errorf("hints:\n%s", hints)
			}
		})
	}
}

// hintsOf is the advice about a built trace.
func hintsOf(t *testing.T, b *tracetest.Builder) string {
	t.Helper()
	p, err := profile.New(b.Trace())
	if err != nil {
		t.Fatal(err)
	}
	items := advice.Of(&advice.Facts{Profile: p})
	for _, it := range items {
		if it.ID == "" || it.Claim == "" || it.Subject.Kind == "" || len(it.Evidence) == 0 {
			t.Errorf("found advice without an id, a claim, a subject or evidence: %+v", it)
		}
	}
	return strings.Join(advice.Texts(items), "\n")
}

// A producer and a consumer that wait for each other alternately: a larger buffer helps. If the
// consumer waits first, and the producer later, it does not, nor if other programs have the
// processors meanwhile.
func TestFewBuffers(t *testing.T) {
	const channel = 0x1000
	alternately := func(k int64) bool { return k%2 == 0 }
	for name, slowConsumer := range map[string]func(k int64) bool{"alternately": alternately,
		"first one": func(k int64) bool { return k >= 5 }, "taken": alternately} {
		b := tracetest.New(2)
		if name == "taken" {
			b.Switches()
		}
		producer, consumer := b.Go(0, "runtime.main"), b.Go(0, "main.consumer")
		b.Start(producer, 0)
		b.Start(consumer, 1)
		for k := range int64(10) {
			g, by, proc, reason := consumer, producer, 1, "chan receive"
			if slowConsumer(k) { // it takes longer
				g, by, proc, reason = producer, consumer, 0, "chan send"
			}
			b.At(k*30*ms+10*ms).Wait(g, reason, channel, 0)
			if name == "taken" {
				b.Off(by, true)
				b.At(k*30*ms + 29*ms).On(by)
			}
			b.At(k*30*ms+30*ms).Unpark(by, g)
			b.Start(g, proc)
		}
		const advised = "larger buffer: senders waited 100ms for receivers and receivers 100ms for senders, in turn"
		if hints := hintsOf(t, b); strings.Contains(hints, advised) != (name == "alternately") {
			t.Errorf("%s: hints:\n%s", name, hints)
		}
	}
}

// A program that sets GOMAXPROCS to 1 has no other processor that a larger buffer could give work.
func TestOneProcessor(t *testing.T) {
	const channel = 0x1000
	b := tracetest.New(2)
	producer, consumer := b.Go(0, "runtime.main"), b.Go(0, "main.consumer")
	b.Start(producer, 0)
	b.Enter(producer, b.Proc("main.main"))
	b.At(ms).Procs(1)
	b.Wait(producer, "chan send", channel, 0)
	for k := range int64(10) {
		b.Start(consumer, 0)
		b.At((k + 1) * 20 * ms)
		b.Unpark(consumer, producer)
		b.Wait(consumer, "chan receive", channel, 0)
		b.Start(producer, 0)
		b.At((k+1)*20*ms + 10*ms)
		b.Unpark(producer, consumer)
		b.Wait(producer, "chan send", channel, 0)
	}
	p, err := profile.New(b.Trace())
	if err != nil {
		t.Fatal(err)
	}
	items := advice.Of(&advice.Facts{Profile: p})
	if texts := advice.Texts(items); p.Procs != 1 || len(texts) > 0 {
		t.Errorf("with %d processors: %q", p.Procs, texts)
	}
	if len(items) != 1 || !strings.HasPrefix(items[0].Text, "The one processor was busy for 100.0% of the run") {
		t.Errorf("found %+v", items)
	}
}

// A program that sets GOMAXPROCS to 1 for most of the run, and is short of processors meanwhile,
// may use more. What that gains is not more than the other processor could do.
func TestFewProcessors(t *testing.T) {
	for _, short := range []bool{true, false} {
		b := tracetest.New(2)
		one, other := b.Go(0, "runtime.main"), b.Go(0, "main.work")
		b.Start(one, 0)
		b.Enter(one, b.Proc("main.main"))
		b.At(10 * ms).Procs(1)
		if !short {
			b.Wait(one, "chan receive", 0x1000, 0)
			b.Start(other, 0)
			b.At(89 * ms)
			b.Unpark(other, one)
			b.Wait(other, "chan receive", 0x2000, 0)
			b.Start(one, 0)
		}
		b.At(90 * ms).Procs(2)
		if !short {
			b.Unpark(one, other)
		}
		b.Start(other, 1)
		b.At(100*ms).Wait(one, "sleep", 0, 0)
		p, err := profile.New(b.Trace())
		if err != nil {
			t.Fatal(err)
		}
		const want = "use all 2 processors: GOMAXPROCS was 1 for 80.0ms"
		items := advice.Of(&advice.Facts{Profile: p, CPUs: 2})
		i := slices.IndexFunc(items, func(it advice.Item) bool { return it.ID == "few-processors" })
		if (i >= 0) != short || short && (!strings.HasPrefix(items[i].Text, want) || items[i].AtMost != 40*ms) {
			t.Errorf("short of processors %v: %+v", short, items)
		}
	}
}

// A buffer does nothing for channels of one name if at each of them only one side waits.
func TestBuffersOfMany(t *testing.T) {
	b := tracetest.New(2)
	stack := b.StackAt(b.Object("main.ch", spec.OpSend), "main.send", "runtime.goexit")
	sender, receiver := b.Go(0, "runtime.main"), b.Go(0, "main.receiver")
	b.Start(sender, 0)
	b.Start(receiver, 1)
	for k := range int64(10) {
		b.At(k*60*ms+10*ms).Wait(sender, "chan send", 0x1000, stack) // its receiver is slow
		b.At(k*60*ms+30*ms).Unpark(receiver, sender)
		b.Start(sender, 0)
		b.At(k*60*ms+40*ms).Wait(receiver, "chan receive", 0x2000, stack) // its sender is
		b.At(k*60*ms+60*ms).Unpark(sender, receiver)
		b.Start(receiver, 1)
	}
	if hints := hintsOf(t, b); strings.Contains(hints, "buffer") {
		t.Errorf("hints:\n%s", hints)
	}
}

// Stages of a pipeline are no goroutines of a kind, although one method starts them all, and
// receivers of a channel that is seldom empty wait at no barrier, nor do goroutines that wait
// together, but not for the last of them.
func TestPipeline(t *testing.T) {
	const start = "sync.(*WaitGroup).Go.func1"
	for _, c := range []struct {
		second, of string
		probed     bool // what the method starts
	}{{"main.send", "semaphore", false}, {"main.receive", "pipeline", false}, {"main.send", "semaphore", true},
		{"main.receive", "pipeline", true}} {
		b := tracetest.New(2)
		ch := b.Object("main.ch", spec.OpReceive)
		b.Count(ch, 20)
		stack := b.StackAt(ch, "main.send", start, "runtime.goexit")
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		x, y, z := b.Go(main, start), b.Go(main, start), b.Go(main, start)
		b.Wait(main, "sync.WaitGroup.Wait", 0x900, 0)
		enter := func(g tracetest.G, name string) {
			if c.probed {
				b.Enter(g, b.Proc(start))
			}
			b.Enter(g, b.Proc(name))
		}
		b.Start(x, 0)
		enter(x, "main.send")
		b.Start(y, 1)
		enter(y, c.second)
		b.Wait(y, "sleep", 0, 0)
		b.Start(z, 1)
		enter(z, "main.send")
		b.Wait(z, "chan send", 0x1000, stack)
		for k := range int64(10) {
			b.At(k*30*ms+10*ms).Wait(x, "chan send", 0x1000, stack)
			b.At(k*30*ms+29*ms).Unpark(0, y)
			b.Start(y, 1)
			b.At(k*30*ms+30*ms).Unpark(y, z)
			b.Unpark(y, x)
			b.Wait(y, "sleep", 0, 0)
			b.Start(x, 0)
			b.Start(z, 1)
			b.Wait(z, "chan send", 0x1000, stack)
		}
		hints := hintsOf(t, b)
		if let := strings.Contains(hints, "let more goroutines in at main.ch"); let != (c.of == "semaphore") {
			t.Errorf("%+v: hints:\n%s", c, hints)
		}
	}
	for _, c := range []struct {
		of       string
		received uint64
		last     int64 // when the third one comes
	}{{"barrier", 40, 28 * ms}, {"stream", 2000, 28 * ms}, {"another's work", 40, 11 * ms}} {
		b := tracetest.New(4)
		ch := b.Object("main.ch", spec.OpReceive)
		b.Count(ch, c.received)
		stack := b.StackAt(ch, "main.receive", "runtime.goexit")
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		var all []tracetest.G
		for i := range 3 {
			g := b.Go(main, "main.receive")
			b.Start(g, i+1)
			all = append(all, g)
		}
		for k := range int64(10) {
			b.At(k*30*ms+10*ms).Wait(all[0], "chan receive", 0x1000, stack)
			b.Wait(all[1], "chan receive", 0x1000, stack)
			b.At(k*30*ms+c.last).Wait(all[2], "chan receive", 0x1000, stack)
			b.At(k*30*ms + 30*ms)
			for i, g := range all {
				b.Unpark(main, g)
				b.Start(g, i+1)
			}
		}
		hints := hintsOf(t, b)
		if is := strings.Contains(hints, "before main.ch, a barrier"); is != (c.of == "barrier") {
			t.Errorf("%s: hints:\n%s", c.of, hints)
		}
	}
}

// A pool signals every job that is ready, whether a goroutine waits or not. That is no barrier,
// though a few waits end together.
func TestPoolIsNoBarrier(t *testing.T) {
	for told, barrier := range map[int]bool{0: true, 9: false} {
		b := tracetest.New(4)
		cond := b.Object("main.ready", spec.OpBroadcast)
		stack := b.Stack("sync.(*Cond).Wait", "main.next", "main.worker")
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		var all []tracetest.G
		for i := range 3 {
			g := b.Go(main, "main.worker")
			b.Start(g, i+1)
			all = append(all, g)
		}
		b.Wait(main, "sync.WaitGroup.Wait", 0x2000, 0)
		last, all := all[2], all[:2]
		for k := range int64(10) {
			b.At(k*30*ms + 5*ms)
			for _, g := range all {
				b.Wait(g, "sync.Cond.Wait", 0x1000, stack)
			}
			b.At(k*30*ms + 30*ms)
			b.Sync(last, cond, 0x1000, 0)
			for i, g := range all {
				b.Unpark(last, g)
				b.Start(g, i+1)
			}
			for range told {
				b.Sync(last, cond, 0x1000, 0)
			}
		}
		if hints := hintsOf(t, b); strings.Contains(hints, "before main.ready, a barrier") != barrier {
			t.Errorf("told %d times more: hints:\n%s", told, hints)
		}
	}
}

// A wait for the network may be one for requests.
func TestNetworkAlone(t *testing.T) {
	b := tracetest.New(2)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for k := range int64(10) {
		b.At(k*30*ms+10*ms).Wait(g, "IO wait", 0, 0)
		b.At(k*30*ms+30*ms).Unpark(0, g)
		b.Start(g, 0)
	}
	if hints := hintsOf(t, b); !strings.Contains(hints,
		"overlap input and output with work: nothing ran for 200ms (66.7% of the run); 100.0% of that until the network was ready for a goroutine. If it waited for requests, that is no loss") {
		t.Errorf("hints:\n%s", hints)
	}
}

// A server's waits for requests are no problem. If it sleeps most of the time in which nothing
// runs, that is one, whatever little it waits for the network.
func TestServerThatSleeps(t *testing.T) {
	for network, remark := range map[int64]bool{15 * ms: true, 2 * ms: false} {
		b := tracetest.New(2)
		g, server := b.Go(0, "runtime.main"), b.Go(0, "net.(*netFD).accept")
		b.Start(g, 0)
		b.Start(server, 1)
		b.Wait(server, "IO wait", 0, b.Stack("internal/poll.(*FD).Accept", "net.(*netFD).accept", "main.serve"))
		for k := range int64(10) {
			b.At(k*30*ms+10*ms).Wait(g, "IO wait", 0, 0)
			b.At(k*30*ms+10*ms+network).Unpark(0, g)
			b.Start(g, 0)
			b.Wait(g, "sleep", 0, b.Stack("time.Sleep", "main.handle"))
			b.At(k*30*ms+30*ms).Unpark(0, g)
			b.Start(g, 0)
		}
		p, err := profile.New(b.Trace())
		if err != nil {
			t.Fatal(err)
		}
		items := advice.Of(&advice.Facts{Profile: p})
		i := slices.IndexFunc(items, func(it advice.Item) bool { return it.ID == "idle" || it.ID == "input-output" })
		if i < 0 || items[i].Remark != remark {
			t.Errorf("%d ms of 20 for the network: %+v, expected a remark: %v", network/ms, items, remark)
		}
	}
}

// Work, and then input without work at the same time.
func TestInputAlone(t *testing.T) {
	b := tracetest.New(2)
	f := b.Proc("main.load")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	for k := range int64(10) {
		b.At(k*30*ms + 10*ms).Syscall(g)
		b.Steal(g)
		b.At(k*30*ms + 30*ms).SyscallEndBlocked(g)
		b.Start(g, 0)
	}
	b.Exit(g, f)
	if hints := hintsOf(t, b); !strings.Contains(hints,
		"overlap input and output with work: nothing ran for 200ms (66.7% of the run); 100.0% of that until a system call ended in main.load") {
		t.Errorf("hints:\n%s", hints)
	}
}

// A goroutine that spends much of its time on the collector's behalf.
func TestMuchCollected(t *testing.T) {
	b := tracetest.New(1)
	f := b.Proc("main.allocates")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, f)
	for k := range int64(10) {
		b.At(k*10*ms+8*ms).Note(g, spec.EvGCBegin)
		b.Note(g, spec.EvAssistBegin)
		b.At(k*10*ms+10*ms).Note(g, spec.EvAssistEnd)
		b.Note(g, spec.EvGCEnd)
	}
	b.Exit(g, f)
	if hints := hintsOf(t, b); !strings.Contains(hints,
		"allocate less: the garbage collector took 20.0% of the busy time, in 10 cycles") {
		t.Errorf("hints:\n%s", hints)
	}
}
