package experiment_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/why"
	"qinst.dev/internal/report/experiment"
)

// pairs is an experiment with two parts, whose delays take 1 s each: those of main.a make a run 0.6
// s longer, those of main.b do nothing, and runs have noise of 0.01 s. The critical path predicted
// 0.6 and 0.9.
func pairs(t *testing.T) *delays.Experiment {
	t.Helper()
	weights := []float64{0.6, 0.9}
	x := &delays.Experiment{Version: delays.FileVersion, Program: "prog", Hash: "00ff", Args: []string{"-n", "1"},
		Unit: "s", Seed: 7, Alpha: 0.05, Factors: []delays.Factor{
			{ID: "1", Name: "main.a", Construct: "procedure", Visits: 1000, Delay: 1e6, Weight: &weights[0]},
			{ID: "2", Name: "main.b", Construct: "procedure", Visits: 1000, Delay: 1e6, Weight: &weights[1]}}}
	plan, err := doe.New([]string{"a", "b"}, doe.Options{Kind: doe.Full, Replicates: 4, Resolution: 5, Blocks: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := delays.Plan{Stage: delays.Screening, Design: "full", Resolution: 3, Base: []float64{10}, Factors: []int{0, 1}}
	seen := map[[2]int8]int{}
	for _, r := range plan.Runs {
		key := [2]int8(r.Levels)
		noise := []float64{0.01, -0.01, 0.01, -0.01}[seen[key]]
		seen[key]++
		p.Runs = append(p.Runs, delays.Run{Block: 1, Levels: r.Levels, Made: true,
			Response: 10.5 + 0.3*float64(r.Levels[0]) + noise})
	}
	x.Plans = []delays.Plan{p}
	return x
}

func read(t *testing.T, x any) *experiment.Experiment {
	t.Helper()
	text, ok := x.(string)
	if !ok {
		kept, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		text = string(kept)
	}
	if !experiment.Begins([]byte(text[:min(len(text), 512)])) {
		t.Errorf("%.40q is taken for something else", text)
	}
	y, err := experiment.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Effects of delays have the predictions of the critical path, and a verdict that compares the two.
func TestDelays(t *testing.T) {
	t.Parallel()
	x := read(t, pairs(t))
	if x.Program != "prog" || x.Hash != "00ff" || *x.Seed != 7 || !strings.Contains(x.Said[0].Text, "main.a") {
		t.Errorf("found %+v", x)
	}
	p := x.Plans[0]
	if f := p.Factors[0]; f.Name != "main.a" || f.Low != "no delay" || f.High != "1.00ms at each of 1,000 visits" {
		t.Errorf("found the factor %+v", f)
	}
	want := map[string]struct {
		measured, predicted float64
		verdict             string
	}{"main.a": {0.6, 0.6, "significant, as predicted"}, "main.b": {0, 0.9, "no more than noise, not as predicted"}}
	for _, part := range p.Parts {
		w := want[part.Names[0]]
		m := part.Measured
		if !near(m.Value, w.measured) || !near(part.Predicted.Value, w.predicted) || part.Verdict != w.verdict ||
			*m.Low > m.Value || *m.High < m.Value || *m.SE <= 0 {
			t.Errorf("found %+v, measured %+v, predicted %+v, expected %+v", part, m, part.Predicted, w)
		}
	}
	if len(p.Parts) != 2 || len(p.Runs) != 16 || p.Deviation < 0.009 || p.Deviation > 0.012 {
		t.Errorf("found %d parts, %d runs, a deviation of %v", len(p.Parts), len(p.Runs), p.Deviation)
	}
	for i, r := range p.Runs {
		if !near(math.Abs(*r.Residual), 0.01) {
			t.Errorf("run %d: found %v left, expected 0.01", i+1, *r.Residual)
		}
	}
}

// An experiment that was interrupted has the runs that were made.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	x := pairs(t)
	for i := 5; i < 16; i++ {
		x.Plans[0].Runs[i] = delays.Run{Block: 1, Levels: x.Plans[0].Runs[i].Levels}
	}
	y := read(t, x)
	if p := y.Plans[0]; len(p.Runs) != 5 || len(p.Parts) != 0 || p.Runs[0].Residual != nil {
		t.Errorf("found %+v", p)
	}
	if len(y.Said) == 0 || !strings.Contains(y.Said[0].Text, "11 of 16 runs") {
		t.Errorf("found %+v", y.Said)
	}
}

// Of a barrier at which too few arrived nothing was measured.
func TestBarriers(t *testing.T) {
	t.Parallel()
	x := pairs(t)
	x.Factors[0].Construct, x.Factors[0].Participants, x.Factors[1].Construct = delays.Arrival, 2, delays.Crossing
	x.Plans[0].Stage = delays.Pairs
	part := read(t, x).Plans[0].Parts[0]
	if part.Verdict != delays.OK || !near(part.Measured.Value, -0.6) || part.Predicted != nil {
		t.Errorf("found %+v %+v", part, part.Measured)
	}
	x.Factors[0].Void = "too few"
	if part = read(t, x).Plans[0].Parts[0]; part.Verdict != delays.Void || part.Measured != nil {
		t.Errorf("found %+v", part)
	}
}

// table is a plan whose runs were made by hand: a has an effect of 4, and one of 2 together with b.
const table = "run,block,a,b,took\n1,1,-1,-1,10\n2,1,1,-1,12\n3,1,-1,1,8\n4,1,1,1,14\n5,1,-1,-1,10.1\n6,1,1,-1,11.9\n7,1,-1,1,8.1\n8,1,1,1,13.9\n"

// A table's effects are those of qinst doe fit; its levels are as they are there.
func TestTable(t *testing.T) {
	t.Parallel()
	x := read(t, "\uFEFF"+table)
	p := x.Plans[0]
	if x.By != "qinst doe" || x.Response != "took" || x.Seed != nil || len(p.Runs) != 8 || p.Runs[1].Levels != "+-" {
		t.Errorf("found %+v", x)
	}
	if e := p.Parts[0]; e.Names[0] != "a" || !near(e.Measured.Value, 3.9) || !e.Found || e.Predicted != nil {
		t.Errorf("found %+v %+v", e, e.Measured)
	}
	if e := p.Parts[1]; strings.Join(e.Names, " ") != "a b" || !near(e.Measured.Value, 2) || e.Note == "" {
		t.Errorf("found %+v %+v", e, e.Measured)
	}
}

// The form itself is read as it was written.
func TestOwn(t *testing.T) {
	t.Parallel()
	x := read(t, pairs(t))
	was, _ := json.Marshal(x)
	if is, _ := json.Marshal(read(t, x)); string(is) != string(was) {
		t.Errorf("found\n%s\nexpected\n%s", is, was)
	}
}

// A message about another file names its content, the expected one, and the command to run.
func TestOthers(t *testing.T) {
	t.Parallel()
	own := func(text string) string {
		return `{"version":1,"kind":"experiment","plans":[` + text + `]}`
	}
	for text, want := range map[string]string{
		`{"a":1,"b":2}`: `found JSON with the keys a, b, expected results of an experiment: PROGRAM.spt.json`,
		`{"a":`:         "found JSON that cannot be read",
		`[1]`:           "found JSON that cannot be read",
		`{"version":1,"design":"full","plans":[],"classes":[]}`:              "expected the file that it keeps them in",
		`{"version":1,"effects":[],"se_method":"lenth"}`:                     "expected the table that it read",
		`{"version":1,"design":"full","resolution":4,"runs":[]}`:             "a plan without responses",
		`{"version":2,"kind":"experiment","plans":[]}`:                       `found kind "experiment", version 2`,
		`{"version":1,"kind":"other","plans":[]}`:                            `found kind "other"`,
		`{"version":9,"asked":{},"factors":[],"plans":[]}`:                   "version 9, expected 1",
		own(`{"factors":[{"name":"a"}],"runs":[{"levels":"+-"}]}`):           `levels "+-" of run 1`,
		own(`{"factors":[{"name":"a"}],"runs":[{"levels":"x"}]}`):            `levels "x" of run 1`,
		own(`{"parts":[{"verdict":"x"}]}`):                                   "found no name of part 1",
		"hello\nworld":                                                       `found text that begins with "hello", expected results`,
		"run,a,b\n1,-1,x\n":                                                  `found the response "x", expected a number; expected results`,
		`{"version":1,"alpha":7,"asked":{},"factors":[],"plans":[]}`:         "a probability of 7",
		strings.Replace(table, "14", "1", 1) + "9,1,1,1,3\n9,1,5,1,3\n":      `found "5" for a`,
		`{"version":1,"kind":"experiment","plans":[],"seed":"no number at"}`: "cannot be read",
	} {
		_, err := experiment.Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: found %v, expected %s", text, err, want)
		}
	}
	trace, err := os.ReadFile("../../../testdata/kept/locks.sddf")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]byte{nil, trace[:512], {0, 0, 0}, {0x28, 0xb5, 0x2f, 0xfd}} {
		if experiment.Begins(other) {
			t.Errorf("%.20q is taken for an experiment", other)
		}
	}
	if text := []byte("éé"); !experiment.Begins(text[:3]) {
		t.Error("a text that is cut in a letter is not taken for one")
	}
}

