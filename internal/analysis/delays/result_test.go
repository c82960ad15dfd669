package delays_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/trace/tracetest"
)

// table is an experiment whose plan has just these effects, with a standard error of se:
// interactions of two factors and more all have that size, and two runs of each combination differ
// so that this is their error.
func table(procs []int, effects [][]float64, se float64) *delays.Experiment {
	e := &delays.Experiment{Version: delays.FileVersion, Unit: "s", Alpha: 0.05, Seed: 7}
	for i := range effects[0] {
		e.Factors = append(e.Factors, delays.Factor{Name: "F" + string(rune('1'+i)), Visits: 1000, Delay: 5000})
	}
	for k := range effects {
		p := delays.Plan{Procs: procs[k], Stage: delays.Screening, Design: "full", Resolution: len(effects[k]),
			Base: []float64{100, 101, 99}}
		for i := range effects[k] {
			p.Factors = append(p.Factors, i)
		}
		plan, err := doe.New(strings.Split("abcdefgh"[:len(effects[k])], ""),
			doe.Options{Kind: doe.Full, Replicates: 2})
		if err != nil {
			panic(err)
		}
		seen := map[string]float64{}
		for _, r := range plan.Runs {
			y := 100.
			for i, x := range r.Levels {
				y += effects[k][i] / 2 * float64(x)
			}
			// The variance of an effect of N runs is four times that of a run, by N.
			key := string(intoBytes(r.Levels))
			off := se * math.Sqrt(float64(len(plan.Runs))/4) / math.Sqrt2
			if seen[key]++; seen[key] == 2 {
				off = -off
			}
			p.Runs = append(p.Runs, delays.Run{Block: 1, Levels: r.Levels, Made: true, Response: y + off})
		}
		e.Plans = append(e.Plans, p)
	}
	return e
}

func intoBytes(levels []int8) []byte {
	b := make([]byte, len(levels))
	for i, x := range levels {
		b[i] = byte(x)
	}
	return b
}

