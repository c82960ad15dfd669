package doe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"qinst.dev/internal/analysis/doe"
)

// standard is a full plan of two levels in the usual order, in which the first factor changes
// fastest, with its responses; several for each run are replicates.
func standard(factors string, responses ...[]float64) *doe.Data {
	d := &doe.Data{Factors: strings.Fields(factors)}
	for i := range responses[0] {
		levels := make([]int8, len(d.Factors))
		for k := range levels {
			levels[k] = int8(2*(i>>k&1) - 1)
		}
		for _, r := range responses {
			d.Runs = append(d.Runs, doe.Observed{Run: doe.Run{Block: 1, Levels: levels}, Response: r[i]})
		}
	}
	return d
}

func fit(t interface{ Fatal(...any) }, d *doe.Data, by doe.Method) *doe.Fit {
	f, err := d.Fit(by, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func effect(f *doe.Fit, name string) doe.Effect {
	for _, e := range f.Effects {
		if e.Name == name {
			return e
		}
	}
	return doe.Effect{Name: "no " + name, Effect: math.NaN()}
}

func same(x, want, digits float64) bool { return math.Abs(x-want) <= digits }

// xprog is Table 2 of Snelick, JáJá, Kacker and Lyon (1993).
func xprog() *doe.Data {
	return standard("F1 F2 F3", []float64{17.05, 17.08, 23.19, 23.34, 19.62, 19.71, 25.61, 25.71})
}

// TestPublished: effects and errors of published experiments, to the last digit that is published
// (S1, S2, D1 to D4).
func TestPublished(t *testing.T) {
	t.Parallel()
	const exact = 1e-9
	pool2, pool3, pure, lenth := doe.Method{Name: doe.Pool, Order: 2}, doe.Method{Name: doe.Pool, Order: 3},
		doe.Method{Name: doe.Replicates}, doe.Method{Name: doe.Lenth}
	pilot := []float64{60, 72, 54, 68, 52, 83, 45, 80}
	twice := [2][]float64{{59, 74, 50, 69, 50, 81, 46, 79}, {61, 70, 58, 67, 54, 85, 44, 81}}
	for _, c := range []struct {
		name            string
		data            *doe.Data
		by              doe.Method
		mean, se, exact float64
		df              float64
		effects         map[string]float64
	}{
		{"a program (Snelick and others, Table 2)", xprog(), pool2, 21.41375, 0.0555, 5e-5, 4,
			map[string]float64{"F1": 0.0925, "F2": 6.0975, "F3": 2.4975, "F1:F2": 0.0325, "F1:F3": 0.0025,
				"F2:F3": -0.1025, "F1:F2:F3": -0.0275}},
		{"the same, with the interaction of three alone", xprog(), pool3, 21.41375, 0.0275, exact, 1, nil},
		{"the same, by Lenth", xprog(), lenth, 21.41375, 0.04875, exact, 7. / 3, nil},
		{"pilot plant (Box, Hunter and Hunter)", standard("T C K", pilot), lenth, 64.25, 2.25, 1, 7. / 3,
			map[string]float64{"T": 23, "C": -5, "K": 1.5, "T:C": 1.5, "T:K": 10, "C:K": 0, "T:C:K": 0.5}},
		{"the same, each run twice", standard("T C K", twice[0], twice[1]), pure, 64.25, math.Sqrt2, exact, 8,
			map[string]float64{"T": 23, "C": -5, "T:K": 10}},
		{"process development (Box, Hunter and Hunter)",
			standard("1 2 3 4", []float64{71, 61, 90, 82, 68, 61, 87, 80, 61, 50, 89, 83, 59, 51, 85, 78}), pool3,
			72.25, 0.55, 0.005, 5,
			map[string]float64{"1": -8, "2": 24, "3": -2.25, "4": -5.5, "2:4": 4.5}},
		{"eddy currents (NIST)", standard("X1 X2 X3", []float64{1.70, 4.57, 0.55, 3.39, 1.51, 4.59, 0.67, 4.29}), pool3,
			2.65875, 0.1425, exact, 1,
			map[string]float64{"X1": 3.1025, "X2": -0.8675, "X3": 0.2125, "X1:X2": 0.1275, "X1:X3": 0.2475,
				"X2:X3": 0.2975, "X1:X2:X3": 0.1425}},
	} {
		f := fit(t, c.data, c.by)
		if !same(f.Mean, c.mean, exact) || !same(f.SE, c.se, c.exact) || !same(f.DF, c.df, exact) {
			t.Errorf("%s: found mean %v, standard error %v (%s) with %v degrees of freedom; expected %v, %v, %v",
				c.name, f.Mean, f.SE, f.SEMethod, f.DF, c.mean, c.se, c.df)
		}
		for name, want := range c.effects {
			if e := effect(f, name); !same(e.Effect, want, exact) {
				t.Errorf("%s: found %v for %s, expected %v", c.name, e.Effect, name, want)
			}
		}
	}
}

// TestVerdicts: of the paper's program two factors are significant and the third is not, by either
// error.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, by := range []doe.Method{{Name: doe.Pool, Order: 2}, {Name: doe.Lenth}} {
		f := fit(t, xprog(), by)
		if f.Effects[0].Name != "F2" || f.Effects[1].Name != "F3" || !f.Effects[0].Significant ||
			effect(f, "F1").Significant {
			t.Errorf("%s: found %+v", f.SEMethod, f.Effects)
		}
	}
	f := fit(t, xprog(), doe.Method{Name: doe.Lenth})
	if !same(f.ME, 0.18, 0.005) || f.SME <= f.ME {
		t.Errorf("found margins %v and %v, expected 0.18 and more", f.ME, f.SME)
	}
	e := effect(fit(t, xprog(), doe.Method{Name: doe.Pool, Order: 2}), "F1")
	if half := (e.High - e.Low) / 2; !same(half, 0.154, 0.0005) {
		t.Errorf("found an interval of +- %v, expected 0.154", half)
	}
}

