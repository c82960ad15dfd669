package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestTests: packages stand on one axis; what runs alone at the end is said, and tests that run one
// after another.
func TestTests(t *testing.T) {
	const ms = 1_000_000
	a := Tested{Package: "m/a", From: 1000 * ms, To: 1400 * ms, Busy: 380 * ms, Tests: []Test{
		{"m/a.TestLong", 1000 * ms, 1300 * ms}, {"m/a.TestShort", 1300 * ms, 1400 * ms}}}
	b := Tested{Package: "m/b", From: 1300 * ms, To: 2000 * ms, Busy: 1300 * ms, Tests: []Test{
		{"m/b.TestOne", 1300 * ms, 2000 * ms}, {"m/b.TestTwo", 1310 * ms, 1990 * ms}}}
	var out bytes.Buffer
	if err := Tests([]Tested{b, a}).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	s := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"2 packages of tests took 1.00s.",
		"m/b runs alone at the end, for 600ms (60.0%). It began 300ms after the first one: name it first",
		"The tests of m/a run one after another for 400ms: t.Parallel lets them run together. The longest ones are TestLong (300ms), TestShort (100ms).",
		"m/a 0ns 400ms 0.95 2 TestLong 300ms ################ m/b 300ms 700ms 1.86 2 TestOne 700ms ############################"} {
		if !strings.Contains(s, want) {
			t.Errorf("found no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(s, "No test ran") {
		t.Errorf("there are no gaps:\n%s", out.String())
	}
	out.Reset()
	b.From, b.To = 1600*ms, 2300*ms
	if err := Tests([]Tested{a, b}).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(s, "No test ran for 200ms (15.4%) between them") {
		t.Errorf("found no gap of 200 ms in\n%s", out.String())
	}
	if strings.Contains(s, "The tests of m/b run one after another") {
		t.Errorf("tests that run together are said not to:\n%s", out.String())
	}
}
