//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTold builds with the go command alone. The line that says that a build takes long appears
// once, on the go command's terminal, and not again. Scripts build without a terminal, and expect
// no line.
func TestTold(t *testing.T) {
	t.Parallel()
	terminal, shown := openTerminal(t)
	cache := t.TempDir()
	build := func(to *os.File, tool ...string) string {
		t.Helper()
		cmd := exec.Command(tool[0], append(tool[1:], "runtime")...)
		cmd.Env = append(os.Environ(), "GOCACHE="+cache)
		cmd.Stdout, cmd.Stderr = to, to
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return shown()
	}
	const line = "qinst: compiling the standard library"
	if got := build(terminal, "go", "build", "-toolexec", "qinst"); strings.Count(got, "\n") != 1 ||
		!strings.HasPrefix(got, line+" for these probes: once") {
		t.Errorf("the first build showed %q, expected a line with %q", got, line)
	}
	if got := build(terminal, "go", "build", "-toolexec", "qinst"); got != "" {
		t.Errorf("the second build showed %q, expected nothing", got)
	}
	if got := build(terminal, "qinst", "build", "-gcflags=all=-N"); strings.Count(got, line) != 1 ||
		strings.Contains(got, "these") {
		t.Errorf("qinst build showed %q, expected a line of its own with %q", got, line)
	}
}
