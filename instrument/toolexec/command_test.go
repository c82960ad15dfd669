package toolexec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The go command puts the files last. A flag's value is no file, and a file of an overlay
// may have any name.
func TestCountFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		want int
	}{
		{"", 0},
		{"-V=full", 1},
		{"a.go b.go", 0},
		{"-o out.a -p main -complete a.go", 5},
		{"-o out.a -p main a.go b.go", 4},
		{"-p main -o out.a", 4},
		{"-o out.a -pack=x", 3},
		{"-p main -D dir a.s", 4},
		{"-p main -c=4 overlay.txt", 3},
		{"--importcfg cfg a.go", 2},
		{"-complete cfg a.go", 1},
	} {
		args := strings.Fields(c.args)
		if got := countFlags(args); got != c.want {
			t.Errorf("%q: %d flags, expected %d", c.args, got, c.want)
		}
	}
}

func TestFlag(t *testing.T) {
	t.Parallel()
	c := &command{flags: strings.Fields("-o out.a -p=main --lang=go1.21 --trimpath to -std -p=last -race=false")}
	for name, want := range map[string]string{"o": "out.a", "p": "last", "lang": "go1.21", "trimpath": "to",
		"importcfg": "", "out.a": ""} {
		if got := c.flag(name); got != want {
			t.Errorf("-%s is %q, expected %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"std": true, "race": false, "out.a": false} {
		if got := c.has(name); got != want {
			t.Errorf("-%s is set: %v, expected %v", name, got, want)
		}
	}
}

func TestDecodeArg(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a b", "a b"},
		{`C:\\dir`, `C:\dir`},
		{`two\nlines`, "two\nlines"},
		{`\\n`, `\n`},
		{`\\\n`, "\\\n"},
	} {
		if got, err := decodeArg(c.in); err != nil || got != c.want {
			t.Errorf("%q: got %q, %v, expected %q", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{`\`, `a\`, `\t`, `\\\`} {
		if got, err := decodeArg(bad); err == nil || !strings.Contains(err.Error(), "bad escape in") {
			t.Errorf("%q: got %q, %v, expected a bad escape", bad, got, err)
		}
	}
}

// A command line that is too long goes through a file, and comes back as it was.
func TestRespond(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	short := []string{"-o", "out.a", "a.go"}
	if got, err := respond(dir, short); err != nil || !slices.Equal(got, short) {
		t.Errorf("short arguments became %q, %v", got, err)
	}
	long := []string{"-o", `back\slash`, "two\nlines", "", strings.Repeat("x", maxArgs)}
	args, err := respond(dir, long)
	if err != nil || len(args) != 1 || !strings.HasPrefix(args[0], "@"+dir) {
		t.Fatalf("long arguments became %q, %v, expected a file", args, err)
	}
	if got, err := readResponse(args[0][1:]); err != nil || !slices.Equal(got, long) {
		t.Errorf("read back %.80q, %v", got, err)
	}
}

// A response file is the whole command line.
func TestParseCommand(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "args")
	if err := os.WriteFile(name, []byte("-o\r\ndir/out.a\n-p\nmain\n-complete\na.go\nb\\nc.go\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := parseCommand([]string{"compile", "@" + name})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.flags) != 5 || !slices.Equal(c.files, []string{"a.go", "b\nc.go"}) || c.objdir() != "dir" ||
		c.flag("p") != "main" {
		t.Errorf("found flags %q and files %q", c.flags, c.files)
	}
	if _, err := parseCommand([]string{"compile", "@" + name + ".missing"}); err == nil {
		t.Error("a file that is not there was read")
	}
}
