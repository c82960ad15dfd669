package why

import "testing"

// What to do is in the texts of conclusions, before the first colon or after it.
func TestAsked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"keep more entries, or use coarser keys: main.(*cache).get (main.go:85) misses 9,688 lookups":       "keep more entries, or use coarser keys",
		"divide the work of main.run: range n among goroutines, or do it beside other work: it kept one":    "divide the work of main.run: range n among goroutines, or do it beside other work",
		"main.(*books).print (loans.go:25) waits for timers one after another, for 31.8ms: wait less. More": "wait less",
		"main.f: for at main.go:3 waits for a timer for 3ms: do other work meanwhile":                       "do other work meanwhile",
		"main.f waits for main.mu until main.g unlocks it: a second of the run":                             "",
		"the run is serial: for 3s of it no second goroutine had work":                                      "",
		"9.3% of the self time of main.f is time: more":                                                     "",
		"The run keeps the pace of a clock: main.tick waits":                                                "",
		"let it end": "",
		"":           "",
	} {
		if got := asked(text); got != want {
			t.Errorf("%q: found %q, expected %q", text, got, want)
		}
	}
	f := Finding{Place: Place{"main.(*cache).get", "a/main.go", 85}, Change: "let main.(*cache).get do less",
		Text: "keep more entries, or use coarser keys: it misses"}
	if got, want := f.ask(), "Keep more entries, or use coarser keys (main.(*cache).get, main.go:85)"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	f.Text = "let main.(*cache).get (main.go:85) stop: it goes on"
	if got, want := f.ask(), "Let main.(*cache).get (main.go:85) stop"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	f.Text = ""
	if got, want := f.ask(), "Let main.(*cache).get do less at main.go:85"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}
