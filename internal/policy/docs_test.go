package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// documents are the project's Markdown files, by their path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(root, file)
			texts[name] = string(data)
		}
	}
	if len(texts) < 30 {
		t.Fatalf("found %d documents, expected 30 or more", len(texts))
	}
	return texts
}

// Every decision says whether it holds, and since when.
func TestDecisions(t *testing.T) {
	t.Parallel()
	head := regexp.MustCompile(`^# (\d+)\. .+\n\nStatus: (accepted|superseded by \d+)\. Date: \d{4}-\d\d-\d\d\.\n\n\*\*Decision\.\*\*`)
	numbers := map[string]string{}
	for name, text := range documents(t) {
		if filepath.Dir(name) != "docs/adr" {
			continue
		}
		m := head.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s: found %q, expected a numbered title, status, date and the decision", name,
				text[:min(len(text), 120)])
			continue
		}
		if was := numbers[m[1]]; was != "" || !strings.HasPrefix(filepath.Base(name),
			strings.Repeat("0", 4-len(m[1]))+m[1]+"-") {
			t.Errorf("%s: number %s is not its own (%s)", name, m[1], was)
		}
		numbers[m[1]] = name
	}
}

// A decision fits one page: it has the reasons that prevent a failed design from being tried again,
// and not the mechanism, which the code explains.
func TestDecisionsAreShort(t *testing.T) {
	t.Parallel()
	const mostLines, mostColumns = 50, 100
	for name, text := range documents(t) {
		if filepath.Dir(name) != "docs/adr" {
			continue
		}
		if n := strings.Count(text, "\n"); n > mostLines {
			t.Errorf("%s has %d lines, expected %d at most: shorten it, or make it two decisions", name, n, mostLines)
		}
		line := 0
		for l := range strings.Lines(text) {
			line++
			if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > mostColumns {
				t.Errorf("%s:%d has %d columns, expected %d at most", name, line, n, mostColumns)
			}
		}
	}
}

// Links between documents lead somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	found := 0
	texts := documents(t)
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "    ") {
				continue // source
			}
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				found++
				target := filepath.Join(filepath.Dir(name), m[1])
				if _, err := os.Stat(filepath.Join(root, target)); err != nil {
					t.Errorf("%s links to %s, which does not exist", name, m[1])
				}
				if m[2] != "" && filepath.Ext(target) == ".md" && !headings(texts[target])[m[2][1:]] {
					t.Errorf("%s links to %s%s, which has no such heading", name, m[1], m[2])
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d links, expected many", found)
	}
}

// headings are the anchors of a document.
func headings(text string) map[string]bool {
	anchors := map[string]bool{}
	for line := range strings.Lines(text) {
		if title, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); found && strings.HasPrefix(line, "#") {
			anchors[slug(strings.TrimSpace(title))] = true
		}
	}
	return anchors
}
