package profile_test

import (
	"slices"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// Time in which the system kept a running thread waiting has a line. The collector keeps what its
// threads' clocks say, the program the rest; nothing is lost.
func TestOffCPU(t *testing.T) {
	for _, c := range []struct {
		run, wait, collector int64
		f, assist, off       int64
	}{
		{750e6, 750e6, 100e6, 650e6, 100e6, 750e6},
		{1500e6, 1e6, 500e6, 1000e6, 500e6, 0}, // next to nothing
		{1000e6, 500e6, 600e6, 500e6, 500e6, 500e6},
	} {
		b := tracetest.New(1)
		f := b.Proc("main.f")
		g := b.Go(0, "runtime.main")
		b.Given(0, 0, 0, 0)
		b.Start(g, 0)
		b.Enter(g, f)
		b.At(1000e6)
		b.Note(g, spec.EvAssistBegin)
		b.At(1500e6)
		b.Note(g, spec.EvAssistEnd)
		b.Exit(g, f)
		b.End(g)
		b.Given(9, 10e6, 400e6, 0) // which ran no goroutine
		b.Given(0, c.run, c.wait, c.collector)
		p := profileOf(t, b)
		for name, want := range map[string]int64{"main.f": c.f, "[gc assist]": c.assist, "[off-CPU]": c.off} {
			got := int64(0)
			if k := slices.IndexFunc(p.Entries, func(e profile.Entry) bool {
				return e.Kind == profile.KindProc &&
					e.Name == name
			}); k >= 0 {
				got = p.Entries[k].SelfBusy
			}
			if d := got - want; d < -1000 || d > 1000 {
				t.Errorf("%v: %s has %d ns, expected %d", c, name, got, want)
			}
		}
	}
}

// Where the system reports when it took a processor, that time is in no busy time, and the
// normalized processor time of others is what it would have been.
func TestOffTold(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2).Switches()
	f, h := b.Proc("main.f"), b.Proc("main.h")
	g1, g2 := b.Go(0, "runtime.main"), b.Go(0, "main.other")
	b.Start(g1, 0)
	b.Enter(g1, f)
	b.Start(g2, 1)
	b.Enter(g2, h)
	b.At(200e6).Off(g2, true)
	b.At(600e6).On(g2)
	b.At(700e6).Off(g1, false)
	b.Off(g2, true)
	b.At(800e6).On(g1)
	b.On(g2)
	b.At(1000e6).Exit(g1, f)
	b.Exit(g2, h)
	b.End(g1)
	b.End(g2)
	p := profileOf(t, b)
	find := func(name string) *profile.Entry {
		k := slices.IndexFunc(p.Entries, func(e profile.Entry) bool {
			return e.Kind == profile.KindProc &&
				e.Name == name
		})
		if k < 0 {
			t.Fatalf("there is no entry %s", name)
		}
		return &p.Entries[k]
	}
	for name, want := range map[string][3]int64{"main.f": {450e6, 900e6, 100e6}, "main.h": {250e6, 500e6, 500e6},
		"[off-CPU]": {300e6, 600e6, 0}} {
		if e := find(name); [3]int64{e.SelfNPT, e.SelfBusy, e.SelfOff} != want {
			t.Errorf("%s: npt %d, busy %d, off %d, expected %d", name, e.SelfNPT, e.SelfBusy, e.SelfOff, want)
		}
	}
	want := profile.Off{Preempted: 500e6, Blocked: 100e6, Longest: 400e6}
	if p.Off == nil || *p.Off != want {
		t.Errorf("found %+v, expected %+v", p.Off, want)
	}
	if p.Busy != 1400e6 || p.Idle != 0 || p.IdleOff != 100e6 ||
		!slices.Equal(p.Parallelism, []int64{100e6, 400e6, 500e6}) {
		t.Errorf("busy %d, idle %d, all taken %d, parallelism %d", p.Busy, p.Idle, p.IdleOff, p.Parallelism)
	}
	if p.OffCPU != 0 {
		t.Errorf("%d ns of the busy times are off-CPU", p.OffCPU)
	}
}

// A goroutine that alone could run, but has no processor, is the machine's matter and no serial
// part.
func TestOffAlone(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2).Switches()
	g1 := b.Go(0, "runtime.main")
	b.Start(g1, 0)
	b.At(200e6)
	g2 := b.Go(g1, "main.other")
	b.Start(g2, 1)
	b.At(300e6).Off(g2, true)
	b.At(500e6).On(g2)
	b.End(g2)
	b.At(600e6).Off(g1, true)
	b.At(900e6).On(g1)
	b.At(1000e6).End(g1)
	if p := profileOf(t, b); p.Alone != 400e6 {
		t.Errorf("one alone could run for %d ns, expected 200 + 100 + 100 ms", p.Alone)
	}
}

