package toolexec

import (
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		from          Origin
		want          bool
	}{
		{"a/b", "a/b", Main, true},
		{"a/b", "a/b/c", Main, false},
		{"a/...", "a", Main, true},
		{"a/...", "a/b/c", Main, true},
		{"a/...", "ab", Main, false},
		{"a...", "ab", Main, true},
		{"a/.../c", "a/b/c", Main, true},
		{"...", "anything", Dependency, true},
		{"a.b/...", "axb/c", Main, false},
		{"std", "net/http", Std, true},
		{"std", "net/http", Main, false},
		{"all", "net/http", Std, true},
	} {
		if got := match(c.pattern, c.path, c.from); got != c.want {
			t.Errorf("%s matches %s: %v, expected %v", c.pattern, c.path, got, c.want)
		}
	}
}

// Exclusion wins over inclusion, the flags over the file, and no selection reaches what is
// under the runtime.
func TestSelects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags, file string
		path        string
		from        Origin
		want        bool
	}{
		{"", "", "m/p", Main, true},
		{"", "", "d", Dependency, false},
		{"", "", "m/p", Unknown, false},
		{"-include=all", "", "m/p", Unknown, false},
		{"-include=all", "", "runtime", Std, false},
		{"-include=d", "", "d", Dependency, true},
		{"-include=d", "", "m/p", Main, true},
		{"-include=all -exclude=d/...", "", "d/p", Dependency, false},
		{"", "-exclude=m/p", "m/p", Main, false},
		{"-include=m/p", "-exclude=m/...", "m/p", Main, true},
		{"-exclude=d", "-include=d", "d", Dependency, false},
	} {
		sel := parse(t, c.flags)
		if c.file != "" {
			file := parse(t, c.file)
			sel.File = &file
		}
		if got := sel.Selects(c.path, c.from); got != c.want {
			t.Errorf("%q over %q selects %s: %v, expected %v", c.flags, c.file, c.path, got, c.want)
		}
	}
}

func parse(t *testing.T, flags string) Selection {
	t.Helper()
	sel, rest, err := ParseSelection(strings.Fields(flags))
	if err != nil || len(rest) > 0 {
		t.Fatalf("%q: left %q, %v", flags, rest, err)
	}
	return sel
}

func TestParseSelection(t *testing.T) {
	t.Parallel()
	sel, rest, err := ParseSelection(strings.Fields("-include=a,b -exclude c --kinds=proc,loop -size 10 -depth=2 -size=12 run -size=1"))
	if err != nil || !slices.Equal(rest, []string{"run", "-size=1"}) {
		t.Fatalf("left %q, %v", rest, err)
	}
	want := "-include=a -include=b -exclude=c -kinds=proc,loop -size=12 -depth=2"
	if got := strings.Join(sel.Flags(), " "); got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
	again, _, err := ParseSelection(sel.Flags())
	if err != nil || again.key() != sel.key() {
		t.Errorf("from its flags: %s, %v, expected %s", again.key(), err, sel.key())
	}
	for flags, want := range map[string]string{
		"-size=x":        `flag -size: found "x", expected a number`,
		"-depth=-1":      `flag -depth: found "-1", expected a number`,
		"-include":       "flag -include needs a value",
		"-include=./...": `flag -include: found pattern "./...", expected an import path, as in example.com/mod/... or std`,
		"-exclude=/abs":  `flag -exclude: found pattern "/abs", expected an import path, as in example.com/mod/... or std`,
		"-kinds=block":   `flag -kinds: found kind "block", expected some of proc,call,loop,sync`,
	} {
		if _, _, err := ParseSelection(strings.Fields(flags)); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, expected %s", flags, err, want)
		}
	}
}

// The limits that hold are the flags', and the file's where those say nothing.
func TestLimits(t *testing.T) {
	t.Parallel()
	sel, file := parse(t, "-size=5 -kinds=loop"), parse(t, "-size=7 -depth=3 -kinds=proc")
	sel.File = &file
	if l := sel.limits(); l.Size != 5 || l.Depth != 3 || l.Kinds.String() != "loop" {
		t.Errorf("found %+v, expected size 5, depth 3, loops", l)
	}
}

// TestKey checks that selections have one key if packages are compiled alike with them.
func TestKey(t *testing.T) {
	t.Parallel()
	key := func(flags ...string) string {
		s, rest, err := ParseSelection(flags)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%q: %v, %q", flags, err, rest)
		}
		return s.key()
	}
	one := key("-include=std,a.b/...", "-exclude=fmt")
	if same := key("-exclude=fmt", "-include=a.b/...", "-include=std,std", "-prune=x.sddf"); same != one {
		t.Errorf("found %s and %s, expected the same", one, same)
	}
	for _, other := range []string{key("-include=std", "-exclude=fmt"), key("-exclude=std,a.b/...", "-include=fmt"),
		key("-include=std,a.b/...", "-exclude=fmt", "-then=sh x")} {
		if other == one {
			t.Errorf("found %s for two selections", one)
		}
	}
}