// TestLenth: fifteen effects; four stand out. Their sizes are 0, three times 0.25, 0.5,
// three times 0.75, 1, 1.25, 2.25, 4.5, 5.5, 8 and 24. So 2.5 times 1.5 medians are 2.8125, and the
// eleven that are smaller have a median of 0.75.
func TestLenth(t *testing.T) {
	t.Parallel()
	f := fit(t, standard("A B C D", []float64{71, 61, 90, 82, 68, 61, 87, 80, 61, 50, 89, 83, 59, 51, 85, 78}),
		doe.Method{Name: doe.Lenth})
	student := distuv.StudentsT{Sigma: 1, Nu: 5}
	if !same(f.PSE, 1.125, 1e-12) || !same(f.ME, student.Quantile(0.975)*1.125, 1e-9) ||
		!same(f.SME, student.Quantile((1+math.Pow(0.95, 1./15))/2)*1.125, 1e-9) {
		t.Errorf("found %v, %v, %v", f.PSE, f.ME, f.SME)
	}
	wide, err := standard("A B C D", []float64{71, 61, 90, 82, 68, 61, 87, 80, 61, 50, 89, 83, 59, 51, 85, 78}).Fit(
		doe.Method{Name: doe.Lenth}, 0.2)
	if err != nil || !same(wide.ME, student.Quantile(0.9)*1.125, 1e-9) ||
		!same(wide.SME, student.Quantile((1+math.Pow(0.8, 1./15))/2)*1.125, 1e-9) {
		t.Errorf("%v: found the margins %v and %v for alpha 0.2", err, wide.ME, wide.SME)
	}
	found := 0
	for _, e := range f.Effects {
		if e.Significant {
			found++
		}
	}
	if found < 3 || found > 4 {
		t.Errorf("found %d significant effects, expected the ones that stand out", found)
	}
}

// TestFolded: interactions of two factors, of any size, change no main effect of a plan of
// resolution 4 (D5).
func TestFolded(t *testing.T) {
	t.Parallel()
	for _, k := range []int{4, 7, 9, 12, 16, 31} {
		p := plan(t, k, doe.Options{})
		draw := rand.New(rand.NewPCG(uint64(k), 1))
		main, pair := make([]float64, k), make([][]float64, k)
		for i := range main {
			main[i], pair[i] = draw.NormFloat64(), make([]float64, k)
			for j := range i {
				pair[i][j] = 100 * draw.NormFloat64()
			}
		}
		d := &doe.Data{Factors: p.Factors}
		for _, r := range p.Runs {
			y := 10.
			for i, x := range r.Levels {
				y += main[i] * float64(x) / 2
				for j := range i {
					y += pair[i][j] * float64(x*r.Levels[j]) / 2
				}
			}
			d.Runs = append(d.Runs, doe.Observed{Run: r, Response: y})
		}
		f := fit(t, d, doe.Method{Name: doe.Lenth})
		for i, want := range main {
			if e := effect(f, p.Factors[i]); !same(e.Effect, want, 1e-11) {
				t.Errorf("%d factors: found %v for %s, expected %v", k, e.Effect, e.Name, want)
			}
		}
	}
}

