package profile_test

import (
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

const ms = 1_000_000

// TestAbandoned: a lock whose holder ends without unlocking it is known with who waits for it, and
// one that another goroutine unlocks later is not.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	for _, unlocked := range []bool{false, true} {
		const mu = 0x100
		b := tracetest.New(2)
		lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
		b.Go(0, "runtime.main")
		holder, waiter := b.Go(0, "main.holder"), b.Go(0, "main.waiter")
		load := b.Proc("main.load")
		b.Start(holder, 0)
		b.Start(waiter, 1)
		b.Enter(holder, load)
		b.At(ms).Sync(holder, lock, mu, 0)
		b.At(2*ms).Wait(waiter, "sync.Mutex.Lock", mu, 0)
		b.Exit(holder, load)
		b.At(3 * ms).End(holder)
		if unlocked {
			other := b.Go(0, "main.other")
			b.Start(other, 0)
			b.At(4*ms).Sync(other, unlock, mu, 0)
			b.Unpark(other, waiter)
			b.Start(waiter, 1)
			b.At(10 * ms).End(other)
		} else { // it gets the slot of the one that has ended, and not its lock
			later := b.Go(0, "main.later")
			b.Start(later, 0)
			b.At(4*ms).Wait(later, "sync.Mutex.Lock", mu, 0)
		}
		p, err := profile.New(b.At(20 * ms).Trace())
		if err != nil {
			t.Fatal(err)
		}
		var found *profile.Abandoned
		for i := range p.Objects {
			if p.Objects[i].Name == "main.mu" {
				found = p.Objects[i].Abandoned
			}
		}
		switch {
		case unlocked && found != nil:
			t.Errorf("unlocked: found %+v", found)
		case !unlocked && (found == nil || found.Ended != 3*ms || found.Waiting != 2 || found.Holder != "main.holder"):
			t.Errorf("found %+v", found)
		case len(p.Chains) > 0:
			t.Errorf("found %+v, though the one that had the lock does not wait", p.Chains)
		}
	}
}

// TestLeft: goroutines that wait at the end, and have for long, are known by kind and place; those
// that only just began to are not.
func TestLeft(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	b.Enter(main, b.Proc("main.call"))
	stack := b.StackAt(b.Object("main.reply", spec.OpSend), "main.ask", "runtime.goexit")
	for k := range int64(10) {
		g := b.At(k*10*ms).Go(main, "main.ask")
		b.Start(g, 1)
		b.At(k*10*ms+ms).Wait(g, "chan send", uint64(0x1000+k), stack)
	}
	p, err := profile.New(b.At(100 * ms).Trace())
	if err != nil {
		t.Fatal(err)
	}
	var count, first, last int64
	for _, l := range p.Left {
		if l.Name != "main.ask" || l.In != "main.ask" || l.For != "chan send" {
			t.Errorf("found %+v", l)
		}
		count, first, last = l.Count, l.First, l.Last
	}
	if len(p.Left) != 1 || count != 8 || first != ms || last != 71*ms { // 80 ms is a fifth of the run before its end
		t.Errorf("found %+v", p.Left)
	}
}

// TestVain: who is woken and waits again at once was woken in vain; who works in between was not.
func TestVain(t *testing.T) {
	t.Parallel()
	for _, work := range []int64{1000, ms} {
		const cond = 0x300
		b := tracetest.New(2)
		stack := b.StackAt(b.Object("main.more", spec.OpCondWait), "main.next", "runtime.goexit")
		waker, g := b.Go(0, "main.waker"), b.Go(0, "main.next")
		b.Start(waker, 0)
		b.Start(g, 1)
		for k := range int64(5) {
			b.At(k*10*ms+work).Wait(g, "sync.Cond.Wait", cond, stack)
			b.At((k+1)*10*ms).Unpark(waker, g)
			b.Start(g, 1)
		}
		p, err := profile.New(b.At(60 * ms).Trace())
		if err != nil {
			t.Fatal(err)
		}
		vain := int64(0)
		for i := range p.Objects {
			vain += p.Objects[i].Vain
		}
		if want := int64(4); work == 1000 && vain != want || work == ms && vain != 0 {
			t.Errorf("after work of %d ns: %d wake-ups in vain", work, vain)
		}
	}
}

