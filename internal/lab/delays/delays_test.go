package delays

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// shown is a run in which two goroutines wait for a lock, and have procedures, one of them small.
func shown(t *testing.T) *found {
	t.Helper()
	const us, mu = 1000, 0x1000
	b := tracetest.New(1)
	f, quiet, body := b.Proc("main.f"), b.Proc("main.quiet"), b.Loop("main.range n", false)
	b.In(body, f)
	lock, unlock := b.Object("main.mu", spec.OpLock), b.Object("main.mu", spec.OpUnlock)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for range 3 {
		b.Enter(g, f)
		b.Enter(g, body)
		b.At(b.Now() + 100*us)
		b.Leave(g, body, 20)
		b.Exit(g, f)
	}
	b.Count(f, 7) // without events
	b.Count(body, 7)
	b.Enter(g, quiet)
	b.Exit(g, quiet)
	b.Sync(g, lock, mu, 0)
	other := b.Go(g, "main.other")
	b.Wait(g, "chan receive", 0x2000, 0)
	b.Start(other, 0)
	b.Wait(other, "sync.Mutex.Lock", mu, 0)
	b.Unpark(0, g)
	b.Start(g, 0)
	b.At(b.Now() + 50*us)
	b.Sync(g, unlock, mu, 0)
	b.Unpark(g, other)
	b.Park(g, "sleep")
	b.Start(other, 0)
	b.Sync(other, lock, mu, 0)
	b.Sync(other, unlock, mu, 0)
	b.End(other)
	x, err := look(b.Trace(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Factors are those that a rule names, with how often a run visits them: of a loop in each
// iteration, as often as those that were traced had some.
func TestNamed(t *testing.T) {
	t.Parallel()
	f := shown(t)
	for rule, want := range map[string]delays.Factor{
		"main.f":       {Name: "main.f", Construct: procedure, Visits: 10},
		"proc:main.f":  {Name: "main.f", Construct: procedure, Visits: 10},
		"loop:*range*": {Name: "main.f: main.range n", Construct: loop, Visits: 200},
		"hold:main.mu": {Name: "main.mu", Construct: hold, Visits: 2},
	} {
		x := f.named(rule)
		if x == nil || x.Name != want.Name || x.Construct != want.Construct || x.Visits != want.Visits ||
			x.Rule != rule {
			t.Errorf("%s: found %+v, expected %+v", rule, x, want)
		}
	}
	if x := f.named("id:" + f.named("main.f").ID); x == nil || x.Name != "main.f" {
		t.Errorf("by its id: found %+v", x)
	}
	for _, rule := range []string{"main.g", "hold:main.f", "loop:main.f", "id:12", "call:main.f"} {
		if x := f.named(rule); x != nil {
			t.Errorf("%s: found %+v, expected nothing", rule, x)
		}
	}
}

// Factors may be named as tables show them: by the end of a name, in any case, a loop with its
// procedure, a lock without "hold:".
func TestShown(t *testing.T) {
	t.Parallel()
	f := shown(t)
	for rule, want := range map[string]string{
		"F": "main.f", "main.f: main.range n": "main.f: main.range n", "range n": "main.f: main.range n",
		"loop:RANGE N": "main.f: main.range n",
		"mu":           "main.mu", "hold:mu": "main.mu", "main.mu": "main.mu", "sync main.mu": "main.mu",
		"proc:main.f": "main.f",
	} {
		if x := f.shown(rule); x == nil || x.Name != want {
			t.Errorf("%s: found %+v, expected %s", rule, x, want)
		}
	}
	for _, rule := range []string{"hold:f", "loop:mu", "g"} {
		if x := f.shown(rule); x != nil {
			t.Errorf("%s: found %+v, expected nothing", rule, x)
		}
	}
}

// Candidates are locks for which goroutines waited, and procedures with processor time, those with
// most of it first. Of one that is called seldom its loop is one, too.
func TestCandidates(t *testing.T) {
	t.Parallel()
	var names []string
	for _, x := range shown(t).candidates(6) {
		names = append(names, x.Name)
	}
	if got := strings.Join(names, " "); got != "main.mu main.f: main.range n main.f" {
		t.Errorf("found %s", got)
	}
}

// Every factor has its delay in every run, of 0 where it is not delayed, and half of it halfway.
func TestSettings(t *testing.T) {
	t.Parallel()
	x := &experiment{Experiment: &delays.Experiment{Factors: []delays.Factor{{Rule: "main.f", Delay: 500},
		{Rule: "hold:main.mu", Delay: 3000}, {Rule: "id:1f", Delay: 80}}}}
	y := &experiment{Experiment: &delays.Experiment{Factors: []delays.Factor{{Rule: "barrier:main.b", Delay: 500,
		Construct: delays.Arrival, Participants: 3},
		{Rule: "barrier:main.b", Delay: 500, Construct: delays.Crossing, Participants: 3}}}}
	if got, want := y.settings([]int{0, 1}, []int8{-1, 1}), "mode=count,barrier:main.b=+0ns+500ns*3"; got != want {
		t.Errorf("of a barrier: found %s, expected %s", got, want)
	}
	if y.voids("qinst: barrier main.bb: 1 of 3 came, and nobody else\nqinst: barrier main.b: 2 of 3 came, and nobody else; from then on\n"); y.Factors[0].Void != "2 of 3 came" || y.Factors[1].Void != "2 of 3 came" {
		t.Errorf("found %+v, expected both void", y.Factors)
	}
	if y.voids("qinst: barrier main.b: more than 64 of that name were in use at once; from then on it was not delayed\n"); y.Factors[0].Void != "more than 64 of that name were in use at once" {
		t.Errorf("found %q", y.Factors[0].Void)
	}
	for _, c := range []struct {
		factors []int
		levels  []int8
		want    string
	}{
		{nil, nil, "mode=count,main.f=+0ns,hold:main.mu=+0ns,id:1f=+0ns"},
		{[]int{0, 2}, []int8{1, 0}, "mode=count,main.f=+500ns,hold:main.mu=+0ns,id:1f=+40ns"},
		{[]int{1}, []int8{-1}, "mode=count,main.f=+0ns,hold:main.mu=+0ns,id:1f=+0ns"},
	} {
		if got := x.settings(c.factors, c.levels); got != c.want {
			t.Errorf("%v at %v: found %s, expected %s", c.factors, c.levels, got, c.want)
		}
	}
}

// Delays of a factor take a fifth of a run together, but are never too short to be exact; a part
// that is visited too often for that is no factor.
func TestLengths(t *testing.T) {
	t.Parallel()
	factors := func() []delays.Factor {
		return []delays.Factor{{Name: "few", Visits: 10}, {Name: "many", Visits: 4e6}, {Name: "too many", Visits: 2e7},
			{Name: "none"}}
	}
	x := &experiment{Experiment: &delays.Experiment{Factors: factors()}}
	x.lengths(1)
	if len(x.Factors) != 2 || x.Factors[0].Delay != 2e7 || x.Factors[1].Delay != leastDelay || len(x.Notes) != 2 {
		t.Errorf("found %+v, %q", x.Factors, x.Notes)
	}
	x = &experiment{o: Options{Delay: 5000}, Experiment: &delays.Experiment{Factors: factors()}}
	if x.lengths(1); len(x.Factors) != 3 || x.Factors[2].Delay != 5000 {
		t.Errorf("with one delay: found %+v", x.Factors)
	}
}

// A file goes on only with the experiment that it has.
func TestKept(t *testing.T) {
	t.Parallel()
	x := &experiment{o: Options{File: filepath.Join(t.TempDir(), "x.json"), Args: []string{"a"}},
		Experiment: &delays.Experiment{Version: delays.FileVersion, Hash: "h", Args: []string{"a"}, Alpha: 0.05}}
	if e, err := kept(x.o, "h"); e != nil || err != nil {
		t.Fatalf("found %v, %v, expected no file", e, err)
	}
	if err := x.save(); err != nil {
		t.Fatal(err)
	}
	if e, err := kept(x.o, "h"); err != nil || e.Hash != "h" {
		t.Errorf("found %+v, %v", e, err)
	}
	other := x.o
	other.Args = []string{"b"}
	for _, c := range []struct {
		o    Options
		hash string
	}{{x.o, "g"}, {other, "h"}} {
		if _, err := kept(c.o, c.hash); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("found %v, expected that it is another experiment", err)
		}
	}
	for _, change := range []func(o *Options){
		func(o *Options) { o.Rules = []string{"main.f"} }, func(o *Options) { o.Delay = 1 },
		func(o *Options) { o.Procs = []int{2} },
		func(o *Options) { o.Candidates = 3 }, func(o *Options) { o.Seed = 2 }, func(o *Options) { o.Barriers = true },
		func(o *Options) { o.Virtual = 2 },
		func(o *Options) { o.Load = "sleep 1" }, func(o *Options) { o.input = "i" },
	} {
		o := x.o
		change(&o)
		if _, err := kept(o, "h"); err == nil || !strings.Contains(err.Error(), "other factors") {
			t.Errorf("%+v: found %v, expected that it is another experiment", o, err)
		}
	}
	if err := os.WriteFile(x.o.File, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := kept(x.o, "h"); err == nil {
		t.Error("found no error in a damaged file")
	}
}

// A machine that becomes slower in the middle of an experiment is a difference between blocks, and
// no error of effects: blocks are whole plans.
func TestBlocks(t *testing.T) {
	t.Parallel()
	x := &experiment{Experiment: &delays.Experiment{Alpha: 0.05,
		Factors: []delays.Factor{{Name: "a", Visits: 1, Delay: 1}, {Name: "b", Visits: 1, Delay: 1}}}}
	p := delays.Plan{Stage: delays.Fuller, Base: []float64{1}}
	if err := x.plan(&p, []int{0, 1}, doe.Options{Kind: doe.Full, Seed: 5, Replicates: 8, Center: 2}); err != nil {
		t.Fatal(err)
	}
	if len(p.Runs) != 34 || p.Runs[33].Block != 8 {
		t.Fatalf("found %d runs in %d blocks, expected 34 in 8", len(p.Runs), p.Runs[len(p.Runs)-1].Block)
	}
	seen, orders := map[int]map[string]int{}, map[string]bool{}
	for i := range p.Runs {
		r := &p.Runs[i]
		r.Made, r.Response = true, 1+0.1*float64(r.Levels[0])+0.01*float64(i%3)
		if r.Block > 4 {
			r.Response += 0.4
		}
		if seen[r.Block] == nil {
			seen[r.Block] = map[string]int{}
		}
		seen[r.Block][fmt.Sprint(r.Levels)]++
	}
	for b, cells := range seen {
		delete(cells, "[0 0]")
		if len(cells) != 4 {
			t.Errorf("block %d has %v, expected each combination once", b, cells)
		}
		order := ""
		for _, r := range p.Runs {
			if r.Block == b {
				order += fmt.Sprint(r.Levels)
			}
		}
		orders[order] = true
	}
	if len(orders) < 4 {
		t.Errorf("found %d orders of eight blocks", len(orders))
	}
	x.Plans = []delays.Plan{p}
	r, err := delays.Analyze(x.Experiment)
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Plans[0].Effects[0]; e.Name != "a" || math.Abs(e.Effect-0.2) > 0.01 || e.SE > 0.01 {
		t.Errorf("found %+v, expected 0.2", e)
	}
	for i, left := range r.Plans[0].Residuals {
		if math.Abs(left) > 0.05 && len(p.Runs[i].Levels) > 0 && p.Runs[i].Levels[0] != 0 {
			t.Errorf("run %d: %v is left", i+1, left)
		}
	}
}

// A barrier that turned out to be void is in no later run.
func TestVoid(t *testing.T) {
	t.Parallel()
	f := delays.Factor{Rule: "barrier:main.b", Construct: delays.Arrival, Participants: 3}
	g := f
	g.Construct = delays.Crossing
	x := &experiment{Experiment: &delays.Experiment{Factors: []delays.Factor{f, g,
		{Rule: "barrier:main.c", Delay: 10, Construct: delays.Arrival, Participants: 2},
		{Rule: "barrier:main.c", Delay: 10, Construct: delays.Crossing, Participants: 2}}}}
	x.voids("qinst: barrier main.b: 2 of 3 came, and nobody else; from then on it was not delayed\n")
	if got, want := x.settings([]int{0, 1, 2, 3}, []int8{1, 1, 1, 1}),
		"mode=count,barrier:main.c=+10ns+10ns*2"; got != want || x.void != 2 {
		t.Errorf("found %s, %d void, expected %s", got, x.void, want)
	}
}

// A procedure with much of the time, that is called once, is named unless a loop of it is delayed.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	f := &found{t: &trace.Tables{}, p: &profile.Profile{Busy: 100, Entries: []profile.Entry{
		{ID: "1", Kind: profile.KindProc, Name: "main.hot", Calls: 1, SelfBusy: 50},
		{ID: "2", Kind: profile.KindProc, Name: "main.often", Calls: 2, SelfBusy: 30},
		{ID: "3", Kind: profile.KindProc, Name: "main.cold", Calls: 1, SelfBusy: 9}}}}
	if notes := f.leftOut(nil); len(notes) != 1 ||
		!strings.HasPrefix(notes[0], "main.hot itself has about 50 % of the processor time, and was not delayed") {
		t.Errorf("found %q", notes)
	}
	f.p.Wall = 1e9
	f.p.Objects = []profile.Object{{Name: "example.com/cache.mu",
		WaitedIn: []profile.Wait{{Reason: "example.com/cache.(*C).Get", Time: 2e8}}},
		{Name: "example.com/io.mu", WaitedIn: []profile.Wait{{Reason: "example.com/io.Read", Time: 3e7}}},
		{Name: "net/http.mu", WaitedIn: []profile.Wait{{Reason: "net/http.Get", Time: 2e8}}}}
	want := "nothing in example.com/cache was delayed, which has no probes: goroutines waited in it for 200.0 ms. A build with -include=example.com/cache gives it some"
	if notes := f.leftOut(nil); len(notes) != 2 || notes[0] != want {
		t.Errorf("found %q", notes)
	}
	f.p.Objects = nil
	if notes := f.leftOut([]delays.Factor{{ID: "4", Name: "main.hot: range 20"}}); len(notes) > 0 {
		t.Errorf("found %q, expected none of what has a loop in the list", notes)
	}
}

