package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
)

func TestParseCondition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Condition{
		"wall>+5%":                 {Quantity: Wall, Limit: 5, Percent: true},
		"cpu>2.5%":                 {Quantity: CPU, Limit: 2.5, Percent: true},
		"calls:main.parse>0":       {Quantity: calls, Name: "main.parse"},
		"locks>+1%":                {Quantity: locks, Limit: 1, Percent: true},
		"calls:main.(*T).f:g>+10":  {Quantity: calls, Name: "main.(*T).f:g", Limit: 10},
		"channels:select(a>b)>+0%": {Quantity: channels, Name: "select(a>b)", Percent: true},
		"conclusions:herd>1":       {Quantity: Conclusions, Name: "herd", Limit: 1},
	} {
		want.text = text
		if got, err := ParseCondition(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v, %v; expected %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "expected a quantity", "wall": "expected a quantity", "wall>": "expected a quantity",
		"wall>-5%": "expected a quantity", "wall>=5%": "expected a quantity", ">5%": "expected a quantity",
		"wall>5": "expected a limit in percent", "wall:main.f>5%": "expected wall of the whole program",
		"allocs:main.f>+5%": "expected allocs of the whole program",
		"conclusions>5%":    "expected a number of conclusions", "loops>1": "expected a quantity",
		"calls:>0": "expected a quantity", "wall>5 %": "expected a quantity", "wall>1e9%": "expected a quantity",
	} {
		if c, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; expected an error with %q", text, c, err, want)
		}
	}
}

// machine makes experiments: times of runs that differ by chance.
type machine struct {
	r     *rand.Rand
	noise float64 // deviation of a run's time, as a share
	form  func(r *rand.Rand) float64
}

func (m *machine) runs(n int, took float64) (list []float64) {
	for range n {
		list = append(list, took*math.Exp(m.noise*m.form(m.r)))
	}
	return list
}

// gate is an experiment with a program that got slower, and one condition.
func (m *machine) gate(t testing.TB, pairs int, slower, limit float64) bool {
	time, err := newTime(Wall, m.runs(pairs, 1e9), m.runs(pairs, 1e9), m.runs(pairs, 1e9), m.runs(pairs, 1e9*slower))
	if err != nil {
		t.Fatal(err)
	}
	return time.exceeds(Condition{Quantity: Wall, Limit: limit, Percent: true})
}

// forms are the noises of machines; each has a deviation of about 1. Some runs of the last are
// disturbed by something else.
var forms = map[string]func(*rand.Rand) float64{
	"normal":     (*rand.Rand).NormFloat64,
	"heavy tail": func(r *rand.Rand) float64 { return distuv.StudentsT{Sigma: 0.58, Nu: 3, Src: r}.Rand() },
	"disturbed": func(r *rand.Rand) float64 {
		if r.IntN(10) == 0 {
			return 0.7*r.NormFloat64() + 1.7*r.ExpFloat64()
		}
		return 0.7 * r.NormFloat64()
	},
}

// Equal programs fail in at most 5 of 100 experiments, without any tolerance. The test fails if the
// number of false alarms has a probability below 1 % for a gate with that rate.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	const experiments = 1000
	for name, form := range forms {
		for _, noise := range []float64{0.005, 0.02, 0.2} {
			m := &machine{rand.New(rand.NewPCG(uint64(1000*noise), 73)), noise, form}
			wrong := 0
			for range experiments {
				if m.gate(t, 10, 1, 0) {
					wrong++
				}
			}
			t.Logf("%s, %g %%: %.1f %% false alarms", name, 100*noise, 100*float64(wrong)/experiments)
			chance := 1 - (distuv.Binomial{N: experiments, P: 0.05}).CDF(float64(wrong)-1)
			if wrong > 0 && chance < 0.01 {
				t.Errorf("%s, %g %%: %d of %d gates fail equal programs, expected at most 5 of 100", name, 100*noise,
					wrong, experiments)
			}
		}
	}
}

