package toolexec

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// These flags put calls between the address of a slot and its use.
func TestCountsInLine(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]bool{
		"-p main":                 true,
		"-p main -shared -N -l":   true,
		"-p main -race":           false,
		"-p main -msan":           false,
		"-p main -asan":           false,
		"-d=checkptr -p main":     false,
		"-p main -d=ssa,checkptr": false,
	} {
		if got := (&command{flags: strings.Fields(flags)}).countsInLine(); got != want {
			t.Errorf("%s: %v", flags, got)
		}
	}
}

// compilePackage compiles a package of one file with probes. A shell script takes the place of
// the compiler: it calls that as "compile", and OUT is the package's object. It returns the
// object, and what was said.
func compilePackage(t *testing.T, text, cfg, script string) (object []byte, said string) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("probes need linux on amd64 or arm64")
	}
	dir := t.TempDir()
	tools, err := exec.Command("go", "env", "GOTOOLDIR").Output()
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "compile")
	script = "#!/bin/sh\ncompile() { " + strings.TrimSpace(string(tools)) + "/compile \"$@\" || exit 2; }\nOUT=" + dir +
		"/out.a\n" + script + "\n"
	for name, text := range map[string]string{tool: script, filepath.Join(dir, "p.go"): text,
		filepath.Join(dir, "cfg"): cfg} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	p := &process{env: func(name string) string {
		return map[string]string{"GOARCH": runtime.GOARCH, "GOOS": runtime.GOOS}[name]
	}, stdout: &stdout, stderr: &stderr}
	c, err := parseCommand([]string{tool, "-o", filepath.Join(dir, "out.a"), "-p", "p", "-lang=go1.26", "-pack",
		"-importcfg", filepath.Join(dir, "cfg"), filepath.Join(dir, "p.go")})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.instrument(c, "p", "p"); err != nil {
		t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
	}
	object, err = os.ReadFile(filepath.Join(dir, "out.a"))
	if err != nil {
		t.Fatal(err)
	}
	return object, stdout.String() + stderr.String()
}

const callsOften = `package p

func called(n int) int {
	for range n {
		n += n % 7
	}
	return n
}

func F(n int) (s int) {
	for i := range n {
		s += called(i)
	}
	return s
}
`

// TestAccessor: a package that does not import runtime counts in line and does not import it
// afterwards. Where that fails its calls are counted by probes, with one line about it, and the
// package is compiled all the same.
func TestAccessor(t *testing.T) {
	t.Parallel()
	const compile, more = `compile "$@"`, "qinst: the calls of p are counted by probes, which costs more: "
	for _, c := range []struct{ name, script, said string }{
		{"compiled", compile, ""},
		{"another object format", compile + "; [ ! -f $OUT ] || sed -i s/go120ld/go999ld/ $OUT", more},
		{"no accessor", `case "$*" in *qinst_accessor.go*) echo no such flag; exit 2;; esac; ` + compile,
			more + "compiling the accessor: exit status 2: no such flag"},
		{"not with the accessor", `case "$*" in *qinst_accessor.cfg*) echo no such file; exit 2;; esac; ` + compile,
			more + "exit status 2: no such file"},
	} {
		object, said := compilePackage(t, callsOften, "", c.script)
		if !strings.Contains(said, c.said) || c.said == "" && said != "" || strings.Count(said, "\n") > 1 {
			t.Errorf("%s: said %q, expected %q", c.name, said, c.said)
		}
		if got := bytes.Contains(object, []byte("_qinst_slot")); got != (c.said == "") {
			t.Errorf("%s: counted in line: %v", c.name, got)
		}
	}
}
