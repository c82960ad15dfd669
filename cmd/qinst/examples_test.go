package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each page of the guide opens with the question it answers, and has an example that readers can
// run in a clone. TestGuideExamples runs the examples: an indented block that begins with "$" is a
// command, and its lines are in the output, in their order and next to each other, but for those
// that a line of dots leaves out.
func TestGuideExamples(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "guide", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("found %d pages (%v), expected ten or more", len(pages), err)
	}
	for _, page := range pages {
		switch filepath.Base(page) {
		case "commands.md", "tutorial.md": // written by TestCommandsGuide, followed by TestTutorial
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.SplitN(string(text), "\n\n", 3)
			if len(parts) < 3 || !strings.HasPrefix(parts[0], "# ") || !strings.Contains(parts[1], "?") {
				t.Error("expected a title, and a first paragraph that asks the question of the page")
			}
			examples := guideExamples(string(text))
			if len(examples) == 0 {
				t.Error("expected an example: an indented block that begins with $ and a command")
			}
			dir := t.TempDir()
			if err := os.Symlink(filepath.Join(root, "testdata"), filepath.Join(dir, "testdata")); err != nil {
				t.Fatal(err)
			}
			for _, e := range examples {
				cmd := exec.Command("sh", "-c", e.command)
				cmd.Dir = dir
				out, _ := cmd.CombinedOutput() // an example may be of an error
				if missing := e.missing(string(out)); missing != "" {
					t.Errorf("%s: the page has\n%s\nwhich is not in, or out of order in\n%s", e.command, missing, out)
				}
			}
		})
	}
}

// guideExample is a command and the lines that a page shows of its output; a line of dots stands
// between lines that need not follow each other.
type guideExample struct {
	command string
	lines   []string
}

// guideExamples are those of a page. Several commands may follow each other in a block.
func guideExamples(text string) (list []guideExample) {
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		code, indented := strings.CutPrefix(line, "    ")
		command, begins := strings.CutPrefix(code, "$ ")
		switch {
		case indented && begins:
			list, in = append(list, guideExample{command: command}), true
		case !indented && line != "":
			in = false
		case in:
			last := &list[len(list)-1]
			last.lines = append(last.lines, code)
		}
	}
	return list
}

// missing returns the first lines of the example that are not in the output where they should be.
func (e guideExample) missing(out string) string {
	var rest strings.Builder
	rest.WriteString("\n")
	for line := range strings.Lines(out) {
		rest.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	left := rest.String()
	for part := range strings.SplitSeq(strings.Join(e.lines, "\n")+"\n", "...\n") {
		part = strings.Trim(part, "\n")
		_, after, found := strings.Cut(left, "\n"+part+"\n")
		if part != "" && !found {
			return part
		}
		if part != "" {
			left = "\n" + after
		}
	}
	return ""
}
