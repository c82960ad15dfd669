package profile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// called is the number of calls of one procedure by another.
func called(t *testing.T, p *profile.Profile, caller, callee string) trace.Estimate {
	t.Helper()
	for i := range p.Calls {
		if c := &p.Calls[i]; c.Caller == caller && c.Callee == callee {
			return c.Number()
		}
	}
	t.Fatalf("no call of %s by %s in %+v", callee, caller, p.Calls)
	return trace.Estimate{}
}

// What hot procedures call is estimated; their own calls, and those of others, are exact.
func TestBursts(t *testing.T) {
	t.Parallel()
	tr := tracetest.Hot().Trace()
	if err := tracetest.Validate(tr); err != nil {
		t.Fatal(err)
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	hot := entry(t, p, "main.hot")
	if hot.Calls < 100_900 || !hot.Called().Exact() || hot.Degraded != hot.Calls-1 {
		t.Errorf("main.hot: %d calls (%+v), %d of them without events", hot.Calls, hot.Called(), hot.Degraded)
	}
	if n := called(t, p, "main.hot", "main.two"); n.Value != 2*hot.Calls || n.Exact() || n.Bound() || n.Hi-n.Lo > 2000 {
		t.Errorf("main.two, twice in each of %d: %+v", hot.Calls, n)
	}
	if n := called(t, p, "main.hot", "main.some"); n.Value < 900 || n.Value > 1300 || n.Lo > n.Value*9/10 ||
		n.Hi < n.Value*11/10 {
		t.Errorf("main.some: %+v, expected about 1,100, not very exactly", n)
	}
	if n := called(t, p, "main.short", "main.two"); n != (trace.Estimate{Value: 9, Lo: 9}) {
		t.Errorf("main.two by main.short: %+v, expected 9 or more", n)
	}
	if n := called(t, p, "main.cold", "main.two"); n != (trace.Estimate{Value: 5}) {
		t.Errorf("main.two by main.cold: %+v, expected 5", n)
	}
	first, second := called(t, p, "main.hot", "main.(*T).M"), called(t, p, "main.hot", "main.(*U).M")
	if sum := first.Value + second.Value; sum < hot.Calls-1 || sum > hot.Calls+1 || first.Exact() || second.Exact() ||
		second.Lo > hot.Calls/5 {
		t.Errorf("two callees of one call: %+v, %+v, expected a sum of %d", first, second, hot.Calls)
	}
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindLoop && e.Name == "main.hot: main.loop" {
			if n := e.Called(); n.Value < hot.Calls || n.Lo >= n.Value || n.Hi <= n.Value {
				t.Errorf("loop: %+v", n)
			}
		}
	}
	if n := called(t, p, "main.main", "main.some"); n.Exact() || n.Bound() || n.Lo >= n.Value || n.Hi <= n.Value ||
		n.Value < 3*50_000 || n.Value > 3*51_000 {
		t.Errorf("main.some, three times in each iteration of a long loop: %+v", n)
	}
	if text := strings.Join(p.Notes, "\n"); strings.Count(text, "2 hot procedures and 1 long loop") != 1 {
		t.Errorf("notes: %s", text)
	}
}

// The JSON form has intervals where there are some, and nothing more elsewhere.
func TestBurstsJSON(t *testing.T) {
	t.Parallel()
	p := profileOf(t, tracetest.Hot())
	text, err := json.Marshal(p.Calls)
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]int{`"count_lo"`: 6, `"count_hi"`: 5, `"count":9,"count_lo":9}`: 1,
		`"count":5}`: 1} {
		if n := strings.Count(string(text), part); n != want {
			t.Errorf("%s %d times, expected %d, in %s", part, n, want, text)
		}
	}
}

// Numbers of several runs add up, and so do their variances.
func TestMergeBursts(t *testing.T) {
	t.Parallel()
	one := profileOf(t, tracetest.Hot())
	sum := profile.Merge([]*profile.Profile{one, profileOf(t, tracetest.Hot())})
	a, b := called(t, one, "main.hot", "main.some"), called(t, sum, "main.hot", "main.some")
	if ratio := float64(b.Hi-b.Value) / float64(a.Hi-a.Value); b.Value != 2*a.Value || ratio < 1.41 || ratio > 1.42 {
		t.Errorf("%+v in one run, %+v in two, expected an interval wider by the root of 2", a, b)
	}
	if n := called(t, sum, "main.short", "main.two"); n != (trace.Estimate{Value: 18, Lo: 18}) {
		t.Errorf("two lower bounds are %+v", n)
	}
	if text := strings.Join(sum.Notes, "\n"); strings.Count(text, "2 hot procedures") != 1 {
		t.Errorf("notes: %s", text)
	}
	r, err := profile.Over([]*profile.Profile{one, one}, sum)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Entries {
		if want := map[string]string{"main.hot: main.loop": "~"}[e.Name]; e.CallsMark != want {
			t.Errorf("%s: mark %q, expected %q", e.Name, e.CallsMark, want)
		}
	}
}

// An entry that is counted in line costs much less than one that a probe counts.
func TestPlainEntriesAreCheap(t *testing.T) {
	t.Parallel()
	took := func(plain bool) uint64 {
		b := tracetest.New(1).Attribute("count_cost_ps", 1000)
		f := b.Proc("main.f")
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		b.Enter(g, f)
		if plain {
			b.Plain(f, 400)
		} else {
			b.Count(f, 400)
		}
		b.At(1e6).Exit(g, f)
		b.End(g)
		return uint64(profileOf(t, b).Tool.Probes)
	}
	if all, plain := took(false), took(true); plain == 0 || 4*plain > all {
		t.Errorf("400 entries cost %d ns, and without probes %d, expected less than a quarter", all, plain)
	}
}
