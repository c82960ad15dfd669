//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"qinst.dev/internal/trace"
)

// openTerminal opens a terminal. What it was told since the last call is what shown returns.
func openTerminal(t *testing.T) (terminal *os.File, shown func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine has no terminals to give:", err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine has no terminals to give:", err)
	}
	t.Cleanup(func() { terminal.Close() })
	told := make(chan []byte, 64)
	go func() {
		for {
			b := make([]byte, 4096)
			n, err := master.Read(b)
			if err != nil {
				return
			}
			told <- b[:n]
		}
	}()
	return terminal, func() string {
		var all []byte
		for {
			select {
			case b := <-told:
				all = append(all, b...)
			case <-time.After(200 * time.Millisecond):
				return string(all)
			}
		}
	}
}

// resize gives a terminal a number of columns.
func resize(t *testing.T, terminal *os.File, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: 25, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// How far the work on a trace is stands in one line on the terminal alone, which is gone in the
// end.
func TestMeter(t *testing.T) {
	t.Parallel()
	terminal, shown := openTerminal(t)
	resize(t, terminal, 60)
	file := keptTrace()
	for _, args := range [][]string{{"report", file}, {"profile", file}, {"critical", file}, {"predict", file},
		{"correct", file}, {"export", "-to", "chrome", file}, {"view", "-html", "-", file}} {
		var plain, talk, out bytes.Buffer
		if err := dispatch(newEnv(&plain, &talk), args); err != nil {
			t.Fatal(err)
		}
		e := newEnv(&out, terminal)
		e.meter.after = 0
		if s := status(e, dispatch(e, args)); s != 0 {
			t.Errorf("%q: status %d", args, s)
		}
		if out.String() != plain.String() {
			t.Errorf("%q: the output is not that without a terminal", args)
		}
		if strings.Contains(talk.String(), "reading") {
			t.Errorf("%q: without a terminal it says %q", args, talk.String())
		}
		first, rest, found := strings.Cut(shown(), "\r\x1b[K")
		if first != "qinst: reading locks.sddf: 0.0%" || !found {
			t.Errorf("%q: found %q on the terminal, expected the progress", args, first)
		}
		if rest != "" && !strings.HasSuffix(rest, "\r\x1b[K") || strings.Contains(rest, "\n") {
			t.Errorf("%q: found %q on the terminal in the end, expected nothing", args, rest)
		}
	}
}

// What is said of the work on a trace: how much of it has been read and how long that takes yet,
// and then the runs that are computed from it.
func TestWork(t *testing.T) {
	t.Parallel()
	var p trace.Progress
	w := work{file: "a/b.sddf", done: &p, wall: 100, began: time.Now().Add(-10 * time.Second)}
	line := w.line()
	p.Reads(25)
	if got, want := line(), "reading b.sddf: 25.0%, 30s left"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	p.Run()
	p.Run()
	if got, want := line(), "computing from b.sddf: 10s so far, 2 runs"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}

// Tables fit the terminal that they are shown on, whose width COLUMNS may say otherwise. What each
// row is about is there.
func TestTableWidth(t *testing.T) {
	terminal, shown := openTerminal(t)
	resize(t, terminal, 80)
	file := keptTrace()
	style := regexp.MustCompile("\x1b\\[[0-9]*[mK]|\r")
	for _, c := range []struct {
		columns string
		most    int
	}{{"", 80}, {"70", 70}, {"many", 80}} {
		t.Setenv("COLUMNS", c.columns)
		for _, args := range [][]string{{"report", "-all"}, {"profile"}, {"profile", "-by", "sync"}, {"critical"},
			{"predict"}, {"correct"}} {
			e := newEnv(terminal, terminal)
			if s := status(e, dispatch(e, append(args, file))); s != 0 {
				t.Errorf("%q: status %d", args, s)
			}
			text := style.ReplaceAllString(shown(), "")
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); len([]rune(line)) > c.most && !strings.Contains(line, file) {
					t.Errorf("%q, COLUMNS=%s: found a line of %d columns, expected %d at most: %s", args, c.columns,
						len([]rune(line)), c.most, line)
				}
			}
			if !strings.Contains(text, "main.") {
				t.Errorf("%q: found no name in %s", args, text)
			}
		}
	}
}