// TestNull: of plans without any effect as many as one in twenty have one that is taken for
// significant, whatever the error is from, and with skewed noise too.
func TestNull(t *testing.T) {
	t.Parallel()
	const plans = 1500
	for _, c := range []struct {
		name       string
		replicates int
		noise      func(*rand.Rand) float64
		by         doe.Method
	}{
		{"normal, replicates", 2, (*rand.Rand).NormFloat64, doe.Method{}},
		{"normal, Lenth", 1, (*rand.Rand).NormFloat64, doe.Method{}},
		{"lognormal, Lenth", 1, func(r *rand.Rand) float64 { return math.Exp(0.3 * r.NormFloat64()) }, doe.Method{}},
		{"lognormal, replicates", 2, func(r *rand.Rand) float64 { return math.Exp(0.3 * r.NormFloat64()) },
			doe.Method{}},
	} {
		p := plan(t, 7, doe.Options{Replicates: c.replicates})
		draw := rand.New(rand.NewPCG(11, uint64(c.replicates)))
		found := 0
		for range plans {
			d := &doe.Data{Factors: p.Factors}
			for _, r := range p.Runs {
				d.Runs = append(d.Runs, doe.Observed{Run: r, Response: c.noise(draw)})
			}
			for _, e := range fit(t, d, c.by).Effects {
				if e.Significant {
					found++
					break
				}
			}
		}
		t.Logf("%s: %d of %d plans have a significant effect", c.name, found, plans)
		if p := 1 - (distuv.Binomial{N: plans, P: 0.05}).CDF(float64(found-1)); p < 0.01 {
			t.Errorf("%s: %d of %d plans have a significant effect, expected one in twenty (p = %.3g)", c.name, found,
				plans, p)
		}
	}
}

// TestFound: large effects are found by all errors, with 31 factors in 64 runs.
func TestFound(t *testing.T) {
	t.Parallel()
	p := plan(t, 31, doe.Options{Seed: 3})
	draw := rand.New(rand.NewPCG(3, 3))
	d := &doe.Data{Factors: p.Factors}
	for _, r := range p.Runs {
		d.Runs = append(d.Runs, doe.Observed{Run: r,
			Response: 20 + 3*float64(r.Levels[16]) + 2.5*float64(r.Levels[25]) + 0.1*draw.NormFloat64()})
	}
	f := fit(t, d, doe.Method{})
	if f.SEMethod != doe.Lenth || len(f.Effects) != 63 || f.Effects[0].Name != "F17" || f.Effects[1].Name != "F26" ||
		!f.Effects[1].Significant || f.Effects[2].Significant {
		t.Errorf("found %d effects by %s: %+v", len(f.Effects), f.SEMethod, f.Effects[:3])
	}
	for _, e := range f.Effects {
		if e.Low > e.Effect || e.High < e.Effect || e.PHolm < e.P {
			t.Errorf("found %+v", e)
		}
	}
}

// TestBlocks: what blocks differ by is in no effect and in no error.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, o := range []doe.Options{{Blocks: 2, Replicates: 2, Center: 4},
		{Blocks: 4, Replicates: 2, Kind: doe.Fraction, Runs: 32},
		{Kind: doe.PlackettBurman, Blocks: 2, Replicates: 2}} {
		p := plan(t, 6, o)
		draw := rand.New(rand.NewPCG(1, 1))
		even, apart := &doe.Data{Factors: p.Factors}, &doe.Data{Factors: p.Factors}
		for _, r := range p.Runs {
			y := 5 + 2*float64(r.Levels[1]) + 0.01*draw.NormFloat64()
			even.Runs = append(even.Runs, doe.Observed{Run: r, Response: y})
			apart.Runs = append(apart.Runs, doe.Observed{Run: r, Response: y + 100*float64(r.Block)})
		}
		a, b := fit(t, even, doe.Method{}), fit(t, apart, doe.Method{})
		if !same(a.SE, b.SE, 1e-9) || a.SEMethod != doe.Replicates || !same(a.SE, 0.0025, 0.002) ||
			b.Effects[0].Name != "F2" || !same(b.Effects[0].Effect, 4, 0.02) {
			t.Errorf("%+v: found %v and %v, %+v", o, a.SE, b.SE, b.Effects[0])
		}
		if o.Center > 0 && (b.Curvature == nil || b.Curvature.Significant || !same(b.Curvature.Effect, 0, 0.05)) {
			t.Errorf("found the curvature %+v, expected none", b.Curvature)
		}
	}
}

