package inject

import (
	"go/version"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// target is the toolchain that runs the test, for the given machine.
func target(goos, goarch string) Target {
	return Target{GoVersion: runtime.Version(), GOOS: goos, GOARCH: goarch}
}

// runtimeDir is where the runtime's sources lie.
func runtimeDir(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "src", "runtime")
}

// runtimeFiles copies the runtime's sources that have patches into a directory
// of the test's, so that they can be broken.
func runtimeFiles(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for _, a := range patches() {
		to := filepath.Join(dir, a.file)
		if slices.Contains(files, to) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(runtimeDir(t), a.file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, to)
	}
	return files
}

func TestCompileReplacesAnchoredFiles(t *testing.T) {
	t.Parallel()
	files := append(runtimeFiles(t), "/elsewhere/chan.go")
	dir := t.TempDir()
	out, err := Compile(target("linux", "amd64"), files, dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files[:len(files)-1] {
		if want := filepath.Join(dir, "qinst_"+filepath.Base(f)); out[i] != want {
			t.Errorf("file %d is %s, want %s", i, out[i], want)
		}
	}
	if got := out[len(files)-1]; got != "/elsewhere/chan.go" {
		t.Errorf("a file without patches became %s", got)
	}
	var names []string
	for _, f := range out[len(files):] {
		names = append(names, filepath.Base(f))
	}
	if !slices.Contains(names, "qinst_base_amd64.go") || slices.Contains(names, "qinst_base_arm64.go") ||
		!slices.Contains(names, "qinst_base_spec.go") {
		t.Errorf("added files are %v", names)
	}
}

// TestEditsKeepLines checks that every line of an edited file holds what it
// held, with insertions only.
func TestEditsKeepLines(t *testing.T) {
	t.Parallel()
	files := runtimeFiles(t)
	dir := t.TempDir()
	out, err := Compile(target("linux", "amd64"), files, dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		before, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(out[i])
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(string(after), "\n")
		if want := "//line " + f + ":1:1"; head != want {
			t.Errorf("%s starts with %q, want %q", out[i], head, want)
		}
		if got, want := strings.Count(rest, "\n"), strings.Count(string(before), "\n"); got != want {
			t.Errorf("%s has %d lines, want %d", out[i], got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		target Target
		spoil  func(text string) string // of proc.go
		want   string
	}{
		{"old go", Target{"go1.21.3", "linux", "amd64"}, nil, `found Go version "go1.21.3"`},
		{"new go", Target{"go1.260", "linux", "amd64"}, nil, `found Go version "go1.260"`},
		{"other system", target("darwin", "arm64"), nil, "found GOOS/GOARCH darwin/arm64"},
		{"other machine", target("linux", "riscv64"), nil, "found GOOS/GOARCH linux/riscv64"},
		{"function gone", target("linux", "amd64"), func(s string) string {
			return strings.Replace(s, "func gdestroy(", "func gdestroyed(", 1)
		}, "found 0 places"},
		{"statement twice", target("linux", "amd64"), func(s string) string {
			return strings.Replace(s, "\tmainStarted = true\n", "\tmainStarted = true\n\tmainStarted = true\n", 1)
		}, "found 2 places"},
		{"condition gone", target("linux", "amd64"), func(s string) string {
			_, after, _ := strings.Cut(s, "func reentersyscall(")
			return strings.Replace(s, after, strings.Replace(after, "if trace.ok() {", "if trace.on() {", 1), 1)
		}, "found 0 places"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := runtimeFiles(t)
			if c.spoil != nil {
				spoilFile(t, files, "proc.go", c.spoil)
			}
			dir := t.TempDir()
			_, err := Compile(c.target, files, dir)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func spoilFile(t *testing.T, files []string, base string, spoil func(string) string) {
	t.Helper()
	i := slices.IndexFunc(files, func(f string) bool { return filepath.Base(f) == base })
	text, err := os.ReadFile(files[i])
	if err != nil {
		t.Fatal(err)
	}
	changed := spoil(string(text))
	if changed == string(text) {
		t.Fatal("the file has nothing to spoil")
	}
	if err := os.WriteFile(files[i], []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	if _, err := Compile(target("linux", "amd64"), nil, t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "has no file") {
		t.Errorf("got error %v, want one that names the missing file", err)
	}
}

func TestAssemble(t *testing.T) {
	t.Parallel()
	for _, arch := range []string{"amd64", "arm64"} {
		src := runtimeDir(t)
		files := []string{filepath.Join(src, "asm.s"), filepath.Join(src, "asm_"+arch+".s")}
		dir := t.TempDir()
		out, err := Assemble(target("linux", arch), files, dir)
		if err != nil {
			t.Fatal(err)
		}
		if out[0] != files[0] || out[1] == files[1] {
			t.Errorf("%s: got %v", arch, out)
		}
		text, err := os.ReadFile(out[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, symbol := range []string{"runtime·qinst_enter", "runtime·qinst_call", "runtime·qinstNow",
			"runtime·qinstInvariantClock"} {
			if n := strings.Count(string(text), "TEXT "+symbol+"<ABIInternal>"); n != 1 {
				t.Errorf("%s defines %s %d times", arch, symbol, n)
			}
		}
	}
}

// TestTracerMethodsCovered checks that no method of Go's tracer lacks its entry
// in the table: without one it would run with a locker that has no generation.
func TestTracerMethodsCovered(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, h := range tracerHooks {
		known[h.method] = true
	}
	dir := runtimeDir(t)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			name, ok := strings.CutPrefix(line, "func (tl traceLocker) ")
			if !ok || name[0] < 'A' || name[0] > 'Z' {
				continue
			}
			found++
			if name, _, _ = strings.Cut(name, "("); !known[name] {
				t.Errorf("traceLocker.%s (%s) has no entry in tracerHooks", name, e.Name())
			}
		}
	}
	if found != len(tracerHooks) {
		t.Errorf("found %d methods, the table has %d", found, len(tracerHooks))
	}
}

// TestFreeWords checks the words of a g that ledgers use. Go's runtime declares stackLock, and
// that is all. It uses racectx for the race detector alone, but that main sets it to 0 first:
// a use more must be looked at.
func TestFreeWords(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(runtimeDir(t), "*.[gs]*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if base := filepath.Base(f); strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "race") {
			continue
		}
		for _, word := range []string{"stackLock", ".racectx"} {
			found[word] += strings.Count(string(text), word)
		}
	}
	want := map[string]int{"stackLock": 1, ".racectx": 16}
	if version.Lang(runtime.Version()) == "go1.27" {
		want[".racectx"] = 15 // the context of a timer is no bubble's any more
	}
	if !maps.Equal(found, want) {
		t.Errorf("found %v in package runtime, expected %v", found, want)
	}
}
