package extensions_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/extensions"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// call is a call as the trace has it.
type call struct {
	g           trace.GoID
	point       uint64
	parent      uint64
	start, took int64
	below       int64
	recursive   bool
	path        string
}

// truth is what extensions should find, computed from the trace's own events.
type truth struct {
	calls   []call
	entered map[uint64]uint64
	locks   map[uint64]*lock
	lives   map[string]*lives
}

type lock struct{ ops, waits, waited, worst, holds, held, longest int64 }

type lives struct{ created, ended, sum, least, most, running int64 }

func truthOf(t testing.TB, tr *trace.Trace) *truth {
	w := &truth{entered: map[uint64]uint64{}, locks: map[uint64]*lock{}, lives: map[string]*lives{}}
	stacks := map[trace.GoID][]call{}
	type state struct {
		fn                  string
		born, ran, waits    int64
		waitsFor            uint64
		running, hasWaiting bool
	}
	states := map[trace.GoID]*state{}
	type hold struct {
		object uint64
		g      trace.GoID
	}
	locked := map[hold]int64{}
	at := func(a uint64) *lock {
		if w.locks[a] == nil {
			w.locks[a] = &lock{}
		}
		return w.locks[a]
	}
	_, err := tr.Events(func(events []trace.Event) error {
		for _, e := range events {
			loop := (e.Kind == trace.Enter || e.Kind == trace.Exit) && tr.Points[e.Point()].Kind == spec.PointLoop
			switch e.Kind {
			case trace.Enter:
				w.entered[uint64(e.Point())]++
				if loop {
					continue
				}
				c := call{g: e.G, point: uint64(e.Point()), parent: extensions.NoPoint, start: int64(e.Time)}
				s := stacks[e.G]
				if n := len(s); n > 0 {
					c.parent, c.path = s[n-1].point, s[n-1].path
				}
				c.recursive = slices.ContainsFunc(s, func(o call) bool { return o.point == c.point })
				c.path += fmt.Sprint(c.point, " ")
				stacks[e.G] = append(s, c)
			case trace.Exit:
				if s := stacks[e.G]; !loop && len(s) > 0 {
					n := len(s) - 1
					c := s[n]
					c.took = int64(e.Time) - c.start
					stacks[e.G] = s[:n]
					if n > 0 {
						s[n-1].below += c.took
					}
					w.calls = append(w.calls, c)
				}
			case trace.Sync:
				l := at(uint64(e.Sync().Object))
				l.ops++
				switch tr.Points[e.Point()].Op {
				case spec.OpLock, spec.OpTryLock:
					locked[hold{uint64(e.Sync().Object), e.G}] = int64(e.Time)
				case spec.OpUnlock:
					if since, ok := locked[hold{uint64(e.Sync().Object), e.G}]; ok {
						delete(locked, hold{uint64(e.Sync().Object), e.G})
						l.holds++
						l.held += int64(e.Time) - since
						l.longest = max(l.longest, int64(e.Time)-since)
					}
				}
			case trace.Create:
				s := &state{born: int64(e.Time)}
				if f := tr.Function(e.Creation().Start); f != nil {
					s.fn = f.Name
				}
				states[e.G] = s
				if w.lives[s.fn] == nil {
					w.lives[s.fn] = &lives{}
				}
				w.lives[s.fn].created++
			case trace.Change:
				s := states[e.G]
				if e.To == trace.Waiting && e.Wait().Object != 0 {
					s.waits, s.waitsFor, s.hasWaiting = int64(e.Time), uint64(e.Wait().Object), true
					at(uint64(e.Wait().Object))
				}
				if e.To == trace.Running && s.hasWaiting {
					s.hasWaiting = false
					l, took := at(s.waitsFor), int64(e.Time)-s.waits
					l.waits++
					l.waited += took
					l.worst = max(l.worst, took)
				}
				l := w.lives[s.fn]
				if e.From == trace.Runnable || e.From == trace.Waiting {
					if e.To == trace.Running {
						s.running, s.ran = true, int64(e.Time)
					}
				}
				if s.running && (e.To == trace.Runnable || e.To == trace.Waiting || e.To == trace.None) {
					s.running = false
					l.running += int64(e.Time) - s.ran
				}
				if e.To == trace.None {
					life := int64(e.Time) - s.born
					if l.ended == 0 || life < l.least {
						l.least = life
					}
					l.ended++
					l.sum += life
					l.most = max(l.most, life)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// row is a record's values by name, in float64.
type row struct {
	t testing.TB
	p *sddf.Packet
}

func (r row) n(name string) float64 {
	for i, f := range r.p.Record.Fields {
		if f.Name == name {
			switch v := r.p.Values[i].(type) {
			case uint64:
				return float64(v)
			case int64:
				return float64(v)
			case float64:
				return v
			}
		}
	}
	r.t.Fatalf("%s has no number %q", r.p.Name, name)
	return 0
}

// is checks a number, that may be off by a ns for each of so many roundings.
func (r row) is(name string, want int64, roundings int64) {
	if got := r.n(name); math.Abs(got-float64(want)) > float64(roundings) {
		r.t.Fatalf("%v: %s is %v, expected %d", r.p.Values, name, got, want)
	}
}

func rows(t testing.TB, file []byte, name string) (list []row) {
	for _, p := range records(t, file, name) {
		list = append(list, row{t, p})
	}
	return list
}

// shipped reduces a file by an extension of the package.
func shipped(t testing.TB, file []byte, names ...string) []byte {
	return reduce(t, file, func(f *extensions.File) {
		for _, name := range names {
			s, e, err := extensions.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			f.Use(name, s.Kinds, e)
		}
	})
}

// TestShipped compares what each extension finds in random traces with what the
// trace's own events say.
func TestShipped(t *testing.T) {
	t.Parallel()
	checks := map[string]func(testing.TB, *truth, []byte){
		"profile": checkProfile, "lifetimes": checkLifetimes, "transitions": checkTransitions, "locks": checkLocks,
		"goroutines": checkGoroutines, "sample:3": checkSample, "heavy:1000": checkHeavy, "heavy:3": checkHeavy3,
		"windows:1ms": checkWindows,
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
				full := tracetest.Random(rnd.IntN).Bytes()
				w := truthOf(t, open(t, full))
				reduced := shipped(t, full, name)
				check(t, w, reduced)
				tr := open(t, reduced)
				if e := tr.Extensions; len(e) != 1 || e[0].Name != name || e[0].Failed != "" {
					rt.Fatalf("%+v", e)
				}
				for i, p := range tr.Points {
					if dropped := w.entered[uint64(i)]; p.Traceable() && dropped != p.Reduced+reread(t, tr)[uint64(i)] {
						rt.Fatalf("point %d: %d taken out of %d", i, p.Reduced, dropped)
					}
				}
			})
		})
	}
}

// reread counts the entries that a file still has.
func reread(t testing.TB, tr *trace.Trace) map[uint64]uint64 { return truthOf(t, tr).entered }

func checkProfile(t testing.TB, w *truth, file []byte) {
	type sums struct{ n, total, self, least, most int64 }
	want := map[float64]*sums{}
	for _, c := range w.calls {
		s := want[float64(c.point)]
		if s == nil {
			s = &sums{least: c.took}
			want[float64(c.point)] = s
		}
		s.n++
		if !c.recursive {
			s.total += c.took
		}
		s.self += c.took - c.below
		s.least, s.most = min(s.least, c.took), max(s.most, c.took)
	}
	got := rows(t, file, "procedure profile")
	if len(got) != len(want) {
		t.Fatalf("%d procedures, expected %d", len(got), len(want))
	}
	for _, r := range got {
		s := want[r.n("procedure")]
		r.is("calls", s.n, 0)
		r.is("total", s.total, s.n+1)
		r.is("self", s.self, 2*s.n+1)
		r.is("least", s.least, 1)
		r.is("most", s.most, 1)
	}
}

func checkLifetimes(t testing.TB, w *truth, file []byte) {
	times := map[float64][]int64{}
	for _, c := range w.calls {
		times[float64(c.point)] = append(times[float64(c.point)], c.took)
	}
	got := rows(t, file, "procedure lifetimes")
	if len(got) != len(times) {
		t.Fatalf("%d procedures, expected %d", len(got), len(times))
	}
	for _, r := range got {
		list := times[r.n("procedure")]
		slices.Sort(list)
		r.is("calls", int64(len(list)), 0)
		r.is("least", list[0], 1)
		r.is("most", list[len(list)-1], 1)
		for name, q := range map[string]float64{"median": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999} {
			exact := list[min(len(list)-1, int(q*float64(len(list))))]
			if v := r.n(name); v < float64(exact)-1 || v > float64(exact)*(1+1.0/64)+1 {
				t.Fatalf("%s is %v, expected %d and at most 1.6 %% more", name, v, exact)
			}
		}
		bounds, _ := sddf.Field[[]int64](r.p, "bounds")
		counts, _ := sddf.Field[[]uint64](r.p, "counts")
		below, i := uint64(0), 0
		for k, b := range bounds {
			below += counts[k]
			for i < len(list) && list[i] <= b+1 {
				i++
			}
			if uint64(i) < below {
				t.Fatalf("%d calls took %d ns or less, the histogram has %d", i, b, below)
			}
		}
		if below != uint64(len(list)) {
			t.Fatalf("%d calls in the histogram, expected %d", below, len(list))
		}
	}
}

func checkTransitions(t testing.TB, w *truth, file []byte) {
	want, made, took := map[[2]float64]int64{}, map[float64]int64{}, map[[2]float64]int64{}
	for _, c := range w.calls {
		k := [2]float64{float64(c.parent), float64(c.point)}
		want[k]++
		took[k] += c.took
		made[k[0]]++
	}
	got := rows(t, file, "call transition")
	if len(got) != len(want) {
		t.Fatalf("%d transitions, expected %d", len(got), len(want))
	}
	sum := map[float64]float64{}
	for _, r := range got {
		k := [2]float64{r.n("from"), r.n("to")}
		r.is("calls", want[k], 0)
		r.is("total", took[k], want[k]+1)
		if p := float64(want[k]) / float64(made[k[0]]); r.n("probability") != p {
			t.Fatalf("probability %v, expected %v", r.n("probability"), p)
		}
		sum[k[0]] += r.n("probability")
	}
	for from, p := range sum {
		if math.Abs(p-1) > 1e-9 {
			t.Fatalf("probabilities of calls from %v add up to %v", from, p)
		}
	}
}

func checkLocks(t testing.TB, w *truth, file []byte) {
	got := rows(t, file, "lock summary")
	if len(got) != len(w.locks) {
		t.Fatalf("%d objects, expected %d", len(got), len(w.locks))
	}
	for _, r := range got {
		l := w.locks[uint64(r.n("object"))]
		r.is("operations", l.ops, 0)
		r.is("waits", l.waits, 0)
		r.is("waited", l.waited, l.waits+1)
		r.is("longest wait", l.worst, 1)
		r.is("holds", l.holds, 0)
		r.is("held", l.held, l.holds+1)
		r.is("longest hold", l.longest, 1)
	}
}

func checkGoroutines(t testing.TB, w *truth, file []byte) {
	got := rows(t, file, "goroutine lifetimes")
	if len(got) != len(w.lives) {
		t.Fatalf("%d functions, expected %d", len(got), len(w.lives))
	}
	for _, r := range got {
		name, _ := sddf.Field[string](r.p, "function")
		l := w.lives[name]
		r.is("created", l.created, 0)
		r.is("ended", l.ended, 0)
		r.is("lifetime", l.sum, l.ended+1)
		r.is("least", l.least, 1)
		r.is("most", l.most, 1)
		r.is("running", l.running, 1000)
	}
}

func checkSample(t testing.TB, w *truth, file []byte) {
	left := reread(t, open(t, file))
	got := rows(t, file, "sample weight")
	if len(got) != len(w.entered) {
		t.Fatalf("%d procedures, expected %d", len(got), len(w.entered))
	}
	for _, r := range got {
		p := uint64(r.n("procedure"))
		r.is("calls", int64(w.entered[p]), 0)
		r.is("kept", int64(left[p]), 0)
		if kept := (w.entered[p] + 2) / 3; kept != left[p] || r.n("weight") != float64(w.entered[p])/float64(kept) {
			t.Fatalf("kept %d with weight %v, expected %d", left[p], r.n("weight"), kept)
		}
	}
}

func paths(w *truth) map[string]*[2]int64 {
	want := map[string]*[2]int64{}
	for _, c := range w.calls {
		if want[c.path] == nil {
			want[c.path] = &[2]int64{}
		}
		want[c.path][0]++
		want[c.path][1] += c.took - c.below
	}
	return want
}

func pathOf(r row) (s string) {
	points, _ := sddf.Field[[]uint64](r.p, "path")
	for _, p := range points {
		s += fmt.Sprint(p, " ")
	}
	return s
}

func checkHeavy(t testing.TB, w *truth, file []byte) {
	want := paths(w)
	got := rows(t, file, "heavy path")
	if len(got) != len(want) {
		t.Fatalf("%d paths, expected %d", len(got), len(want))
	}
	last := math.Inf(1)
	for _, r := range got {
		s := want[pathOf(r)]
		r.is("calls", s[0], 0)
		r.is("self", s[1], 2*s[0]+1)
		r.is("error", 0, 0)
		if r.n("self") > last {
			t.Fatal("not in order")
		}
		last = r.n("self")
	}
}

// checkHeavy3: with room for three paths, what is said of them holds.
func checkHeavy3(t testing.TB, w *truth, file []byte) {
	want := paths(w)
	got := rows(t, file, "heavy path")
	if len(got) != min(3, len(want)) {
		t.Fatalf("%d paths, of %d", len(got), len(want))
	}
	least := 0.0
	for _, r := range got {
		p := pathOf(r)
		exact := float64(want[p][1])
		slack := 4*float64(len(w.calls)) + 2
		if r.n("self") < exact-slack || r.n("self")-r.n("error") > exact+slack {
			t.Fatalf("path %s: self %v, error %v, exactly %v", p, r.n("self"), r.n("error"), exact)
		}
		delete(want, p)
		least = r.n("self")
		if len(w.calls) > 0 {
			least += slack
		}
	}
	for p, s := range want {
		if float64(s[1]) > least {
			t.Fatalf("path %s with %d is missing; the last one has %v", p, s[1], least)
		}
	}
}

func checkWindows(t testing.TB, w *truth, file []byte) {
	type sums struct{ n, total, self int64 }
	got, want := map[float64]sums{}, map[float64]sums{}
	for _, r := range rows(t, file, "procedure window") {
		s := got[r.n("procedure")]
		got[r.n("procedure")] = sums{s.n + int64(r.n("calls")), s.total + int64(r.n("total")),
			s.self + int64(r.n("self"))}
	}
	for _, c := range w.calls {
		s := want[float64(c.point)]
		want[float64(c.point)] = sums{s.n + 1, s.total + c.took, s.self + c.took - c.below}
	}
	if len(got) != len(want) {
		t.Fatalf("%d procedures, expected %d", len(got), len(want))
	}
	for p, s := range got {
		x := want[p]
		if s.n != x.n || abs(s.total-x.total) > 2*x.n+2 || abs(s.self-x.self) > 3*x.n+2 {
			t.Fatalf("procedure %v: %v, expected %v", p, s, x)
		}
	}
}

func abs(n int64) int64 { return max(n, -n) }