func analyze(t *testing.T, e *delays.Experiment) *delays.Result {
	t.Helper()
	r, err := delays.Analyze(e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// S3: tables 5 to 8. The effect of a loop that all processors share is proportional to 1/p, and
// that of an overloaded one stays.
func TestS3(t *testing.T) {
	t.Parallel()
	procs := []int{2, 4, 8, 24}
	f17, f26, f2 := []float64{24.04, 12.06, 6.03, 2.14}, []float64{22.2, 11.1, 5.46, 2.03},
		[]float64{5.26, 5.26, 5.27, 5.43}
	var effects [][]float64
	for i := range procs {
		effects = append(effects, []float64{f17[i], f26[i], f2[i], 0.01, 0.2 + 0.3*float64(i)*float64(i)})
	}
	r := analyze(t, table(procs, effects, 0.06))
	for i, want := range []string{delays.Parallel, delays.Parallel, delays.Flat, delays.Unclear, delays.Growing} {
		if c := r.Classes[i]; c.Class != want {
			t.Errorf("%s: found %+v, expected %s", c.Name, c, want)
		}
	}
	if c := r.Classes[0]; math.Abs(c.Power+1) > 0.05 {
		t.Errorf("found the power %v, expected -1", c.Power)
	}
}

// A worker for each processor that does its part of the work in one call is visited once per
// processor, and each visit takes less: its delays are relative to that. Work that each worker
// repeats grows. An effect that is lost in noise on some number of processors does not hide the
// others.
func TestClassesOfVisits(t *testing.T) {
	t.Parallel()
	procs := []int{1, 2, 4, 8}
	effects := [][]float64{{5, 1, 8, 5, 0.1}, {5, 2, 4, 5, 0.1}, {5, 4, 0.1, 5, 0.1}, {5, 8, 1, 5, 0.1}}
	e := table(procs, effects, 0.2)
	for i, p := range procs {
		plan := &e.Plans[i]
		for range e.Factors {
			plan.Parts = append(plan.Parts, delays.Part{Visits: 1000, Takes: 1e6})
		}
		plan.Parts[0] = delays.Part{Visits: float64(p), Takes: 1e9 / float64(p)}
		plan.Parts[1] = delays.Part{Visits: float64(1000 * p), Takes: 1e6}
	}
	r := analyze(t, e)
	for i, want := range []string{delays.Parallel, delays.Growing, delays.Parallel, delays.Flat, delays.Unclear} {
		if c := r.Classes[i]; c.Class != want {
			t.Errorf("%s: found %+v, expected %s", c.Name, c, want)
		}
	}
	if y := r.Plans[3].Effects; y[0].Visits != 8000 || y[0].PerVisit != 8/(8000*5e-6) {
		t.Errorf("found %+v, expected the visits of eight processors", y[0])
	}
}

// Where every part of a program matters, a screening without replicates finds that out, too: the
// error is from interactions, not from effects.
func TestAllMatter(t *testing.T) {
	t.Parallel()
	const factors = 15
	e := &delays.Experiment{Version: delays.FileVersion, Unit: "s", Alpha: 0.05}
	p := delays.Plan{Stage: delays.Screening, Base: []float64{10}}
	var names []string
	for i := range factors {
		names = append(names, strconv.Itoa(i))
		e.Factors, p.Factors = append(e.Factors, delays.Factor{Name: "F" + strconv.Itoa(i), Visits: 1, Delay: 1e9}),
			append(p.Factors, i)
	}
	d, err := doe.New(names, doe.Options{Seed: 1})
	if err != nil || len(d.Runs) != 32 {
		t.Fatalf("%v, %+v", err, d)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for _, r := range d.Runs {
		y := 10 + 0.1*draw.NormFloat64()
		for i, x := range r.Levels {
			y += float64(x) * (0.25 + 0.02*float64(i)) // effects of 0.5 to 1.06
		}
		p.Runs = append(p.Runs, delays.Run{Block: 1, Levels: r.Levels, Made: true, Response: y})
	}
	e.Plans = []delays.Plan{p}
	res := analyze(t, e).Plans[0]
	for _, x := range res.Effects {
		if !x.Significant || x.SE > 0.1 {
			t.Errorf("found %+v, expected an effect with a small error", x)
		}
	}
	if res.SEMethod != "lenth:2" {
		t.Errorf("found an error from %s, expected interactions", res.SEMethod)
	}
}

// S5: tables 12 and 13. One factor of three, and three of seven, are significant.
func TestS5(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effects []float64
		se      float64
		want    int
	}{{[]float64{13.82, 2.62, 2.86}, 2.15, 1}, {[]float64{0.14, 0.11, 29.01, 1.26, 0.09, 0.69, 8.94}, 0.39, 3}} {
		r := analyze(t, table([]int{8}, [][]float64{c.effects}, c.se))
		found := 0
		for i, e := range r.Plans[0].Effects {
			if math.Abs(e.SE-c.se) > 1e-9 {
				t.Fatalf("found a standard error of %v, expected %v", e.SE, c.se)
			}
			if e.Rank != i+1 || i > 0 && e.Effect > r.Plans[0].Effects[i-1].Effect {
				t.Errorf("rank %d: %+v", i+1, e)
			}
			if e.Significant {
				found++
			}
			if work := 1000 * 5000 / 1e9; math.Abs(e.PerVisit-e.Effect/work) > 1e-9 ||
				math.Abs(e.PerVisitSE-c.se/work) > 1e-6 {
				t.Errorf("found %+v, expected %v per visit", e, e.Effect/work)
			}
		}
		if found != c.want {
			t.Errorf("found %d significant effects of %v, expected %d", found, c.effects, c.want)
		}
	}
}

// A plan that lacks a run shows nothing, and the result says so.
func TestMissing(t *testing.T) {
	t.Parallel()
	e := table([]int{2, 4}, [][]float64{{1, 2}, {1, 2}}, 0.1)
	e.Plans[1].Runs[3].Made = false
	r := analyze(t, e)
	if len(r.Plans) != 1 || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "1 of 8 runs") {
		t.Errorf("found %+v", r)
	}
}

// Nonsense in a file is an error.
func TestRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "something else", "{}": "version 0", `{"version":1,"alpha":0.05,"plans":[{"factors":[2]}]}`: "factor 2",
		`{"version":1}`: "probability of 0",
		`{"version":1,"alpha":0.05,"factors":[{},{}],"plans":[{"factors":[1,1]}]}`:                                 "each once",
		`{"version":1,"alpha":0.05,"factors":[{}],"plans":[{"factors":[0]}]}`:                                      "no run without delays",
		`{"version":1,"alpha":0.05,"factors":[{}],"plans":[{"factors":[0],"base":[1],"runs":[{"levels":[1,1]}]}]}`: "2 levels",
	} {
		if _, err := delays.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %s", text, err, want)
		}
	}
}

// FuzzRead: any file is refused or evaluated.
func FuzzRead(f *testing.F) {
	text, err := json.Marshal(table([]int{2, 4}, [][]float64{{1, 2}, {1, 3}}, 0.1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":1,"alpha":0.05,"factors":[{"visits":-1,"delay_ns":1e300}],"plans":[{"procs":-3,"factors":[0,0],"base":[0],"runs":[{"made":true,"levels":[7,-1]},{"made":true,"levels":[-1,1],"response":1e308}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := delays.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if r, err := delays.Analyze(e); err == nil {
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("its result is no JSON: %v", err)
			}
		}
	})
}

// pairs is table for barriers: effects are alternately those of arrivals and crossings.
func pairs(effects []float64, se float64) *delays.Experiment {
	e := table([]int{0}, [][]float64{effects}, se)
	e.Plans[0].Stage = delays.Pairs
	for i := range e.Factors {
		f := &e.Factors[i]
		f.Name, f.Participants, f.Construct, f.Visits, f.Delay = "B"+string(rune('1'+i/2)), 8, delays.Arrival, 800, 1e6
		if i%2 == 1 {
			f.Construct = delays.Crossing
		}
	}
	return e
}