// Where the system reports no thread, what the process used bounds what goroutines can have used.
func TestOffOfNobody(t *testing.T) {
	t.Parallel()
	for used, want := range map[int64]*profile.Interval{600e6: {Low: 400e6, High: 1000e6}, 990e6: nil} {
		b := tracetest.New(1)
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.Source(trace.SourceSwitches, 2)
		b.Source("schedstat", 4294967293)
		b.At(1000e6).End(g)
		b.Used(used, 0)
		p := profileOf(t, b)
		if (p.OffCPUs == nil) != (want == nil) || want != nil && (*p.OffCPUs != *want || p.OffCPU != want.Low) {
			t.Errorf("used %d of 1 s: off-CPU %d, between %v, expected %v", used, p.OffCPU, p.OffCPUs, want)
		}
	}
}

// Where the system reported a part of the run only, what threads had bounds what is taken out of
// the rest. A thread that waits for a processor when it wakes up waits longer than its goroutines
// ever ran.
func TestOffToldInPart(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2).Switches()
	f := b.Proc("main.f")
	g := b.Go(0, "runtime.main")
	b.Given(0, 0, 0, 0)
	b.Start(g, 0)
	b.Enter(g, f)
	b.At(10e6).Off(g, true)
	b.At(110e6).On(g)
	b.At(200e6).SwitchesLost()
	b.Source(trace.SourceSwitches, trace.TooMany)
	b.At(1100e6).Exit(g, f)
	b.End(g)
	b.Given(0, 800e6, 30e9, 0)
	b.Used(900e6, 0)
	p := profileOf(t, b)
	if p.Busy != 820e6 || p.OffCPU != 180e6 || p.Off.Preempted != 100e6 || !p.BusyKnown() {
		t.Errorf("busy %d, off-CPU %d (%v), told %+v, expected 800 ms of the thread's own account, which may be 10 ms behind on each processor", p.Busy, p.OffCPU, p.OffCPUs, p.Off)
	}
	if p.OffCPUs == nil || p.OffCPUs.Low != 100e6 {
		t.Errorf("found an interval %v, CPU %+v, expected 100 ms at least: the process used 900 of 1000", p.OffCPUs,
			p.CPU)
	}
}

// Where the bounds of the time that was taken away are further apart than the rest is long, busy
// time is not known.
func TestBusyUnknown(t *testing.T) {
	t.Parallel()
	for used, known := range map[int64]bool{300e6: true, 900e6: false} {
		b := tracetest.New(1)
		g := b.Go(0, "runtime.main")
		b.Given(0, 0, 0, 0)
		b.Start(g, 0)
		b.At(1000e6).End(g)
		b.Given(0, 200e6, 800e6, 0)
		b.Used(used, 0)
		if p := profileOf(t, b); p.BusyKnown() != known {
			t.Errorf("used %d, threads 200 ms: busy %d, off-CPU %v, known %v, expected %v", used, p.Busy, p.OffCPUs,
				p.BusyKnown(), known)
		}
	}
}

// A goroutine that spins for a mutex before it takes it, or waits for it, spins for that, and not
// in the loop around.
func TestSpunFor(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	loop, mu := b.Loop("main.f: for", false), b.Object("main.mu", spec.OpLock)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, loop)
	b.At(10e6).Note(g, spec.EvSpinBegin)
	b.At(13e6).Note(g, spec.EvSpinEnd)
	b.Sync(g, mu, 0x1000, 0)
	b.At(20e6).Note(g, spec.EvSpinBegin)
	b.At(21e6).Note(g, spec.EvSpinEnd)
	b.Wait(g, "sync.Mutex.Lock", 0x1000, 0)
	b.At(30e6).Unpark(0, g)
	b.Start(g, 0)
	b.At(40e6).Exit(g, loop)
	b.End(g)
	p := profileOf(t, b)
	if len(p.Objects) != 1 || p.Objects[0].Spin != 4e6 || p.Spin != 4e6 {
		t.Errorf("spun %d, objects %+v, expected 4 ms for main.mu", p.Spin, p.Objects)
	}
	k := slices.IndexFunc(p.Entries, func(e profile.Entry) bool { return e.Kind == profile.KindLoop })
	if p.Entries[k].Spins {
		t.Errorf("the loop around waits for nothing: %+v", p.Entries[k])
	}
}

// Of a time in which nothing ran a goroutine that ended it waited for a part, and was ready for the
// rest. A goroutine that waits longest is not why.
func TestIdleFor(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2)
	main, other := b.Go(0, "runtime.main"), b.Go(0, "main.other")
	b.Start(main, 0)
	b.Start(other, 1)
	b.At(10e6).Wait(other, "chan receive", 0x1000, b.Stack("main.other"))
	b.At(20e6).Wait(main, "sleep", 0, b.Stack("main.poll"))
	b.At(80e6).UnparkLate(main, 0)
	b.At(100e6).Start(main, 0)
	b.At(110e6).End(main)
	p := profileOf(t, b)
	if p.Idle != 80e6 || p.IdleReady != 20e6 || len(p.IdleFor) != 1 || p.IdleFor[0].Reason != "sleep" ||
		p.IdleFor[0].Function != "main.poll" || p.IdleFor[0].Time != 60e6 {
		t.Errorf("idle %d, ready %d, for %+v, expected 80, 20 and 60 ms of sleep in main.poll", p.Idle, p.IdleReady,
			p.IdleFor)
	}
}
