package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qinst.dev/internal/trace/tracetest"
)

func writeTrace(t *testing.T) string {
	t.Helper()
	do := tracetest.Do
	b := tracetest.Simulate(2, []tracetest.Thread{
		{Name: "main.t1", Ops: []tracetest.Op{do("main.a", 5e6), tracetest.Signal("x"), do("main.b", 3e6)}},
		{Name: "main.t2", Ops: []tracetest.Op{tracetest.Wait("x"), do("main.a", 2e6)}},
	})
	file := filepath.Join(t.TempDir(), "x.sddf")
	if err := b.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, talk bytes.Buffer
	err := dispatch(newEnv(&out, &talk), args)
	return out.String(), err
}

func TestReadCommands(t *testing.T) {
	t.Parallel()
	file := writeTrace(t)
	for _, c := range []struct {
		name string
		want []string
	}{
		{"info", []string{"8.00ms", "main returned, status 0", "3: 3 proc"}},
		{"dump", []string{"header format=SDDF version=4", "entry events ticks=1000000 kind=enter probe=0", "data end"}},
		{"profile", []string{"wall 8.00ms, busy 10.0ms", "main.a", "75.0%"}},
		{"report -all", []string{"PROCESSORS BUSY", "1  6.00ms  75.0%", "nothing lost, nothing degraded",
			"main.main > main.a"}},
	} {
		out, err := read(t, append(strings.Fields(c.name), file)...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, w := range c.want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: no %q in\n%s", c.name, w, out)
			}
		}
		if _, err := read(t, c.name, filepath.Join(t.TempDir(), "none")); err == nil {
			t.Errorf("%s reads a file that does not exist", c.name)
		}
	}
}

// The names of the JSON form are a contract; flags may stand on either side.
func TestProfileJSON(t *testing.T) {
	t.Parallel()
	file := writeTrace(t)
	before, err := read(t, "profile", "-json", file)
	if err != nil {
		t.Fatal(err)
	}
	after, err := read(t, "profile", file, "-json")
	if err != nil || before != after {
		t.Errorf("flags after the file: %v", err)
	}
	var p map[string]any
	if err := json.Unmarshal([]byte(before), &p); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "wall_ns", "busy_ns", "idle_ns", "npt_sum_ns", "procs", "events",
		"degraded", "lost", "offcpu_ns", "parallelism", "entries", "roots", "losses", "cpu", "tool"} {
		if _, ok := p[key]; !ok {
			t.Errorf("no %q", key)
		}
	}
	e := p["entries"].([]any)[0].(map[string]any)
	for _, key := range []string{"id", "kind", "name", "file", "line", "calls", "self_npt_ns", "npt_ns", "self_busy_ns",
		"busy_ns", "spin_ns", "blocked_ns", "ready_ns", "syscall_ns"} {
		if _, ok := e[key]; !ok {
			t.Errorf("entry without %q", key)
		}
	}
}

func TestDumpJSON(t *testing.T) {
	t.Parallel()
	out, err := read(t, "dump", "-json", writeTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, line := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil || v["packet"] == nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestForeignFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x.sddf")
	if err := os.WriteFile(name, []byte("go 1.26 trace"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"info", "dump", "profile", "report", "critical", "predict", "correct"} {
		_, err := read(t, f, name)
		if err == nil || !strings.Contains(err.Error(), "not an SDDF file") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	}
}

func TestNewestFile(t *testing.T) {
	file := writeTrace(t)
	t.Chdir(filepath.Dir(file))
	out, err := read(t, "info")
	if err != nil || !strings.Contains(out, "x.sddf") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Chdir(t.TempDir())
	if _, err := read(t, "info"); err == nil {
		t.Error("no file, no error")
	}
	if _, err := read(t, "info", "a", "b"); err == nil {
		t.Error("two files, no error")
	}
}

// A part of a trace reads the file of the whole, which is closed with it.
func TestPartCloses(t *testing.T) {
	file := writeTrace(t)
	isOpen := func() (n int) {
		fds, err := filepath.Glob("/proc/self/fd/*")
		if err != nil || len(fds) == 0 {
			t.Skip("open files cannot be listed here")
		}
		for _, fd := range fds {
			if to, err := os.Readlink(fd); err == nil && to == file {
				n++
			}
		}
		return n
	}
	part, _, err := (&partOf{from: 1e6, to: 4e6}).open(&env{}, file)
	if err != nil {
		t.Fatal(err)
	}
	if n := isOpen(); n != 1 {
		t.Errorf("found it open %d times, expected once", n)
	}
	if err := part.Close(); err != nil || isOpen() != 0 {
		t.Errorf("%v, found it open %d times, expected it to be closed", err, isOpen())
	}
}

// A trace whose name was taken has a number after it, and may be the newest. An index is none.
func TestNumberedFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, name := range []string{"p.sddf", "p.sddf.2", "p.sddf.10", "p.sddf.index"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	var talk bytes.Buffer
	if name, err := newestFile(newEnv(io.Discard, &talk)); name != "p.sddf.10" || err != nil ||
		talk.String() != "qinst: reading p.sddf.10, written 8m0s ago\n" {
		t.Errorf("found %q, %v, said %q", name, err, talk.String())
	}
}