// TestChains: who has a lock and waits up to the end keeps others from going on. A holder that runs
// does not.
func TestChains(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{true, false} {
		const mu, ch = 0x100, 0x200
		b := tracetest.New(2)
		lock, send := b.Object("main.mu", spec.OpLock), b.Object("main.ch", spec.OpSend)
		in := b.StackAt(send, "main.holder", "runtime.goexit")
		b.Go(0, "runtime.main")
		holder, waiter := b.Go(0, "main.holder"), b.Go(0, "main.waiter")
		b.Start(holder, 0)
		b.Start(waiter, 1)
		b.At(ms).Sync(holder, lock, mu, 0)
		b.At(2*ms).Wait(waiter, "sync.Mutex.Lock", mu, 0)
		if b.At(3 * ms); waits {
			b.Wait(holder, "chan send", ch, in)
		}
		p, err := profile.New(b.At(20 * ms).Trace())
		if err != nil {
			t.Fatal(err)
		}
		if !waits {
			if len(p.Chains) > 0 {
				t.Errorf("found %+v, though the holder runs", p.Chains)
			}
			continue
		}
		if len(p.Chains) != 1 || p.Chains[0].Cycle || p.Chains[0].Waiting != 1 || len(p.Chains[0].Links) != 1 {
			t.Fatalf("found %+v, expected a chain of one, and another that waits", p.Chains)
		}
		l := p.Chains[0].Links[0]
		if l.Has != "main.mu" || l.On != "main.ch" || l.Since != 3*ms || l.Goroutine != "main.holder" {
			t.Errorf("found %+v, expected that main.holder has main.mu and waits for main.ch since 3 ms", l)
		}
	}
}

// TestChainsMeet: the longest of the chains that end at one goroutine stands for them, or its
// cycle, and all who wait for their locks are counted.
func TestChainsMeet(t *testing.T) {
	t.Parallel()
	for _, cycle := range []bool{false, true} {
		b := tracetest.New(7)
		b.Go(0, "runtime.main")
		lock := b.Object("main.mu", spec.OpLock)
		last := uint64(0)
		if cycle {
			last = 0x300
		}
		list := []struct {
			name       string
			has, waits uint64
		}{
			{"main.end", 0x100, last}, // first, so that its chain is a part of the others
			{"main.a", 0x200, 0x100}, {"main.b", 0x300, 0x100}, {"main.waits", 0, 0x200}, {"main.waits", 0, 0x300},
			{"main.c", 0x400, 0x200}, {"main.waits", 0, 0x400},
		}
		var gs []tracetest.G
		for i, x := range list {
			g := b.Go(0, x.name)
			b.Start(g, i)
			if gs = append(gs, g); x.has != 0 {
				b.Sync(g, lock, x.has, 0)
			}
		}
		for i, x := range list {
			if b.At(ms); x.waits == 0 {
				b.Wait(gs[i], "chan send", 0x900, 0)
			} else {
				b.Wait(gs[i], "sync.Mutex.Lock", x.waits, 0)
			}
		}
		p, err := profile.New(b.At(20 * ms).Trace())
		if err != nil {
			t.Fatal(err)
		}
		want, others := "main.c main.a main.end", int64(4)
		if cycle {
			want, others = "main.end main.b", 5
		}
		var names []string
		for _, c := range p.Chains {
			for _, l := range c.Links {
				names = append(names, l.Goroutine)
			}
		}
		if got := strings.Join(names, " "); got != want || len(p.Chains) != 1 || p.Chains[0].Waiting != others ||
			p.Chains[0].Cycle != cycle {
			t.Errorf("found %+v, expected one chain of %s, and %d others", p.Chains, want, others)
		}
	}
}

// TestEndless: goroutines of a kind of which none ended are known, with when they were created.
func TestEndless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ends, stopped bool }{{}, {ends: true}, {stopped: true}} {
		b, ends := tracetest.New(2), c.ends
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		b.Enter(main, b.Proc("main.join"))
		var last tracetest.G
		for k := range int64(4) {
			g := b.At(k*10*ms).Go(main, "main.beat")
			last = g
			b.Start(g, 1)
			if b.At(k*10*ms + ms); ends && k == 2 {
				b.End(g)
			} else {
				b.Park(g, "sleep")
			}
		}
		if c.stopped { // by the end of the run
			b.At(99*ms).Unpark(main, last)
			b.Start(last, 1)
			b.End(last)
		}
		p, err := profile.New(b.At(100 * ms).Trace())
		if err != nil {
			t.Fatal(err)
		}
		found := len(p.Endless) == 1 && p.Endless[0].Name == "main.beat" && p.Endless[0].Count == 4 &&
			p.Endless[0].Last == 30*ms
		if ends == found || ends && len(p.Endless) > 0 {
			t.Errorf("one ends: %v: found %+v", ends, p.Endless)
		}
	}
}
