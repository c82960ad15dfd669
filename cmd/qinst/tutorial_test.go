package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestTutorial follows the tutorial to the letter, but for the number of orders, with the source of
// the shop and the changes as they are in the document. All commands succeed, and their outputs
// have the words of the document, with figures of their own. A mended problem is in no conclusion
// any more.
func TestTutorial(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("probes need linux")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "guide", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := shopIn(t, root)
	parts := strings.Split(string(text), "```diff\n")
	if len(parts) != 3 {
		t.Fatalf("found %d changes, expected two", len(parts)-1)
	}
	var mended []string // subjects of the first conclusions of earlier parts
	for i, part := range parts {
		if i > 0 {
			change, rest, _ := strings.Cut(part, "```\n")
			part = rest
			apply := exec.Command("git", "apply", "-")
			apply.Dir, apply.Stdin = dir, strings.NewReader(change)
			if out, err := apply.CombinedOutput(); err != nil {
				t.Fatalf("change %d: %v\n%s", i, err, out)
			}
		}
		examples := guideExamples(part)
		if len(examples) < 3 {
			t.Fatalf("found %d commands in part %d, expected three or more", len(examples), i)
		}
		var wrong string
		for range 3 { // on a busy machine a run may differ
			for _, old := range traces(t, dir) {
				_ = os.Remove(old)
			}
			if wrong = follow(t, dir, examples); wrong == "" {
				break
			}
		}
		if wrong != "" {
			t.Fatal(wrong)
		}
		subjects := subjects(t, traces(t, dir)[0])
		for _, was := range mended {
			if slices.Contains(subjects, was) {
				t.Errorf("part %d: %s is mended, and still a conclusion's subject", i, was)
			}
		}
		mended = append(mended, subjects[0])
	}
}

// shopIn copies the shop into a module of its own.
func shopIn(t *testing.T, root string) string {
	t.Helper()
	module := filepath.Join(t.TempDir(), "examples")
	dir := filepath.Join(module, "shop")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "shop"))); err != nil {
		t.Fatal(err)
	}
	mod := "module examples\n\ngo 1.26.0\n"
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte(mod), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// follow runs the commands, and returns how an output differs from the document.
func follow(t *testing.T, dir string, examples []guideExample) string {
	t.Helper()
	for _, e := range examples {
		command := e.command
		if strings.Contains(command, " ./shop") {
			command += " -orders 1000" // half the time
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", e.command, err, out)
		}
		have := words(string(out))
		for part := range strings.SplitSeq(strings.Join(e.lines, "\n"), "...\n") {
			want := strings.TrimSuffix(words(chance.ReplaceAllString(part, "")), "...")
			if !strings.Contains(have, want) {
				return e.command + ": found no\n" + want + "\nin\n" + have
			}
		}
	}
	return ""
}

var (
	figures = regexp.MustCompile(`(^|[ (+-])\d[\d.,]*(ns|us|ms|s)?\b`)
	// chance has what depends on a run's course: intervals, further waits, and second conclusions.
	chance = regexp.MustCompile(`(?s)\s+(?:Gain:|Meanwhile) .*|\s+2\. .*`)
)

// words are a text without its figures, and in one line.
func words(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return figures.ReplaceAllString(text, "${1}#")
}

func traces(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sddf"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// subjects are those of the conclusions about a trace.
func subjects(t *testing.T, file string) (names []string) {
	t.Helper()
	out, err := exec.Command("qinst", "report", "-json", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Advice []struct {
			Subject struct{ Name string }
			Remark  bool
		}
	}
	if err := json.Unmarshal(out, &page); err != nil {
		t.Fatal(err)
	}
	for _, a := range page.Advice {
		if !a.Remark {
			names = append(names, a.Subject.Name)
		}
	}
	if len(names) == 0 {
		t.Fatalf("%s: found no conclusion", file)
	}
	return names
}
