package lab

import (
	"slices"
	"strings"
	"testing"
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
	p := &progress{w: &screen, terminal: true}
	p.step("run %d", 1)
	p.step("run %d", 2)
	w := p.before(&screen)
	for _, line := range []string{"oh\n", "no\n"} {
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	p.step("run %d", 3)
	p.clear()
	p.clear()
	const clear = "\r\x1b[K"
	if got, want := screen.String(), "qinst: run 1"+clear+"qinst: run 2"+clear+"oh\nno\nqinst: run 3"+
		clear; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if p.before(nil) != nil {
		t.Error("a program without an output has one")
	}
}
