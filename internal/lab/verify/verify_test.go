package verify

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// quiet and busy are machines.
var quiet, busy = Machine{Processors: 2}, Machine{Processors: 2, Waited: 20}

// An error beyond its bound is found, one within it is not, and neither is decided if the noise of
// the runs or the load of the machine hides it.
func TestFigure(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 80))
	for _, c := range []struct {
		name        string
		found, true float64
		noise       float64 // a standard deviation of both, as a share
		f           figure
		m           Machine
		want        Verdict
		busy        bool
		why         string
	}{
		{"right", 1e9, 1e9, 0.002, time2, quiet, Holds, false, ""},
		{"30 % too long", 1.3e9, 1e9, 0.01, time2, quiet, Exceeds, false, "it is off by +"},
		{"30 % too short", 0.7e9, 1e9, 0.01, time2, quiet, Exceeds, false, "it is off by -"},
		{"near the bound", 1.02e9, 1e9, 0.02, time2, quiet, Undecided, false, "has an end of the bound"},
		{"30 % too long, busy", 1.3e9, 1e9, 0.01, time2, busy, Undecided, true, "waited for a processor for 20 %"},
		{"30 % too long, noisy", 1.3e9, 1e9, 0.01, noisy, quiet, Undecided, true, "differ by up to 7.0 %"},
		{"right, busy", 1e9, 1e9, 0.002, time2, busy, Holds, false, ""},
		{"known reason", 130, 100, 0, known2, quiet, Exceeds, false, "expected +- 2 %: that is known"},
		{"share", 20, 20, 0.01, share1, quiet, Holds, false, ""},
		{"share, 30 % off", 26, 20, 0, share1, quiet, Exceeds, false, "expected +- 1 points"},
		{"share, not known", math.NaN(), 20, 0, share1, quiet, Undecided, false, "does not know it"},
		{"costs less than nothing", 80, 100, 0, cost5, quiet, Holds, false, ""},
		{"above the budget", 110, 100, 0, cost5, quiet, Exceeds, false, "expected at most 5 %"},
		{"hits, busy", 1000, 1000, 0, exact, busy, Holds, false, ""},
		{"lost hit, busy", 999, 1000, 0, exact, busy, Exceeds, false, "it is off by -1 (-1 to -1), expected none"},
	} {
		for range 10 {
			c.f.found = append(c.f.found, c.found*(1+c.noise*random.NormFloat64()))
			c.f.expected = append(c.f.expected, c.true*(1+c.noise*random.NormFloat64()))
		}
		row := c.f.row(&c.m)
		if row.Verdict != c.want || row.Busy != c.busy || !strings.Contains(row.Why, c.why) ||
			(row.Why == "") != (c.want == Holds) {
			t.Errorf("%s: found %s, busy %t, %q; expected %s, %t and %q", c.name, row.Verdict, row.Busy, row.Why, c.want,
				c.busy, c.why)
		}
	}
}

// Figures of these kinds.
var (
	time2  = figure{unit: percent, most: 2}
	noisy  = figure{unit: percent, most: 2, equal: 7}
	known2 = figure{unit: percent, most: 2, limit: "that is known"}
	share1 = figure{unit: points, most: 1}
	cost5  = figure{unit: percent, most: 5, below: true}
	exact  = figure{unit: hits}
)

// One hit that is lost in one run is found. Without any run nothing is decided.
func TestHits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found, expected []float64
		want            Verdict
	}{
		{[]float64{10, 10, 10}, []float64{10, 10, 10}, Holds},
		{[]float64{10, 9, 10}, []float64{10, 10, 10}, Exceeds},
		{[]float64{10, 10}, []float64{10, 10, 10}, Undecided},
		{nil, nil, Undecided},
	} {
		f := figure{unit: hits, found: c.found, expected: c.expected}
		if row := f.row(&quiet); row.Verdict != c.want {
			t.Errorf("%v of %v: found %s, expected %s", c.found, c.expected, row.Verdict, c.want)
		}
	}
}

// The status is that of the worst row.
func TestStatus(t *testing.T) {
	t.Parallel()
	holds, exceeds := Row{Verdict: Holds}, Row{Verdict: Exceeds}
	open, loaded := Row{Verdict: Undecided}, Row{Verdict: Undecided, Busy: true}
	for _, c := range []struct {
		rows []Row
		want int
		says string
	}{
		{[]Row{holds, holds}, AllHold, "2 of 2 bounds hold on this machine."},
		{[]Row{holds, loaded, open, exceeds}, Broken, "1 of 4 bounds hold on this machine; 1 exceeded; 2 not decided."},
		{[]Row{loaded, open, holds}, Open, "1 of 3 bounds hold on this machine; 2 not decided."},
		{[]Row{holds, loaded}, Busy, "1 of 2 bounds hold on this machine; 1 not decided."},
	} {
		r := Result{Rows: c.rows}
		if got := r.Status(); got != c.want || r.verdict() != c.says {
			t.Errorf("%v: found %d, %q; expected %d, %q", c.rows, got, r.verdict(), c.want, c.says)
		}
	}
}

// Figures that no run gave have no error, and can be written.
func TestNoRun(t *testing.T) {
	t.Parallel()
	v := &verification{got: map[string][]float64{npt: {math.NaN(), math.Inf(1)}}, perMicrosecond: 500}
	r := &Result{Version: 1, Pairs: 12}
	for _, f := range v.figures() {
		r.Rows = append(r.Rows, f.row(&quiet))
	}
	var text, object bytes.Buffer
	if err := r.Doc().WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJSON(&object); err != nil || !json.Valid(object.Bytes()) {
		t.Fatal(err, object.String())
	}
	if got := strings.Count(text.String(), string(Undecided)); got != len(r.Rows)+1 || r.Status() != Open {
		t.Errorf("found %d rows that are not decided and status %d, expected %d and %d:\n%s", got, r.Status(),
			len(r.Rows), Open, &text)
	}
}