// A loop that does little but call a procedure is no factor if that is one.
func TestSame(t *testing.T) {
	t.Parallel()
	const us = 1000
	b := tracetest.New(1)
	main, body, item, inner := b.Proc("main.work"), b.Loop("main.range n", false), b.Proc("main.item"),
		b.Proc("main.inner")
	b.In(body, main)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Enter(g, main)
	b.Enter(g, body)
	for range 20 {
		b.Enter(g, item)
		for range 2 {
			b.Enter(g, inner)
			b.At(b.Now() + 50*us)
			b.Exit(g, inner)
		}
		b.Exit(g, item)
	}
	b.Leave(g, body, 20)
	b.Exit(g, main)
	b.End(g)
	f, err := look(b.Trace(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, x := range f.candidates(10) {
		found = append(found, fmt.Sprint(x.Name, " ", x.Visits))
	}
	if want := "[main.inner 40 main.item 20]"; fmt.Sprint(found) != want {
		t.Errorf("found %s, expected %s", found, want)
	}
}

// Two parts that take the same time, and do not call each other, are both factors. What a part
// takes is without the goroutines that it starts, which its delays do not make longer.
func TestUnrelated(t *testing.T) {
	t.Parallel()
	const us = 1000
	b := tracetest.New(1)
	one, other, starts, task := b.Proc("main.one"), b.Proc("main.other"), b.Proc("main.starts"), b.Proc("main.task")
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	for range 20 {
		for _, f := range []uint32{one, other} {
			b.Enter(g, f)
			b.At(b.Now() + 50*us)
			b.Exit(g, f)
		}
		b.Enter(g, starts)
		worker := b.Go(g, "main.task")
		b.At(b.Now() + 10*us)
		b.Exit(g, starts)
		b.Park(g, "sleep")
		b.Start(worker, 0)
		b.Enter(worker, task)
		b.At(b.Now() + 70*us)
		b.Exit(worker, task)
		b.End(worker)
		b.Unpark(0, g)
		b.Start(g, 0)
	}
	b.End(g)
	f, err := look(b.Trace(), 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, x := range f.candidates(10) {
		found[x.Name] = math.Round(x.Takes / us)
	}
	want := map[string]float64{"main.one": 50, "main.other": 50, "main.starts": 10, "main.task": 70}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("found %v, expected %v", found, want)
	}
}

// Short runs are made more often, long ones at least twice if there is time for that.
func TestReplicates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		runs int
		took float64
		want int
	}{{8, 0.1, 8}, {8, 1, 3}, {8, 60, 3}, {32, 0.1, 2}, {32, 2.5, 2}, {32, 3, 1}, {64, 1, 2}, {64, 10, 1},
		{128, 0.1, 2}, {4, 0.2, 16}, {4, 100, 6}} {
		if n := replicates(c.runs, c.took); n != c.want {
			t.Errorf("%d runs of %v s: found %d times, expected %d", c.runs, c.took, n, c.want)
		}
	}
}

