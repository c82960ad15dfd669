package goobj

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compiled is a package that imports three others; the program gets a different second one.
func compiled(t *testing.T) (archive []byte, compile func(out string, args ...string), dir string) {
	t.Helper()
	dir = t.TempDir()
	tools, err := exec.Command("go", "env", "GOTOOLDIR").Output()
	if err != nil {
		t.Fatal(err)
	}
	compile = func(out string, args ...string) {
		cmd := exec.Command(filepath.Join(strings.TrimSpace(string(tools)), "compile"),
			append([]string{"-o", out, "-pack"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	cfg := ""
	for _, name := range []string{"a", "b", "c"} {
		write(t, dir, name+".go", "package "+name+"\n\nfunc F() int { return 1 }\n")
		compile(name+".a", "-p", name, name+".go")
		cfg += "packagefile " + name + "=" + name + ".a\n"
	}
	write(t, dir, "cfg", cfg)
	write(t, dir, "p.go", "package p\n\nimport (\n\t\"a\"\n\t\"b\"\n\t\"c\"\n)\n\nvar N = a.F() + b.F() + c.F()\n")
	compile("p.a", "-p", "p", "-importcfg", "cfg", "p.go")
	archive, err = os.ReadFile(filepath.Join(dir, "p.a"))
	if err != nil {
		t.Fatal(err)
	}
	return archive, compile, dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDropImport drops each import of an object and checks the rest.
func TestDropImport(t *testing.T) {
	t.Parallel()
	before, _, _ := compiled(t)
	for _, path := range []string{"a", "b", "c"} {
		after := bytes.Clone(before)
		if err := DropImport(after, path); err != nil {
			t.Fatal(err)
		}
		if len(after) != len(before) {
			t.Errorf("%d bytes became %d", len(before), len(after))
		}
		if err := DropImport(after, path); err == nil || !strings.Contains(err.Error(), "no import of "+path) {
			t.Errorf("dropped %s twice: %v", path, err)
		}
		for _, other := range []string{"a", "b", "c"} {
			if other == path {
				continue
			}
			if err := DropImport(bytes.Clone(after), other); err != nil {
				t.Errorf("without %s: %v", path, err)
			}
		}
	}
}

// TestDamage: whatever the bytes are, the answer is an error and the archive is as it was, or the
// import is gone. Nothing reads beyond the end.
func TestDamage(t *testing.T) {
	t.Parallel()
	whole, _, _ := compiled(t)
	for n := range whole {
		if n > 4096 && n%97 != 0 {
			continue
		}
		_ = DropImport(bytes.Clone(whole[:n]), "b")
		damaged := bytes.Clone(whole)
		damaged[n] ^= 0xff
		kept := bytes.Clone(damaged)
		if err := DropImport(damaged, "b"); err != nil && !bytes.Equal(damaged, kept) {
			t.Fatalf("byte %d damaged: %v, and the archive changed", n, err)
		}
	}
	for _, text := range []string{"", "!<arch>\n", "go object linux amd64\n!\n", "package p"} {
		if err := DropImport([]byte(text), "b"); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// TestFuncs: functions have the lines at which they begin, and other names after Rename.
func TestFuncs(t *testing.T) {
	t.Parallel()
	_, compile, dir := compiled(t)
	write(t, dir, "f.go", `package f

var sink func()

func generic[T any](x T) func() { return func() { println(&x); go println("generic") } }

func F() {
	sink = func() { println("first"); go println("gone") }
	sink = func() { println("second") }
	sink = generic(1)
}
`)
	compile("f.a", "-p", "f", "f.go")
	archive, err := os.ReadFile(filepath.Join(dir, "f.a"))
	if err != nil {
		t.Fatal(err)
	}
	before := names(t, archive)
	if f := before["f.F.func2"]; f.Line != 9 || !f.Index || f.Named {
		t.Errorf("%+v", f)
	}
	if err := rename(archive, map[string]string{"f.F.func2": "f.F.func1",
		"f.F.func1.gowrap1": "f.F.func1.g"}); err != nil {
		t.Fatal(err)
	}
	after := names(t, archive)
	if len(after) != len(before)-1 || after["f.F.func1"].Line == 0 || after["f.F.func1.g"].Line != 8 {
		t.Errorf("found %v, before that %v", after, before)
	}
	generic := ""
	for name, f := range after {
		if f.Named && strings.Contains(name, "generic") {
			generic = name
		}
	}
	for from, to := range map[string]string{"f.F": "f.long", generic: "f.g"} {
		kept := bytes.Clone(archive)
		if err := rename(archive, map[string]string{"f.F.func1": "f.x", from: to}); err == nil ||
			!bytes.Equal(archive, kept) {
			t.Errorf("%s was renamed, or something else", from)
		}
	}
}

func names(t *testing.T, archive []byte) map[string]Func {
	t.Helper()
	o, err := Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	list, err := o.Funcs()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Func{}
	for _, f := range list {
		found[f.Name] = f
	}
	return found
}

func rename(archive []byte, names map[string]string) error {
	o, err := Open(archive)
	if err != nil {
		return err
	}
	if _, err = o.Funcs(); err != nil {
		return err
	}
	return o.Rename(names)
}

// TestDamagedNames: nothing reads beyond the end, and an error leaves the archive as it was.
func TestDamagedNames(t *testing.T) {
	t.Parallel()
	whole, _, _ := compiled(t)
	to := map[string]string{"p.init": "p.i"}
	for n := range whole {
		if n > 8192 && n%97 != 0 {
			continue
		}
		_ = rename(bytes.Clone(whole[:n]), to)
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(whole)
			damaged[n] ^= flip
			kept := bytes.Clone(damaged)
			if err := rename(damaged, to); err != nil && !bytes.Equal(damaged, kept) {
				t.Fatalf("byte %d damaged: %v, and the archive changed", n, err)
			}
		}
	}
	if err := rename(whole, to); err != nil {
		t.Error(err)
	}
}

func FuzzRename(f *testing.F) {
	f.Add([]byte("!<arch>\n_go_.o          0           0     0     644     24        `\ngo object linux amd64\n!\n"))
	f.Fuzz(func(t *testing.T, b []byte) { _ = rename(b, map[string]string{"p.init": "p.i", "": ""}) })
}

func FuzzDropImport(f *testing.F) {
	f.Add([]byte("!<arch>\n_go_.o          0           0     0     644     24        `\ngo object linux amd64\n!\n"))
	f.Fuzz(func(t *testing.T, b []byte) { _ = DropImport(b, "runtime") })
}
