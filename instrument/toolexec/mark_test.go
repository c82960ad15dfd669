package toolexec

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The mark reaches what a selection may change, and the user's flags hold for the packages that
// they held for.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own  []string
		user string
		want string // M is the mark's flag
	}{
		{nil, "-v -gcflags=-N", "-v -gcflags=-N"},
		{[]string{"-then=other x"}, "-v", "-v"},
		{[]string{"-kinds=proc"}, "-v -tags a", "-gcflags=all=M -gcflags=std= -gcflags=none=M -v -tags a"},
		{[]string{"-include=net/...,all,m.org/x"}, "",
			"-gcflags=all=M -gcflags=std= -gcflags=net/...=M -gcflags=std=M -gcflags=m.org/x=M -gcflags=none=M"},
		{[]string{"-size=9"}, "--gcflags=net=-N|-l -gcflags -m -x -gcflags=",
			"-gcflags=all=M -gcflags=std= -gcflags=none=M -gcflags=net=-N|-l|M -gcflags=-m|M -x -gcflags=M"},
	} {
		sel, _, err := ParseSelection(c.own)
		if err != nil {
			t.Fatal(err)
		}
		user := strings.Fields(c.user)
		for i := range user {
			user[i] = strings.ReplaceAll(user[i], "|", " ")
		}
		marked, flags := sel.Marked(user, nil)
		got := strings.NewReplacer(" ", "|").Replace(strings.Join(flags, "\x00"))
		got = strings.NewReplacer("\x00", " ", markFlag+marked.Mark, "M", noPackage, "none").Replace(got)
		if got != c.want {
			t.Errorf("%q with %q: found\n%s, expected\n%s", c.own, c.user, got, c.want)
		}
		again, _, err := ParseSelection(marked.Flags())
		if err != nil || again.Mark != marked.Mark || (marked.Mark != usualMark) != strings.Contains(c.want, "M") {
			t.Errorf("%q: the mark %q is %q behind the flags, %v", c.own, marked.Mark, again.Mark, err)
		}
	}
}

// Other selections have other marks. Those that select the same of a program's packages have the
// same.
func TestMarks(t *testing.T) {
	t.Parallel()
	mark := func(own string, file *Selection) string {
		sel, _, err := ParseSelection(strings.Fields(own))
		if err != nil {
			t.Fatal(err)
		}
		sel.File = file
		sel, _ = sel.Marked(nil, []string{"a.org/x", "b.org/y", "sort"})
		return sel.Mark
	}
	usual := Selection{Include: []string{"gone.org/..."}}
	for _, c := range []struct {
		one, other string
		file       *Selection
		same       bool
	}{
		{"-include=a.org/x,b.org/y", "-include=b.org/y,a.org/x -prune=x.sddf", nil, true},
		{"-include=a.org/...", "-include=a.org/...,c.org/z -exclude=net", nil, true},
		{"-include=c.org/z", "", nil, true},
		{"-kinds=proc", "-kinds=proc", &usual, true},
		{"", "", &usual, true},
		{"-kinds=proc", "-kinds=loop", nil, false},
		{"-include=sort", "", nil, false},
		{"-include=std", "", nil, false},
		{"-exclude=sort", "", nil, false},
		{"-kinds=proc", "-kinds=proc", &Selection{Exclude: []string{"b.org/y"}}, false},
	} {
		if a, b := mark(c.one, nil), mark(c.other, c.file); a == "" || b == "" || (a == b) != c.same {
			t.Errorf("%q and %q over %v have the marks %q and %q, expected the same: %v", c.one, c.other, c.file, a, b,
				c.same)
		}
	}
	if m := mark("-include=c.org/z", &usual); m != usualMark {
		t.Errorf("a selection of nothing more has the mark %q, expected %q", m, usualMark)
	}
}

func TestTakeMark(t *testing.T) {
	t.Parallel()
	c, err := parseCommand([]string{"/compile", "-p", "x", "-N", markFlag + "abc", "-pack", "x.go"})
	if err != nil {
		t.Fatal(err)
	}
	if mark := c.takeMark(); mark != "abc" || !slices.Equal(c.flags, []string{"-p", "x", "-N", "-pack"}) {
		t.Errorf("found the mark %q, and %q is left", mark, c.flags)
	}
}

// A program's build information says what the user asked for.
func TestUnmarked(t *testing.T) {
	t.Parallel()
	edge := strings.Repeat("e", infoEdge)
	for given, want := range map[string]string{
		noPackage + "=" + markFlag + "M":    "",
		markFlag + "M":                      "",
		"-N " + markFlag + "M":              "-N",
		"net=-N -l " + markFlag + "M":       "net=-N -l",
		"-d=ssa/check/on " + markFlag + "M": "-d=ssa/check/on",
	} {
		info := debug.BuildInfo{Path: "p", Settings: []debug.BuildSetting{{Key: "-compiler", Value: "gc"},
			{Key: "-gcflags", Value: given}, {Key: "CGO_ENABLED", Value: "1"}}}
		cfg := filepath.Join(t.TempDir(), "importcfg.link")
		text := "packagefile p=/p.a\nmodinfo " + strconv.Quote(edge+info.String()+edge) + "\n"
		if err := os.WriteFile(cfg, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		args, err := unmarked([]string{"/link", "-o", "x", "-importcfg", cfg, "-s"}, "M")
		if err != nil {
			t.Fatal(err)
		}
		info.Settings[1].Value = want
		if want == "" {
			info.Settings = slices.Delete(info.Settings, 1, 2)
		}
		got, err := os.ReadFile(args[4])
		if expected := "packagefile p=/p.a\nmodinfo " + strconv.Quote(edge+info.String()+edge) + "\n"; err != nil ||
			string(got) != expected {
			t.Errorf("%q: found\n%s, %v, expected\n%s", given, got, err, expected)
		}
	}
}