// The second stage is of the parts that matter, the largest first, and of those that may; fewer of
// them if runs are long.
func TestMatter(t *testing.T) {
	t.Parallel()
	var effects []delays.Effect
	for i, p := range []float64{0.3, 0.01, 0.02, 0.9, 0.4, 0.45, 0.03} {
		effects = append(effects, delays.Effect{Factor: i, PHolm: p, Significant: p <= 0.05})
	}
	for took, want := range map[float64]string{1: "[0 1 2 4 6]", 4: "[0 1 2 6]"} {
		x := &experiment{Experiment: &delays.Experiment{Plans: []delays.Plan{{Took: took}}}}
		if list := x.matter(effects); fmt.Sprint(list) != want {
			t.Errorf("runs of %v s: found %v, expected %s", took, list, want)
		}
	}
	x := &experiment{Experiment: &delays.Experiment{Plans: []delays.Plan{{Took: 1}}}}
	if list := x.matter(effects[3:4]); len(list) > 0 {
		t.Errorf("found %v, expected none", list)
	}
}

// Where no run is made twice a plan is divided into blocks, which leave main effects alone.
func TestParts(t *testing.T) {
	t.Parallel()
	for factors, want := range map[int]int{2: 6, 4: 3, 8: 2, 11: 2, 15: 4} {
		x := &experiment{Experiment: &delays.Experiment{Alpha: 0.05}}
		var all []int
		for i := range factors {
			x.Factors, all = append(x.Factors, delays.Factor{Name: fmt.Sprint(i), Visits: 1, Delay: 1}), append(all, i)
		}
		p := delays.Plan{Stage: delays.Screening, Base: []float64{100}, Took: 100}
		if err := x.screening(&p, all, 1); err != nil {
			t.Fatal(err)
		}
		blocks := map[int]int{}
		for i := range p.Runs {
			r := &p.Runs[i]
			r.Made, r.Response = true, 100+30*float64(r.Block)+float64(r.Levels[1])+0.01*float64(i%3)
			blocks[r.Block]++
		}
		if len(blocks) != want {
			t.Errorf("%d factors: %d runs in %d blocks, expected %d", factors, len(p.Runs), len(blocks), want)
		}
		x.Plans = []delays.Plan{p}
		r, err := delays.Analyze(x.Experiment)
		if err != nil {
			t.Fatal(err)
		}
		if e := r.Plans[0].Effects[0]; e.Name != "1" || math.Abs(e.Effect-2) > 0.02 || !e.Significant {
			t.Errorf("%d factors: found %+v, expected 2 of factor 1, whatever the blocks", factors, e)
		}
	}
}