// S4: table 11. Of three barriers one is not waited at, and one is costly.
func TestS4(t *testing.T) {
	t.Parallel()
	e := pairs([]float64{0.16, 0.22, 14.22, 15.22, 6.78, 15.34}, 0.21/math.Sqrt2)
	r := analyze(t, e)
	for i, want := range []struct {
		difference float64
		verdict    string
	}{{0.06, delays.OK}, {1.00, delays.Small}, {8.56, delays.Costly}} {
		b := r.Barriers[i]
		if math.Abs(*b.Difference-want.difference) > 1e-9 || math.Abs(*b.SE-0.21) > 1e-9 || b.Verdict != want.verdict ||
			b.Crossings != 100 {
			t.Errorf("%s: found %v +- %v, %+v, expected %v, %s", b.Name, *b.Difference, *b.SE, b, want.difference,
				want.verdict)
		}
	}
	e.Factors[2].Void = "2 of 8 came"
	if b := analyze(t, e).Barriers[1]; b.Verdict != delays.Void || b.FB1 != nil || b.SE != nil {
		t.Errorf("found %+v, expected a void pair without numbers", b)
	}
}

// Of plans without any effect no more have a significant main effect than the given probability
// says, however runs are distributed: screenings of an experiment as they are planned, with
// replicates, and one of 31 factors in 64 runs without.
func TestNothing(t *testing.T) {
	t.Parallel()
	const level = 0.01
	plans := tracetest.Cases(1000)
	noise := map[string]func(*rand.Rand) float64{
		"normal":    func(r *rand.Rand) float64 { return 10 + r.NormFloat64() },
		"lognormal": func(r *rand.Rand) float64 { return math.Exp(0.3 * r.NormFloat64()) },
	}
	for _, c := range []struct {
		factors, replicates, runs int
	}{{3, 3, 24}, {6, 2, 32}, {31, 1, 64}} {
		var names []string
		e := &delays.Experiment{Version: delays.FileVersion, Unit: "s", Alpha: 0.05}
		p := delays.Plan{Stage: delays.Screening, Base: []float64{10}}
		for i := range c.factors {
			names = append(names, strconv.Itoa(i))
			e.Factors, p.Factors = append(e.Factors, delays.Factor{Name: "F" + strconv.Itoa(i), Visits: 1, Delay: 1}),
				append(p.Factors, i)
		}
		d, err := doe.New(names, doe.Options{Seed: 1, Replicates: c.replicates})
		if err != nil || len(d.Runs) != c.runs {
			t.Fatalf("%d factors: %v, %d runs, expected %d", c.factors, err, len(d.Runs), c.runs)
		}
		for _, r := range d.Runs {
			p.Runs = append(p.Runs, delays.Run{Block: 1, Levels: r.Levels, Made: true})
		}
		e.Plans = []delays.Plan{p}
		for kind, draw := range noise {
			r, found := rand.New(rand.NewPCG(uint64(c.factors), 7)), 0
			for range plans {
				for i := range p.Runs {
					p.Runs[i].Response = draw(r)
				}
				res := analyze(t, e)
				if slices.ContainsFunc(res.Plans[0].Effects, func(x delays.Effect) bool { return x.Significant }) {
					found++
				}
				if x := res.Plans[0].Effects[0]; x.SE <= 0 || x.Low >= x.High {
					t.Fatalf("%d factors: found %+v, expected an error", c.factors, x)
				}
			}
			b := distuv.Binomial{N: float64(plans), P: e.Alpha}
			// Holm's probability is a bound; a correction that finds hardly anything would be
			// another one.
			if found < plans/100 || 1-b.CDF(float64(found-1)) < level {
				t.Errorf("%d factors, %s noise: %d of %d plans without effects have a significant one, expected 1 to %.0f %%", c.factors, kind, found, plans, 100*e.Alpha)
			}
		}
	}
}

// A screening cannot separate interactions of two factors, and lists those that it may be.
func TestAliasedInteractions(t *testing.T) {
	t.Parallel()
	e := &delays.Experiment{Version: delays.FileVersion, Unit: "s", Alpha: 0.05}
	p := delays.Plan{Stage: delays.Screening, Base: []float64{100}, Factors: []int{0, 1, 2, 3}}
	plan, err := doe.New([]string{"0", "1", "2", "3"}, doe.Options{Replicates: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "b", "c", "d"} {
		e.Factors = append(e.Factors, delays.Factor{Name: name, Visits: 1000, Delay: 5000 + float64(i)})
	}
	for i, r := range plan.Runs {
		p.Runs = append(p.Runs, delays.Run{Block: 1, Levels: r.Levels, Made: true,
			Response: 100 + 3*float64(r.Levels[2]*r.Levels[3]) + 0.1*float64(i%5)})
	}
	e.Plans = []delays.Plan{p}
	list := analyze(t, e).Plans[0].Interactions
	if len(list) != 1 || strings.Join(list[0].Names, ":") != "a:b" || len(list[0].Aliases) != 1 ||
		strings.Join(list[0].Aliases[0], ":") != "c:d" {
		t.Errorf("found %+v, expected a:b, or c:d", list)
	}
}
