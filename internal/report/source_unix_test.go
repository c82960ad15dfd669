//go:build unix

package report

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSources reads what is below the roots, and nothing else, whatever name a trace has.
func TestSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	good, secret := write("module/p/a.go", "package p"), write("secret", "secret")
	write("module/large.go", strings.Repeat("x", maxSource+1))
	if err := os.Symlink(secret, filepath.Join(dir, "module", "link.go")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "module", "pipe.go"), 0o666); err != nil {
		t.Skip("no pipes here:", err)
	}
	s := Sources{Roots: []string{filepath.Join(dir, "module")}}
	searching := Sources{Folder: s.Roots[0]}
	for _, c := range []struct {
		sources    Sources
		file, want string // text, or an error's
	}{
		{s, good, "package p"},
		{searching, "/build/elsewhere/p/a.go", "package p"},
		{searching, "p/a.go", "package p"},
		{s, "p/a.go", "-source=FOLDER tells"},
		{s, secret, "-source=FOLDER tells"},
		{s, "/etc/passwd", "-source=FOLDER tells"},
		{s, s.Roots[0] + "/../secret", "-source=FOLDER tells"},
		{searching, "/x/../../secret", "found neither"},
		{s, s.Roots[0] + "/link.go", "escapes"},
		{searching, "link.go", "escapes"},
		{s, s.Roots[0] + "/pipe.go", "expected a regular file"},
		{s, s.Roots[0] + "/p", "expected a regular file"},
		{s, s.Roots[0] + "/large.go", "expected 4194304 at most"},
	} {
		start := time.Now()
		text, err := c.sources.read(c.file)
		got := string(text)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || time.Since(start) > time.Minute {
			t.Errorf("%s: found %.100q after %v, expected %q", c.file, got, time.Since(start), c.want)
		}
	}
}