// Ten pairs find that a program takes 5 % longer in 95 of 100 experiments, where a run's time has a
// deviation of up to 2 %. Noisier machines are only logged.
func TestFinds(t *testing.T) {
	t.Parallel()
	const experiments = 1000
	for name, form := range forms {
		for _, c := range []struct {
			noise, limit float64
			promised     bool
		}{{0.01, 0, true}, {0.015, 0, true}, {0.02, 0, true}, {0.025, 0, false}, {0.03, 0, false}, {0.04, 0, false},
			{0.01, 2, true}, {0.015, 2, false}, {0.02, 2, false}} {
			m := &machine{rand.New(rand.NewPCG(uint64(10000*c.noise), 74)), c.noise, form}
			found := 0
			for range experiments {
				if m.gate(t, 10, 1.05, c.limit) {
					found++
				}
			}
			t.Logf("%s, %g %%, wall>+%g%%: %.1f %% found", name, 100*c.noise, c.limit, 100*float64(found)/experiments)
			if chance := (distuv.Binomial{N: experiments, P: 0.95}).CDF(float64(found)); c.promised && chance < 0.01 {
				t.Errorf("%s, %g %%, wall>+%g%%: %d of %d gates find 5 %%, expected 95 of 100", name, 100*c.noise,
					c.limit, found, experiments)
			}
		}
	}
}

// A count that is one of two numbers by chance is hardly ever a change.
func TestChanceCounts(t *testing.T) {
	t.Parallel()
	const gates = 10_000
	r := rand.New(rand.NewPCG(1, 75))
	wrong := 0
	for range gates {
		draw := func() (list []*counted) {
			for range mostCounted {
				list = append(list, counts("main.f", uint64(10+r.IntN(2))))
			}
			return list
		}
		for _, c := range compare(draw(), draw()) {
			if c.kind() != "" && c.Exact() && c.Differs() {
				wrong++
			}
		}
	}
	if wrong == 0 || wrong > 2*gates/500 {
		t.Errorf("%d of %d gates call chance a change, expected about one in 500", wrong, gates)
	}
}

// counts are those of a run that enters one procedure.
func counts(name string, n uint64) *counted {
	c := &counted{entries: map[string]*tally{}, sites: map[string]*tally{}, rest: map[string]*tally{}}
	at(c.entries, name).add(&trace.Point{ID: 1, File: "/src/main.go", Line: 3}, trace.Estimate{Value: n})
	return c
}

// Procedures that are entered on both sides are compared by that, others by where they are called.
func TestCompare(t *testing.T) {
	t.Parallel()
	base, head := counts("main.f", 3), counts("main.f", 4)
	call := func(c *counted, name string, id uint64, line int, n uint64) {
		at(c.sites, name).add(&trace.Point{ID: id, File: "/src/main.go", Line: line}, trace.Estimate{Value: n})
	}
	call(base, "main.f", 7, 10, 2) // once from elsewhere
	call(head, "main.f", 7, 10, 2)
	call(head, "main.f", 8, 12, 1)
	at(base.entries, "main.inlined").add(&trace.Point{ID: 2}, trace.Estimate{Value: 9}) // in head alone
	call(base, "main.inlined", 9, 20, 9)
	call(head, "main.inlined", 9, 21, 9)
	at(head.rest, "locks:main.mu").add(&trace.Point{ID: 11, File: "/src/main.go", Line: 30}, trace.Estimate{Value: 5})
	at(base.rest, "channels:main.c").add(&trace.Point{ID: 12}, trace.Estimate{Value: 100, Lo: 90, Hi: 110})
	at(head.rest, "channels:main.c").add(&trace.Point{ID: 12}, trace.Estimate{Value: 200, Lo: 190, Hi: 210})
	base.objects, head.objects = 1000, 1100
	got := map[string]Count{}
	for _, c := range compare([]*counted{base}, []*counted{head}) {
		got[c.ID] = c
	}
	for id, want := range map[string]Count{
		"calls":              {Base: Range{12, 12}, Head: Range{13, 13}},
		"locks":              {Head: Range{5, 5}},
		"allocs":             {Base: Range{1000, 1000}, Head: Range{1100, 1100}},
		"channels":           {}, // sums are of exact counts
		"calls:main.f":       {Base: Range{3, 3}, Head: Range{4, 4}, At: place{"/src/main.go", 12, 1, 1}},
		"calls:main.inlined": {Base: Range{9, 9}, Head: Range{9, 9}, At: place{"/src/main.go", 21, 9, 0}},
		"locks:main.mu":      {Head: Range{5, 5}, At: place{"/src/main.go", 30, 5, 5}},
		"channels:main.c":    {Base: Range{90, 110}, Head: Range{190, 210}, At: place{n: 200, more: 100}},
	} {
		if want.ID = id; got[id] != want {
			t.Errorf("%s: %+v, expected %+v", id, got[id], want)
		}
	}
}

// New conclusions are in all runs of head, and in no run of base.
func TestFresh(t *testing.T) {
	t.Parallel()
	run := func(ids ...string) map[string]advice.Item {
		m := map[string]advice.Item{}
		for _, id := range ids {
			m[id] = advice.Item{ID: id}
		}
		return m
	}
	base := []map[string]advice.Item{run("a"), run("a", "sometimes")}
	head := []map[string]advice.Item{run("a", "new", "once", "sometimes"), run("a", "new", "sometimes")}
	if got := fresh(base, head); len(got) != 1 || got[0].ID != "new" {
		t.Errorf("found %+v, expected new alone", got)
	}
}

