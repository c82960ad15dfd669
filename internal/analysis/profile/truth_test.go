package profile_test

import (
	"fmt"
	"math"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// The ideal traces of programs whose profile is a formula. A unit of the
// formulas is unit ns.
const unit = 1_000_000

func profileOf(t *testing.T, b *tracetest.Builder) *profile.Profile {
	t.Helper()
	tr := b.Trace()
	if err := tracetest.Validate(tr); err != nil {
		t.Fatal(err)
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	identities(t, p)
	return p
}

func entry(t *testing.T, p *profile.Profile, name string) *profile.Entry {
	t.Helper()
	for i := range p.Entries {
		if p.Entries[i].Name == name {
			return &p.Entries[i]
		}
	}
	t.Fatalf("no entry %q", name)
	return nil
}

// crowded: the distribution of the number of runnable goroutines in a state adds up to the
// time in it, and lies around its mean.
func crowded(t interface{ Errorf(string, ...any) }, e *profile.Entry) {
	for _, s := range []struct {
		name string
		ns   int64
		c    *profile.RunnableHist
		mean float64
	}{{"busy", e.Busy, e.RunnableHists.Busy, e.Runnable.Busy},
		{"ready", e.Ready, e.RunnableHists.Ready, e.Runnable.Ready},
		{"blocked", e.Blocked, e.RunnableHists.Blocked, e.Runnable.Blocked},
		{"spin", e.Spin, e.RunnableHists.Spin, e.Runnable.Spin}} {
		sum, low, high := int64(0), 0.0, 0.0
		if s.c != nil {
			for i, ns := range s.c {
				sum += ns
				least, most := float64(i), float64(i)
				if i > 2 {
					least, most = float64(int(1)<<(i-2)+1), float64(int(1)<<(i-1))
				}
				low, high = low+least*float64(ns), high+most*float64(ns)
			}
		}
		if sum != s.ns {
			t.Errorf("%s: runnable while %s adds up to %d of %d", e.Name, s.name, sum, s.ns)
		}
		if s.ns > 0 && (s.mean < low/float64(s.ns)-.01 || s.mean > high/float64(s.ns)+.01) {
			t.Errorf("%s: %v runnable on average while %s, its distribution says %v to %v", e.Name, s.mean, s.name,
				low/float64(s.ns), high/float64(s.ns))
		}
	}
}

// identities are what holds for every profile: both sums are the wall time, up to
// the rounding of each number.
func identities(t interface{ Errorf(string, ...any) }, p *profile.Profile) {
	self, roots, busy, ended := p.Idle, p.Idle, int64(0), int64(0)
	for _, e := range p.Entries {
		if p.Sampling == nil {
			crowded(t, &e)
		}
		if e.Kind == profile.KindProc {
			self += e.SelfNPT
			busy += e.SelfBusy
			ended += e.SelfIdle
		}
	}
	for _, e := range p.Entries {
		on := int64(0)
		for _, w := range e.BlockedOn {
			on += w.Time
		}
		if on > e.SelfBlocked && e.Kind == profile.KindProc {
			t.Errorf("%s was itself blocked for %d, and waited for objects for %d", e.Name, e.SelfBlocked, on)
		}
	}
	for _, r := range p.Roots {
		roots += r.NPT
	}
	slack := int64(len(p.Entries) + len(p.Roots))
	if d := self - p.Wall; d > slack || d < -slack {
		t.Errorf("self NPT of all procedures + idle = %d, wall %d", self, p.Wall)
	}
	if d := roots - p.Wall; d > slack || d < -slack {
		t.Errorf("NPT of all roots + idle = %d, wall %d", roots, p.Wall)
	}
	if ended != p.Idle-p.IdleAtEnd {
		t.Errorf("procedures ended %d ns of idle time, of %d, of which %d lasted to the end", ended, p.Idle,
			p.IdleAtEnd)
	}
	if l := p.Timeline; l != nil && len(l.Busy) > 0 {
		sum := 0.0
		for i, x := range l.Busy {
			sum += x * float64(min(l.Slice, p.Wall-int64(i)*l.Slice))
		}
		if d := sum - float64(p.Busy); d > 1 || d < -1 {
			t.Errorf("slices of time have %v ns busy, the run %d", sum, p.Busy)
		}
	}
	taken := p.Off.All() + p.OffCPU
	if busy != p.Busy+taken {
		t.Errorf("self busy of all procedures = %d, busy %d, processors taken %d", busy, p.Busy, taken)
	}
	var total int64
	for _, ns := range p.Parallelism {
		total += ns
	}
	if total != p.Wall {
		t.Errorf("parallelism histogram adds up to %d, wall %d", total, p.Wall)
	}
	if len(p.Parallelism)-1 > p.Procs {
		t.Errorf("%d processors busy of %d", len(p.Parallelism)-1, p.Procs)
	}
}

func wantNPT(t *testing.T, p *profile.Profile, name string, units float64) {
	t.Helper()
	if got := float64(entry(t, p, name).SelfNPT) / unit; math.Abs(got-units) > 1e-5 {
		t.Errorf("NPT(%s) = %.6f, want %.6f", name, got, units)
	}
}

func wantWall(t *testing.T, p *profile.Profile, units float64) {
	t.Helper()
	if got := float64(p.Wall) / unit; math.Abs(got-units) > 1e-5 {
		t.Errorf("T = %.6f, want %.6f", got, units)
	}
}

// do is Do in units.
func do(proc string, units float64) tracetest.Op {
	return tracetest.Do(proc, int64(math.Round(units*unit)))
}

// fig4 is the program of VPPB's Figure 4.
func fig4() []tracetest.Thread {
	wait, signal := tracetest.Wait, tracetest.Signal
	a, b, c, d, e, f := do("main.a", 1), do("main.b", 4), do("main.c", 1), do("main.d", 2), do("main.e", 2),
		do("main.f", 3)
	return []tracetest.Thread{
		{Name: "main.t1", Ops: []tracetest.Op{a, signal("X"), b, signal("Z"), c, wait("X2"), e}},
		{Name: "main.t2", Ops: []tracetest.Op{wait("X"), c, signal("Y"), a, wait("Y2"), d}},
		{Name: "main.t3", Ops: []tracetest.Op{wait("Y"), d, wait("Z"), e, signal("X2"), a, signal("Y2"), f}},
	}
}

// W1: VPPB Figure 4 on three processors.
func TestW1Fig4(t *testing.T) {
	p := profileOf(t, tracetest.Simulate(3, fig4()))
	wantWall(t, p, 11)
	for name, npt := range map[string]float64{"main.a": 11. / 6, "main.b": 7. / 3, "main.c": 1, "main.d": 5. / 3,
		"main.e": 7. / 3, "main.f": 11. / 6} {
		wantNPT(t, p, name, npt)
	}
	if got := entry(t, p, "main.main").NPT; got != 11*unit {
		t.Errorf("NPT(main) = %d, want the run time", got)
	}
	p = profileOf(t, tracetest.Simulate(1, fig4()))
	wantWall(t, p, 20)
}

// W2: the VPPB sorter: n readers handed a lock in index order, sorts in parallel,
// merges in index order after all reads.
func sorter(n int, r, s, m float64) []tracetest.Thread {
	var ths []tracetest.Thread
	for i := range n {
		ops := []tracetest.Op{}
		if i > 0 {
			ops = append(ops, tracetest.Wait(fmt.Sprint("read", i)))
		}
		ops = append(ops, do("main.read", r))
		if i < n-1 {
			ops = append(ops, tracetest.Signal(fmt.Sprint("read", i+1)))
		} else {
			ops = append(ops, tracetest.Signal("allread"))
		}
		ops = append(ops, do("main.sort", s))
		if i == 0 {
			ops = append(ops, tracetest.Wait("allread"))
		} else {
			ops = append(ops, tracetest.Wait(fmt.Sprint("merge", i)))
		}
		ops = append(ops, do("main.merge", m))
		if i < n-1 {
			ops = append(ops, tracetest.Signal(fmt.Sprint("merge", i+1)))
		}
		ths = append(ths, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return ths
}

func TestW2Sorter(t *testing.T) {
	const n, r, m = 7, .1034, .1465
	p := profileOf(t, tracetest.Simulate(8, sorter(n, r, .5, m)))
	wantWall(t, p, n*r+n*m)
	for name, npt := range map[string]float64{"main.read": .272, "main.sort": .805, "main.merge": .673} {
		if got := float64(entry(t, p, name).SelfNPT) / unit; math.Abs(got-npt) > .0006 {
			t.Errorf("NPT(%s) = %.4f, want %.3f", name, got, npt)
		}
	}
	// Past the threshold sorting is on the path.
	wantWall(t, profileOf(t, tracetest.Simulate(8, sorter(n, r, .7, m))), r+.7+n*m)
	g := entry(t, p, "main.worker")
	if g.Calls != n || g.Kind != profile.KindGoroutine || g.Creator != "main.main" {
		t.Errorf("group of workers: %+v", g)
	}
}

// verify is W6, Quartz's section 4: serial input, serial logging, parallel work.
func verify(procs int, s, l, w float64) []tracetest.Thread {
	var ths []tracetest.Thread
	serial := []tracetest.Op{do("main.input", s)}
	if l > 0 {
		serial = append(serial, do("main.log", l))
	}
	for i := range procs {
		ops := []tracetest.Op{tracetest.Wait("go")}
		if i == 0 {
			ops = serial
			for range procs - 1 {
				ops = append(ops, tracetest.Signal("go"))
			}
		}
		ths = append(ths, tracetest.Thread{Name: "main.worker", Ops: append(ops, do("main.work", w/float64(procs)))})
	}
	return ths
}

// Q1: NPT(main) is the elapsed time and a parent is itself plus its children.
// Q3: the serial logging case, with Table 3's shape: 3.0 % of the serial time is
// 27.4 % of the time on 18 processors.
func TestQ1Q3Logging(t *testing.T) {
	const s, l, w = 3.0, 3.4, 108.0
	one := profileOf(t, tracetest.Simulate(1, verify(1, s, l, w)))
	wantWall(t, one, 114.4)
	par := profileOf(t, tracetest.Simulate(18, verify(18, s, l, w)))
	wantWall(t, par, 12.4)
	wantWall(t, profileOf(t, tracetest.Simulate(18, verify(18, s, 0, w))), 9.0)
	wantNPT(t, par, "main.log", l)
	wantNPT(t, par, "main.input", s)
	wantNPT(t, par, "main.work", w/18)
	share := func(p *profile.Profile) float64 {
		return 100 * float64(entry(t, p, "main.log").SelfNPT) / float64(p.Wall)
	}
	if a, b := share(one), share(par); math.Abs(a-3.0) > .05 || math.Abs(b-27.4) > .05 {
		t.Errorf("logging is %.1f %% of the serial and %.1f %% of the parallel time, want 3.0 and 27.4", a, b)
	}
	m := entry(t, par, "main.main")
	sum := m.SelfNPT
	for _, name := range []string{"main.log", "main.input", "main.work"} {
		sum += entry(t, par, name).NPT
	}
	if m.NPT != par.Wall || math.Abs(float64(sum-m.NPT)) > 5 {
		t.Errorf("NPT(main) = %d, self + children = %d, elapsed %d", m.NPT, sum, par.Wall)
	}
}

// Q2: equal processor time, one procedure serial and one on all P processors: NPT
// ratio P:1. Equal elapsed time: equal NPT.
func TestQ2SerialParallel(t *testing.T) {
	for _, procs := range []int{2, 8, 18} {
		p := profileOf(t, tracetest.Simulate(procs, verify(procs, 18, 0, 18)))
		serial, parallel := entry(t, p, "main.input"), entry(t, p, "main.work")
		if serial.SelfBusy != parallel.SelfBusy || serial.SelfNPT != int64(procs)*parallel.SelfNPT {
			t.Errorf("%d processors: busy %d and %d, NPT %d and %d", procs, serial.SelfBusy, parallel.SelfBusy,
				serial.SelfNPT, parallel.SelfNPT)
		}
		p = profileOf(t, tracetest.Simulate(procs, verify(procs, 18, 0, 18*float64(procs))))
		if a, b := entry(t, p, "main.input").SelfNPT, entry(t, p, "main.work").SelfNPT; a != b {
			t.Errorf("%d processors: equal elapsed time, NPT %d and %d", procs, a, b)
		}
	}
}

// convoy is W5: n goroutines, k rounds, u outside, c under a lock that is handed over in
// turn.
func convoy(n, k int, u, c float64) []tracetest.Thread {
	var ops []tracetest.Op
	for range k {
		ops = append(ops, do("main.outside", u), tracetest.Enter("main.update"), tracetest.Lock("main.mu"),
			do("main.inside", c),
			tracetest.Unlock("main.mu"), tracetest.Leave("main.update"))
	}
	var ths []tracetest.Thread
	for range n {
		ths = append(ths, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return ths
}

// W5: the lock's own line has the time under it, its queue, and its waits, which are
// those of the procedure that takes it.
func TestW5Convoy(t *testing.T) {
	p := profileOf(t, tracetest.Simulate(8, convoy(8, 50, 4, 1)))
	wantWall(t, p, 404)
	mu, inside, update := entry(t, p, "main.mu"), entry(t, p, "main.inside"), entry(t, p, "main.update")
	if share := 100 * float64(mu.NPT) / float64(p.Wall); math.Abs(share-21) > .5 || mu.NPT != inside.NPT {
		t.Errorf("NPT of the lock is %.2f %% of the run, and %d; expected 21 and that of what is done under it, %d",
			share, mu.NPT, inside.NPT)
	}
	// A round takes 8 once the lock is saturated: 4 outside, 1 inside, 3 in the queue.
	if mu.Kind != profile.KindSync || mu.Calls != 400 || mu.Hold != 400*unit || mu.Busy != 400*unit || mu.Blame != 0 {
		t.Errorf("the lock: %+v", mu)
	}
	if want := 8*49*3*unit + 28*unit; mu.Wait != int64(want) || update.Blame != mu.Wait {
		t.Errorf("%d ns waited and %d blamed on who held the lock, expected %d", mu.Wait, update.Blame, want)
	}
	if o := object(t, p, "main.mu"); o.Unattributed != 0 || o.HandOver != 0 || o.Handed == 0 {
		t.Errorf("the lock: %+v", o)
	}

	// Not saturated: they meet but once.
	p = profileOf(t, tracetest.Simulate(4, convoy(4, 50, 10, 1)))
	wantWall(t, p, 553)
	mu = entry(t, p, "main.mu")
	if fmt.Sprint(mu.Queue) != fmt.Sprint([]int64{550 * unit, unit, unit, unit}) || mu.Wait != 6*unit {
		t.Errorf("queue %v, %d ns waited", mu.Queue, mu.Wait)
	}
}

func object(t *testing.T, p *profile.Profile, name string) *profile.Object {
	t.Helper()
	for i := range p.Objects {
		if p.Objects[i].Name == name {
			return &p.Objects[i]
		}
	}
	t.Fatalf("no object %q", name)
	return nil
}

// A goroutine that sends late is to blame for its work meanwhile, not for its own waits.
func TestBlameOfEnder(t *testing.T) {
	b := tracetest.New(2)
	b.Object("main.ch", spec.OpReceive)
	produce := b.Proc("main.produce")
	g1 := b.Go(0, "main.producer")
	b.Start(g1, 0)
	g2 := b.Go(g1, "main.consumer")
	b.Start(g2, 1)
	b.At(100).Enter(g1, produce)
	b.At(200).Wait(g2, "chan receive", 0xc000_1000, 0)
	b.At(300).Park(g1, "sleep")
	b.At(400).Unpark(0, g1)
	b.At(450).Start(g1, 0)
	b.At(500).Unpark(g1, g2)
	b.At(600).Exit(g1, produce)
	p := profileOf(t, b)
	o := object(t, p, "chan receive")
	if o.Wait != 300 || o.Unattributed != 150 || len(o.Blamed) != 1 ||
		o.Blamed[0] != (profile.Wait{Reason: "main.produce", Time: 150}) {
		t.Errorf("%+v", o)
	}
	// No goroutine was busy from 300 to 450, and none runnable in the first 100 of these.
	if e := entry(t, p, "main.produce"); e.Blame != 150 || e.SelfIdle != 150 || e.IdleEnded != 150 ||
		e.Runnable.Blocked != 0 || e.Runnable.Ready != 1 {
		t.Errorf("%+v", e)
	}
	if e := entry(t, p, "main.consumer"); e.Runnable.Blocked != 0.667 || e.IdleEnded != 0 {
		t.Errorf("%+v", e)
	}
}

// W8: P workers with work w, one of them x*w.
func TestW8Imbalance(t *testing.T) {
	const procs, w, x = 4, 3.0, 2.5
	var ths []tracetest.Thread
	for i := range procs {
		name, work := "main.light", w
		if i == 0 {
			name, work = "main.heavy", x*w
		}
		ths = append(ths, tracetest.Thread{Name: "main.worker", Ops: []tracetest.Op{do(name, work)}})
	}
	p := profileOf(t, tracetest.Simulate(procs, ths))
	wantWall(t, p, x*w)
	wantNPT(t, p, "main.heavy", w/procs+(x-1)*w)
	wantNPT(t, p, "main.light", (procs-1)*w/procs)
	want := []int64{0, int64((x - 1) * w * unit), 0, 0, w * unit}
	if fmt.Sprint(p.Parallelism) != fmt.Sprint(want) {
		t.Errorf("parallelism %v, want %v", p.Parallelism, want)
	}
}

// W3: workers that pop in a fixed order and then work, between barriers: the run is the
// sum over the passes of the last one's end.
func TestW3Barriers(t *testing.T) {
	const workers, pop = 3, 0.25
	work := [][]float64{{1, 2, 3}, {4, 1, 1}, {1, 5, 1}, {2, 2, 2}}
	var ths []tracetest.Thread
	expected := 0.0
	for j := range workers {
		var ops []tracetest.Op
		for k, w := range work {
			if j > 0 {
				ops = append(ops, tracetest.Wait(fmt.Sprint("turn", k, j)))
			}
			ops = append(ops, do("main.pop", pop))
			if j < workers-1 {
				ops = append(ops, tracetest.Signal(fmt.Sprint("turn", k, j+1)))
			}
			ops = append(ops, do("main.partition", w[j]), tracetest.Barrier("main.meet", workers))
		}
		ths = append(ths, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	for _, w := range work {
		most := 0.0
		for j := range workers {
			most = max(most, float64(j+1)*pop+w[j])
		}
		expected += most
	}
	p := profileOf(t, tracetest.Simulate(workers, ths))
	wantWall(t, p, expected)
	sum := 0.0
	for _, name := range []string{"main.pop", "main.partition"} {
		sum += float64(entry(t, p, name).NPT) / unit
	}
	if math.Abs(sum-expected) > 0.005*expected {
		t.Errorf("NPT of both parts %v, run %v", sum, expected)
	}
}

// W4: a pipeline of three stages with ample buffers.
func TestW4Pipeline(t *testing.T) {
	const n = 20
	var first, second, third []tracetest.Op
	for range n {
		first = append(first, do("main.first", 2), tracetest.Signal("a"))
		second = append(second, tracetest.Wait("a"), do("main.second", 5), tracetest.Signal("b"))
		third = append(third, tracetest.Wait("b"), do("main.third", 3))
	}
	p := profileOf(t, tracetest.Simulate(3, []tracetest.Thread{{Name: "main.s1", Ops: first},
		{Name: "main.s2", Ops: second}, {Name: "main.s3", Ops: third}}))
	wantWall(t, p, 105)
	for name, npt := range map[string]float64{"main.first": 17.5, "main.second": 59.5, "main.third": 28} {
		wantNPT(t, p, name, npt)
	}
}

// W9: two procedures in parallel, one of them longer.
func TestW9Plateau(t *testing.T) {
	p := profileOf(t, tracetest.Simulate(2, []tracetest.Thread{{Name: "main.t1",
		Ops: []tracetest.Op{do("main.foo", 7)}}, {Name: "main.t2", Ops: []tracetest.Op{do("main.bar", 10)}}}))
	wantWall(t, p, 10)
	wantNPT(t, p, "main.foo", 3.5)
	wantNPT(t, p, "main.bar", 6.5)
}

// W11: a slow worker and a fast one, joined after each round.
func TestW11Workers(t *testing.T) {
	var slow, fast []tracetest.Op
	for range 100 {
		slow = append(slow, do("main.slow", 2), tracetest.Signal("joined"))
		fast = append(fast, do("main.fast", 1), tracetest.Wait("joined"))
	}
	p := profileOf(t, tracetest.Simulate(2, []tracetest.Thread{{Name: "main.t1", Ops: slow},
		{Name: "main.t2", Ops: fast}}))
	wantWall(t, p, 200)
	wantNPT(t, p, "main.slow", 150)
	wantNPT(t, p, "main.fast", 50)
}