// TestCurvature: runs halfway whose response is not halfway are reported.
func TestCurvature(t *testing.T) {
	t.Parallel()
	d := standard("a b", []float64{1, 2, 3, 4})
	for _, y := range []float64{4.9, 5.1, 5} {
		d.Runs = append(d.Runs, doe.Observed{Run: doe.Run{Block: 1, Levels: []int8{0, 0}}, Response: y})
	}
	f := fit(t, d, doe.Method{})
	if f.Curvature == nil || !same(f.Curvature.Effect, 2.5, 1e-9) || !f.Curvature.Significant || f.DF != 2 {
		t.Errorf("found %+v with %v degrees of freedom, expected 2.5 with 2", f.Curvature, f.DF)
	}
}

// TestTables: plans are read again as they were written, with or without the columns run and block;
// what is no plan is refused with its line.
func TestTables(t *testing.T) {
	t.Parallel()
	p := plan(t, 5, doe.Options{Blocks: 2, Center: 2})
	var b strings.Builder
	if err := p.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for i := range lines {
		lines[i] += map[bool]string{true: ",seconds", false: fmt.Sprintf(",%d.5", i)}[i == 0]
	}
	d, err := doe.ReadCSV(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil || d.Response != "seconds" || len(d.Runs) != len(p.Runs) {
		t.Fatalf("%v: %+v", err, d)
	}
	for i, r := range d.Runs {
		if fmt.Sprint(r.Run) != fmt.Sprint(p.Runs[i]) || r.Response != float64(i+1)+0.5 {
			t.Errorf("run %d: found %+v, expected %+v", i, r, p.Runs[i])
		}
	}
	for text, want := range map[string]string{
		"":                               "found nothing",
		"a,y\n1,x\n":                     `line 2: found the response "x"`,
		"a,y\n1,NaN\n":                   `line 2: found the response "NaN"`,
		"a,y\nhigh,1\n":                  `line 2: found "high" for a, expected -1, 0 or 1`,
		"a,y\n2,1\n":                     `line 2: found "2" for a`,
		"a,b,y\n1,1\n":                   "line 2: found 2 cells, expected 3",
		"a,b,y\n1,,3\n":                  `line 2: found "" for b`,
		"y\n1\n":                         "found no factor, expected one or more before the last column",
		"block,a,y\nx,1,3\n":             `found the block "x"`,
		"a,y\n1,1\n1,2\n":                "fewer than two combinations",
		"a,b,y\n1,1,1\n-1,-1,2\n":        "the levels of a and b go together (2 of 2)",
		"a,b,y\n1,1,1\n-1,1,2\n":         "b has the same level in all runs",
		"a,b,y\n1,1,1\n-1,1,2\n1,-1,3\n": "a is at 1 in 2 combinations of levels and at -1 in 1",
		"a,b,y\n1,1,1\n-1,-1,2\n0,1,3\n": "some factors halfway",
		"a,a,y\n1,1,1\n":                 "twice",
	} {
		d, err := doe.ReadCSV(strings.NewReader(text))
		if err == nil {
			_, err = d.Fit(doe.Method{}, 0.05)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, expected %q", text, err, want)
		}
	}
	for by, want := range map[doe.Method]string{{Name: doe.Replicates}: "found no replicates",
		{Name: doe.Pool, Order: 4}: "no interactions of 4"} {
		if _, err := xprog().Fit(by, 0.05); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", by, err)
		}
	}
}

// FuzzCSV: any table is read or refused, and one that is read is fitted or refused.
func FuzzCSV(f *testing.F) {
	f.Add("run,block,a,b,y\n1,1,1,1,1\n2,1,-1,1,2\n3,1,1,-1,3\n4,1,-1,-1,4\n")
	f.Add("a,y\n0,1\n0,2\n1,3\n-1,4\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := doe.ReadCSV(strings.NewReader(text))
		if err == nil && len(d.Runs) < 1000 && len(d.Factors) < 20 {
			_, _ = d.Fit(doe.Method{}, 0.05)
		}
	})
}