// result is one in which each kind of thing differs.
func result(t *testing.T, conditions ...string) *Result {
	t.Helper()
	twice := []float64{20, 20, 20, 20, 20, 20}
	once := []float64{10, 10, 10, 10, 10, 10}
	wall, err := newTime(Wall, once, once, once, twice)
	cpu, err2 := newTime(CPU, once, once, once, []float64{1, 20, 3, 40, 5, 60})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	more := func(id string, base, head uint64, line int) Count {
		return Count{ID: id, Base: Range{base, base}, Head: Range{head, head}, At: place{file: "/src/a, b/main.go", line: line}}
	}
	r := &Result{Names: Names{"base", "head"}, Counted: true, Concluded: true, Plain: true,
		Main: place{file: "/src/a, b/main.go", line: 1}, Times: []Time{wall, cpu}, Pairs: 6, Counts: []Count{
			{ID: calls, Base: Range{10, 10}, Head: Range{21, 21}},
			{ID: Allocs, Base: Range{100, 110}, Head: Range{220, 230}}, more("calls:main.f", 10, 11, 5),
			more("calls:main.g", 0, 10, 6), more("locks:main.mu", 9, 8, 7),
			{ID: "channels:main.c", Base: Range{1, 3}, Head: Range{900, 1000}}},
		Items: []advice.Item{{ID: "herd", Text: "wake 100 % fewer\ngoroutines",
			Subject: advice.Subject{Kind: "sync", Name: "main.cond", File: "/src/a, b/main.go", Line: 9}}}}
	for _, text := range conditions {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Conditions = append(r.Conditions, c)
	}
	r.decide()
	return r
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"wall>+99%": "failed", "wall>+100%": "passed", "cpu>+5%": "undecided", "cpu>+900%": "passed",
		"calls:main.f>+0": "failed", "calls:main.f>+1": "passed", "calls:main.f>+9%": "failed",
		"calls:main.f>+10%": "passed", "calls:main.g>+100%": "failed", "locks:main.mu>+0": "passed",
		"channels:main.c>+0": "undecided", "calls:main.h>+0": "undecided", "calls>+11": "passed", "calls>+10": "failed",
		"allocs>+99%": "failed", "allocs>+100%": "passed", "allocs>+109": "failed", "allocs>+110": "passed",
		"conclusions>0": "failed", "conclusions>1": "passed", "conclusions:herd>0": "failed", "conclusions:leak>0": "passed",
	} {
		r := result(t, text)
		got := "passed"
		if len(r.Failed) > 0 {
			got = "failed"
		} else if len(r.Undecided) > 0 {
			got = "undecided"
		}
		if got != want {
			t.Errorf("%s: %s %+v, expected %s", text, got, append(r.Failed, r.Undecided...), want)
		}
	}
}