// However long an experiment is, there is room for it: runs are thinned out, all other lists cut.
func TestWithin(t *testing.T) {
	t.Parallel()
	x := read(t, pairs(t))
	name := strings.Repeat("é", 5000)
	p := &x.Plans[0]
	one := p.Runs[0]
	for range 100_000 {
		p.Runs = append(p.Runs, one)
	}
	for range 5000 {
		p.Factors = append(p.Factors, experiment.Factor{Name: name, Low: name, High: name})
		p.Parts = append(p.Parts, experiment.Part{Names: []string{name, name}, Verdict: name, Note: name,
			Measured: experiment.About(1, 1, 0, 2)})
		x.Args = append(x.Args, name)
	}
	runs := len(p.Runs)
	for range 20 {
		x.Plans = append(x.Plans, *p)
	}
	for _, room := range []int{500_000, 50_000} {
		y := x.Within(room)
		text, err := json.Marshal(y)
		if err != nil || len(text) > room {
			t.Fatalf("found %d bytes (%v), expected %d", len(text), err, room)
		}
		q := y.Plans[0]
		if len(q.Runs) < 10 || q.Every*(len(q.Runs)-1) >= runs || q.Every*len(q.Runs) < runs || len(q.Parts) == 0 ||
			q.More != 5002-len(q.Parts) || len(q.Runs[0].Levels) > len(q.Factors) {
			t.Errorf("found %d runs, one of %d of %d; %d parts and %d more", len(q.Runs), q.Every, runs, len(q.Parts), q.More)
		}
	}
	if y := read(t, pairs(t)).Within(500_000); y.Plans[0].Every != 0 || len(y.Plans[0].Runs) != 16 {
		t.Errorf("a small one is cut: %+v", y.Plans[0])
	}
}

