package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// itemLine begins a conclusion, and a remark, on the first screen.
var itemLine = regexp.MustCompile(`^  (\d\. |[A-Z])`)

// TestFirstScreen: a report has 25 lines at most, no more than three conclusions of three lines
// each, and one statement that says what else there is.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "kept", "*.sddf"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d kept traces (%v), expected ten or more", len(files), err)
	}
	for _, file := range files {
		var out, talk bytes.Buffer
		if err := dispatch(newEnv(&out, &talk), []string{"report", file}); err != nil {
			t.Fatal(err)
		}
		page, more, found := strings.Cut(out.String(), "\n\nqinst report -all "+file+" shows ")
		if n := strings.Count(page, "\n") + 1; n > 25 || !found || strings.Count(more, "\n") > 4 ||
			!strings.HasSuffix(strings.Join(strings.Fields(more), " "), "data, what the tool itself cost, what to ask next") {
			t.Errorf("%s: found %d lines, expected 25 and what else there is:\n%s", file, n, out.String())
		}
		before, screen, found := strings.Cut(page, "WHAT TO CHANGE FIRST\n")
		if !found {
			continue // it only counted
		}
		screen, _, _ = strings.Cut(screen, "\n\n")
		lines, items, last := strings.Split(screen, "\n"), 0, 0
		for i, line := range lines {
			if itemLine.MatchString(line) {
				last = i
				if strings.Contains(line[:4], ".") {
					items++
				}
			}
			if i-last >= 3 {
				t.Errorf("%s: found a conclusion of more than three lines:\n%s", file, screen)
				break
			}
		}
		if items > 3 {
			t.Errorf("%s: found %d conclusions, expected 3 at most:\n%s%s", file, items, before, screen)
		}
	}
}

// A section that an option asks for is on the first screen, too, and not among the others.
func TestAskedSection(t *testing.T) {
	t.Parallel()
	out, err := read(t, "report", "-plain=40ms", keptTrace())
	if err != nil || strings.Count(out, "WHAT THE TOOL ITSELF COST\n") != 1 || strings.Contains(out, "PROCESSORS BUSY") ||
		strings.Contains(strings.Join(strings.Fields(out), " "), "what the tool itself cost") {
		t.Errorf("found %v and\n%s", err, out)
	}
}

// keptTrace returns the path of a kept trace, of a program with locks.
func keptTrace() string {
	return filepath.Join("..", "..", "testdata", "kept", "locks.sddf")
}

// Only a terminal gets colours, and none that the user declined.
func TestColoured(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("found no terminal to open: ", err)
	}
	defer terminal.Close()
	for _, c := range []struct {
		name, value string
		want        bool
	}{{"TERM", "xterm", true}, {"TERM", "dumb", false}, {"NO_COLOR", "1", false}} {
		getenv := func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		}
		if got := coloured(terminal, getenv); got != c.want {
			t.Errorf("%s=%s: found %t, expected %t", c.name, c.value, got, c.want)
		}
		if coloured(new(bytes.Buffer), getenv) {
			t.Errorf("%s=%s: found colours where there is no terminal", c.name, c.value)
		}
	}
}