// A run may take several times as long as the sum of all delays.
func TestLongest(t *testing.T) {
	t.Parallel()
	x := &experiment{Experiment: &delays.Experiment{Factors: []delays.Factor{{Visits: 1000, Delay: 1e6},
		{Visits: 10, Delay: 1e8}}}}
	if d := x.longest(&delays.Plan{Took: 2}); d != 50*time.Second {
		t.Errorf("found %v, expected 50s", d)
	}
	if d := x.longest(&delays.Plan{}); d != 0 {
		t.Errorf("found %v, expected none where nothing is known", d)
	}
}

// A run that takes longer than all of its delays could make it was disturbed, and is made again.
// Few runs of a plan are.
func TestDisturbed(t *testing.T) {
	t.Parallel()
	x := &experiment{Experiment: &delays.Experiment{Factors: []delays.Factor{{Visits: 1000, Delay: 1e5}}}}
	p := &delays.Plan{Took: 0.4, Factors: []int{0}, Runs: make([]delays.Run, 8)}
	for _, c := range []struct {
		level    int8
		response float64
		want     bool
	}{{-1, 0.55, false}, {-1, 0.65, true}, {1, 0.65, false}, {1, 0.74, false}, {1, 0.76, true}} {
		if got := x.disturbed(p, &delays.Run{Levels: []int8{c.level}, Response: c.response}); got != c.want {
			t.Errorf("a run of %v s at level %d: disturbed is %v, expected %v", c.response, c.level, got, c.want)
		}
	}
	if p.Again = 2; x.disturbed(p, &delays.Run{Levels: []int8{1}, Response: 9}) {
		t.Error("a third of eight runs is made again, expected two at most")
	}
}
