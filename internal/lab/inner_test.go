package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The go command wants its -C first, and takes the last of several -o.
func TestCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    Variant
		want []string
	}{
		{Variant{Args: []string{"."}}, []string{"build", "."}},
		{Variant{Dir: "d", Flags: []string{"-race"}, Args: []string{"./p"}},
			[]string{"build", "-C", "d", "-race", "./p"}},
		{Variant{Dir: "d", Wrapper: []string{"/bin/qinst", "-size=3"}, Flags: []string{"-v"},
			Args: []string{"a.go", "b.go"}},
			[]string{"build", "-C", "d", "-toolexec", "/bin/qinst -size=3", "-v", "a.go", "b.go"}},
		{Variant{Wrapper: []string{"/my tools/qinst", "-include=a"}},
			[]string{"build", "-toolexec", `"/my tools/qinst" -include=a`}},
		{Variant{Wrapper: []string{`/the "best"/qinst`}}, []string{"build", "-toolexec", `'/the "best"/qinst'`}},
	} {
		if got := c.v.command("build"); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, expected %q", c.v, got, c.want)
		}
	}
}

// On a terminal a line takes the place of the one before, what programs write stands on lines of
// its own, and nothing is left in the end.
func TestTerminal(t *testing.T) {
	t.Parallel()
	var screen strings.Builder
	run := func(n int) func() string { return func() string { return fmt.Sprintf("run %d", n) } }
	p := &Progress{w: &screen, terminal: true}
	p.step(run(1))
	p.step(run(2))
	w := p.Before(&screen)
	for _, line := range []string{"oh\n", "no\n"} {
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	p.step(run(3))
	p.Clear()
	p.Clear()
	const clear = "\r\x1b[K"
	if got, want := screen.String(), "qinst: run 1"+clear+"qinst: run 2"+clear+"oh\nno\nqinst: run 3"+
		clear; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	screen.Reset()
	p.step(run(4))
	_, _ = w.Write([]byte("half"))
	p.step(run(5)) // would erase it
	_, _ = w.Write([]byte(" a line\n"))
	p.step(run(6))
	if got, want := screen.String(), "qinst: run 4"+clear+"half a line\nqinst: run 6"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if p.Before(nil) != nil {
		t.Error("a program without an output has one")
	}
}

// How long work takes yet follows from the part that is done, once there is one.
func TestLeft(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-10 * time.Second)
	for _, c := range []struct {
		done float64
		want string
	}{{0, ""}, {1, ", 30s left"}, {2, ", 10s left"}, {4, ", 1s left"}} {
		if got := Left(Ends(began, c.done, 4)); got != c.want {
			t.Errorf("after %v of 4: found %q, expected %q", c.done, got, c.want)
		}
	}
	if got := Left(Ends(time.Now(), 1, 4)); got != "" {
		t.Errorf("at once: found %q, expected nothing", got)
	}
}

// Of runs that are expected, progress has how long the others take; of more than that it has not.
func TestExpected(t *testing.T) {
	t.Parallel()
	x := expected{since: time.Now().Add(-time.Minute), made: 3, whole: 5}
	if left := time.Until(x.next(true)); left < 39*time.Second || left > 41*time.Second {
		t.Errorf("found %v, expected 40 s: three of five runs took a minute", left)
	}
	x.next(true)
	if end := x.next(true); !end.IsZero() || x.made != 6 {
		t.Errorf("found %v, expected that the end of more runs is not known", end)
	}
}