// A study has gains as predictions, and effects of delays next to those of the computed runs.
func TestStudy(t *testing.T) {
	t.Parallel()
	x := pairs(t)
	for i := range x.Factors {
		x.Factors[i].Rule = x.Factors[i].Name
	}
	s := &why.Study{Version: why.FileVersion, Kind: why.FileKind, By: 20, Runs: []why.Run{{T: 1e10}},
		Program: why.Program{Name: "prog"}}
	for i, f := range x.Factors {
		c := why.Candidate{Kind: why.Part, Factor: f.Name, Subject: advice.Subject{Name: f.Name},
			Gains: []predict.Change{{GainPct: float64(10 - 5*i), LoPct: 6, HiPct: 12}},
			Curve: []why.Share{{By: 20, Gain: 10}, {By: 100, Gain: 25}}}
		s.Found = append(s.Found, c)
	}
	s.Tested.Experiment = x
	var model []float64
	for _, r := range x.Plans[0].Runs {
		model = append(model, 1+0.6*float64(r.Levels[0]+1)/2+0.9*float64(r.Levels[1]+1)/2)
	}
	s.Tested.Model = [][]float64{model}
	y := read(t, s)
	if len(y.Plans) != 2 || y.By != why.FileKind || y.Program != "prog" {
		t.Fatalf("found %d plans by %s of %s, expected gains and the experiment", len(y.Plans), y.By, y.Program)
	}
	gain := y.Plans[0].Parts[0]
	if p := gain.Predicted; gain.Names[0] != "let main.a do 20 % less" || !near(p.Value, 1) || !near(*p.Low, 0.6) ||
		gain.Verdict != string(why.Confirmed) {
		t.Errorf("found %+v, predicted %+v, expected 1 s for main.a, confirmed", gain, p)
	}
	if c := gain.Curve; len(c) != 2 || c[1].At != 100 || !near(c[0].Value, 1) || !near(c[1].Value, 2.5) {
		t.Errorf("found the curve %+v, expected 1 s for 20 %%, and 2.5 s for 100 %%", c)
	}
	for _, part := range y.Plans[1].Parts {
		want := map[string]verdicted{"main.a": {0.6, why.Confirmed}, "main.b": {0.9, why.Less}}[part.Names[0]]
		if !near(part.Predicted.Value, want.value) || part.Verdict != string(want.verdict) {
			t.Errorf("found %+v, predicted %+v, expected %+v", part, part.Predicted, want)
		}
	}
}

// verdicted is an expected value with its verdict.
type verdicted struct {
	value   float64
	verdict why.Verdict
}
