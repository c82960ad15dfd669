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
