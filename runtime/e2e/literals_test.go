package e2e_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"qinst.dev/runtime/e2e"
)

// TestLiterals: a program with probes gives functions the names that it gives them without, with
// all points off and with all on, however it is compiled and linked. The linker's table has
// the same names, too. How a plain program is linked does not matter for its names.
func TestLiterals(t *testing.T) {
	t.Parallel()
	e2e.Build(t, "programs", "literals")
	for _, flags := range []struct{ compile, link string }{{}, {compile: "-gcflags=-l"}, {compile: "-gcflags=-N"},
		{compile: "-race"}, {link: "-buildmode=pie"}, {link: "-ldflags=-s"}, {link: "-ldflags=-linkmode=external"}} {
		all := strings.Fields(flags.compile + " " + flags.link)
		t.Run(strings.Join(all, " "), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && len(all) > 0 {
				t.Skip("with -short only the default build is compared: each of the others takes a build of the runtime")
			}
			plain := buildBy(t, "go", "literals", strings.Fields(flags.compile)...)
			probed := buildBy(t, "qinst", "literals", all...)
			want := literals(t, plain, "")
			for _, settings := range []string{"mode=off", "mode=trace,budget=off", "mode=count"} {
				if got := literals(t, probed, settings); got != want {
					t.Errorf("%s: %s", settings, unequal(got, want))
				}
			}
			if flags.link != "-ldflags=-s" {
				if got, want := parts(t, probed), parts(t, plain); !slices.Equal(got, want) {
					t.Errorf("found the names\n%v\nexpected\n%v", got, want)
				}
			}
		})
	}
}

var place = regexp.MustCompile(`(?m)^(\[.*|.*qinst.*|goroutine .*|\t.*|exit status .*)\n`)

// literals runs the program, which ends with a run-time error in a literal.
func literals(t *testing.T, exe, settings string) string {
	t.Helper()
	cmd := exec.Command(exe, "crash")
	cmd.Env = append(cmd.Environ(), "QINST=out="+filepath.Join(t.TempDir(), "trace.sddf")+","+settings)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Fatalf("%s: %v\n%s", settings, err, out)
	}
	text, crash, _ := strings.Cut(string(out), "panic: ")
	return text + place.ReplaceAllString(arguments.ReplaceAllString(crash, "$1"), "")
}

// arguments are the part of a call in a traceback that follows the function's name.
var arguments = regexp.MustCompile(`(?m)^(main\..*)\(.*\)$`)

var madeOf = regexp.MustCompile(` [Tt] (main\..*(?:\.(?:func|gowrap)?|-range)[0-9]+)$`)

// parts returns the names of functions that the compiler made of parts of others. The linker of the
// C compiler makes them local.
func parts(t *testing.T, exe string) (list []string) {
	t.Helper()
	out, err := exec.Command("go", "tool", "nm", exe).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if m := madeOf.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			list = append(list, m[1])
		}
	}
	if len(list) == 0 {
		t.Errorf("%s has no such names", exe)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// unequal returns where two texts differ first.
func unequal(got, want string) string {
	lines := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(lines) || lines[i] != line {
			return "found\n" + strings.Join(strings.Split(got,
				"\n")[max(0, i-5):min(len(strings.Split(got, "\n")), i+5)], "\n") + "\nexpected\n" +
				strings.Join(lines[max(0, i-5):min(len(lines), i+5)], "\n")
		}
	}
	return "something is missing at the end"
}
