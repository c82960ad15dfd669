package toolexec

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The answer to -V=full keys the build cache: it must change with the tool, with the
// selection and with the compiler, and with nothing else.
func TestToolID(t *testing.T) {
	t.Parallel()
	const line = "compile version go1.26.1\n"
	sel, file := parse(t, "-include=a"), parse(t, "-exclude=b")
	over := sel
	over.File = &file
	id := toolID(line, []byte("tool"), sel)
	if !regexp.MustCompile(`^compile version go1\.26\.1 \+qinst buildID=_/_/_/[-_0-9A-Za-z]{20}\n$`).MatchString(id) {
		t.Errorf("found %q", id)
	}
	if again := toolID("compile version go1.26.1", []byte("tool"), parse(t, "--include a")); again != id {
		t.Errorf("the same selection, spelled otherwise: %q, expected %q", again, id)
	}
	settings := sel
	settings.File = &Selection{Settings: "budget=2%"}
	if again := toolID(line, []byte("tool"), settings); again != id {
		t.Errorf("with settings, which are for the linker: %q, expected %q", again, id)
	}
	seen := map[string]string{id: "the first"}
	for name, other := range map[string]string{
		"another compiler":  toolID("compile version go1.26.2\n", []byte("tool"), sel),
		"another tool":      toolID(line, []byte("tool2"), sel),
		"another selection": toolID(line, []byte("tool"), parse(t, "-exclude=a")),
		"with a file":       toolID(line, []byte("tool"), over),
		"the file alone":    toolID(line, []byte("tool"), file),
	} {
		if as := seen[other]; as != "" {
			t.Errorf("%s: the same answer as %s", name, as)
		}
		seen[other] = name
	}
}

func TestOwnID(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "tool")
		if err := os.WriteFile(name, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const built = "ELF\xff Go build ID: \"a/b/c/d\"\n \xffrest"
	if id, err := ownID(write(built)); err != nil || string(id) != "a/b/c/d" {
		t.Errorf("found %q, %v, expected the build ID", id, err)
	}
	for _, text := range []string{"no ID", "\xff Go build ID: \"a/b\"\n \xff", "\xff Go build ID: \"a/b/c/d"} {
		one, err := ownID(write(text))
		other, err2 := ownID(write(text + "."))
		if err != nil || err2 != nil || len(one) != 32 || string(one) == string(other) {
			t.Errorf("%q: IDs %x and %x, %v, %v, expected different hashes", text, one, other, err, err2)
		}
	}
	if _, err := ownID(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a file that is not there has an ID")
	}
}

// TestReadable checks that a compiler of a later line of releases is refused, and no other.
func TestReadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, own string
		ok        bool
	}{
		{"compile version go1.26.8", "go1.26.1", true},
		{"compile version go1.25.3 X:nocoverageredesign", "go1.26.1", true},
		{"compile version go1.27.4", "go1.26.8", false},
		{"compile version go1.27rc1", "go1.26.8", false},
		{"compile version devel go1.28-abcdef buildID=x/y", "go1.27.4", false},
		{"compile version go1.27.4", "devel +abc", true},
	} {
		if err := readable(c.line, c.own); (err == nil) != c.ok {
			t.Errorf("%q with %s: %v", c.line, c.own, err)
		}
	}
}