// What equal programs differed by, in either direction, is added to the limit.
func TestSeeming(t *testing.T) {
	t.Parallel()
	for _, aa := range []stats.Interval{
		{Mean: 1.2, Low: 1.1, High: 1.3},
		{Mean: 1 / 1.2, Low: 1 / 1.3, High: 1 / 1.1},
	} {
		time := Time{ID: Wall, AA: aa, Ratio: stats.Interval{Low: 1.05 * 1.0999}}
		if time.exceeds(Condition{Limit: 5, Percent: true}) || !time.exceeds(Condition{Limit: 4.9, Percent: true}) {
			t.Errorf("A/A %+v: expected that +15.5 %% exceeds 4.9 %%, and not 5 %%", aa)
		}
	}
	time := Time{ID: Wall, AA: stats.Interval{Mean: 1.04, Low: 0.99, High: 1.09}, Ratio: stats.Interval{Low: 1.051}}
	if !time.exceeds(Condition{Limit: 5, Percent: true}) {
		t.Error("expected no correction by an interval that has 1")
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	r := result(t, "wall>+5%", "calls>+0", "conclusions>0")
	for name, c := range map[string]struct {
		write func(*strings.Builder) error
		want  string
	}{
		"lines": {func(w *strings.Builder) error { return r.WriteLines(w, "/src") }, `a, b/main.go:1: error: the program takes longer: wall is +100.0% (+100.0 to +100.0), of equal programs +0.0% (+0.0 to +0.0)
a, b/main.go:6: error: calls:main.g: base has 0, head 10 (+10)
a, b/main.go:5: error: calls:main.f: base has 10, head 11 (+1)
a, b/main.go:9: error: new: wake 100 % fewer
goroutines
`},
		"github": {func(w *strings.Builder) error { return r.WriteGitHub(w, "/src") }, `::error file=a%2C b/main.go,line=1::the program takes longer: wall is +100.0%25 (+100.0 to +100.0), of equal programs +0.0%25 (+0.0 to +0.0)
::error file=a%2C b/main.go,line=6::calls:main.g: base has 0, head 10 (+10)
::error file=a%2C b/main.go,line=5::calls:main.f: base has 10, head 11 (+1)
::error file=a%2C b/main.go,line=9::new: wake 100 %25 fewer%0Agoroutines
`},
	} {
		var out strings.Builder
		if err := c.write(&out); err != nil || out.String() != c.want {
			t.Errorf("%s: %v\n%s\nexpected\n%s", name, err, out.String(), c.want)
		}
	}
	var out strings.Builder
	if err := result(t, "calls:main.f>+0").WriteGitHub(&out, filepath.Join("/src", "a, b")); err != nil ||
		!strings.HasPrefix(out.String(), "::error file=main.go,line=5::calls:main.f") ||
		!strings.Contains(out.String(), "\n::warning file=main.go,line=6::calls:main.g") ||
		strings.Contains(out.String(), "locks") {
		t.Errorf("%v, %s: expected an error first, warnings of what is more, and nothing of what is less", err, out.String())
	}
}

func TestSARIF(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := result(t, "calls:main.f>+0").WriteSARIF(&out, "/src"); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	d := json.NewDecoder(strings.NewReader(out.String()))
	if d.DisallowUnknownFields(); d.Decode(&log) != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%s\nexpected one run of version 2.1.0", out.String())
	}
	run := log.Runs[0]
	if len(run.Results) != 3 || len(run.Tool.Driver.Rules) != 2 {
		t.Fatalf("%s\nexpected three results of two rules", out.String())
	}
	first := run.Results[0]
	at := first.Locations[0].Physical
	if first.Rule != calls || first.Level != "error" || at.File.URI != "a,%20b/main.go" || at.Region.StartLine != 5 {
		t.Errorf("found %+v, expected an error of main.f at line 5 of a,%%20b/main.go", first)
	}
	if run.Results[1].Level != "warning" {
		t.Errorf("found %+v, expected a warning", run.Results[1])
	}
}

// The contract of -json.
func TestJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := result(t, "calls:main.f>+0", "cpu>+5%").WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"aa":{"lo_pct":0,"hi_pct":0},"times":[{"id":"wall","base_ns":10,"head_ns":20,"pct":100,"lo_pct":100,"hi_pct":100,"aa":{"lo_pct":0,"hi_pct":0}},`
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("found\n%s\nexpected it to begin with\n%s", out.String(), want)
	}
	for _, part := range []string{`{"id":"calls:main.f","base":10,"head":11,"file":"/src/a, b/main.go","line":5}`,
		`{"id":"channels:main.c","base":1,"head":900,"base_most":3,"head_most":1000}`, `"items":[{"id":"herd",`,
		`"failed":[{"condition":"calls:main.f\u003e+0","text":"base has 10, head 11 (+1)"}]`,
		`"undecided":[{"condition":"cpu\u003e+5%",`} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("found\n%s\nwithout %s", out.String(), part)
		}
	}
	out.Reset()
	if err := (&Result{Same: true}).WriteJSON(&out); err != nil ||
		out.String() != `{"version":1,"same":true,"aa":null,"times":[],"counts":[],"items":[],"failed":[],"undecided":[]}`+"\n" {
		t.Errorf("of one program: %v, %s", err, out.String())
	}
}

// What a condition says is read as it is written, whatever the name.
func TestConditionNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Condition{Quantity: rapid.SampledFrom(kinds).Draw(t, "quantity"),
			Name:  rapid.StringMatching(`[a-z./:>()*%+ 0-9]{1,20}`).Draw(t, "name"),
			Limit: float64(rapid.IntRange(0, 1000).Draw(t, "limit")), Percent: rapid.Bool().Draw(t, "percent")}
		c.text = fmt.Sprintf("%s:%s>+%g", c.Quantity, c.Name, c.Limit)
		if c.Percent {
			c.text += "%"
		}
		if got, err := ParseCondition(c.text); err != nil || got != c {
			t.Fatalf("%s: %+v, %v; expected %+v", c.text, got, err, c)
		}
	})
}
