package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each command has a page of the manual with all its flags and examples, in roff without a fault.
func TestManual(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	for range 2 { // pages are written over
		if _, err := read(t, "help", "-man", dir); err != nil {
			t.Fatal(err)
		}
	}
	check := roffCheck(t)
	for _, c := range append(commands(), command{}) {
		name := strings.TrimSuffix("qinst-"+c.name, "-")
		file := filepath.Join(dir, name+".1")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{".TH " + strings.ToUpper(name) + " 1 ", "\n" + strings.ReplaceAll(name, "-", `\-`) + ` \- `}
		if c.name != "" {
			fs := newFlagSet(c.name)
			c.setup(fs)
			for _, flag := range fs.names() {
				want = append(want, `\fB`+plainRoff.Replace("-"+flag))
			}
			for _, ex := range c.examples {
				want = append(want, plainRoff.Replace(ex[0]), plainRoff.Replace(ex[1]))
			}
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s: found no %q", file, w)
			}
		}
		if check == nil {
			continue
		}
		said, err := exec.Command(check[0], append(check[1:], file)...).CombinedOutput()
		if said = bytes.TrimSpace(said); err != nil || len(said) > 0 {
			t.Errorf("%q: %v\n%s", append(check, file), err, said)
		}
	}
	if check == nil {
		t.Skip("found neither mandoc nor groff, so that the form of the pages was not checked")
	}
}

// roffCheck is a command that says what is wrong in a page; nil: there is none.
func roffCheck(t *testing.T) []string {
	t.Helper()
	for _, c := range [][]string{{"mandoc", "-Tlint", "-Werror"}, {"groff", "-man", "-ww", "-z", "-Tascii"}} {
		if _, err := exec.LookPath(c[0]); err == nil && exec.Command(c[0], append(c[1:], os.DevNull)...).Run() == nil {
			return c
		}
	}
	return nil
}

// What begins a line with a dot, or has a backslash, is text.
func TestRoff(t *testing.T) {
	t.Parallel()
	r := roff{new(strings.Builder)}
	r.prose(".x\n'y\n\n  a\\b -c")
	if got, want := r.String(), ".PP\n\\&.x\n\\&'y\n.PP\n.nf\n  a\\eb \\-c\n.fi\n"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}
