package policy

import (
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// markers are turns of phrase that technical English seldom has, in the field's own texts less than
// one in a thousand words: "what" as a pronoun, "who" for goroutines, "tell" for report, "behind"
// for after. Where they are many a reader has to read twice. The glossary has the nouns to use
// instead.
var markers = regexp.MustCompile(`(?m)` + strings.Join([]string{
	`\b(?:of|for|in|by|from|to|with|than|as|and|but|is|that|all|on|at|or|not) what\b`,
	`(?:^|[.;:] )What (?:[a-z]+ ){2}`,
	`\bof which\b`,
	`\bso (?:many|much|long|often)\b`,
	`\bby turns\b`,
	`\b(?:nobody|somebody|everybody|whoever)\b`,
	`\bfrom \w+ on\b`,
	`\b(?:is|are|was|were) to be\b`,
	`\b(?:tells?|told)\b`,
	`\bbehind\b`,
	`(?:^|[.;:,] |\b(?:and|but|of|by|for) )[Ww]ho \w+`,
	`\blikewise\b`,
	`\bas (?:much|many|long) as (?:that|those|there|it)\b`,
	`\bone after the other\b`,
	`\banyway\b`,
	`\bbeside\b`,
}, "|"))

// mostMarkers is how many markers a folder may have in a thousand words of comments and documents.
const mostMarkers = 8

// generated are documents that are written from other files, which are looked at themselves.
var generated = []string{"docs/RESULTS.md", "docs/guide/commands.md"}

// The file has the folders that have more, and lines that are too long: by how much may only fall.
const proseFile = "testdata/prose.txt"

const (
	mostText = 100 // columns of comments and Markdown
	mostCode = 120
)

func TestProse(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "-C", root, "ls-files", "*.go", "*.md").Output()
	if err != nil {
		t.Skip("no repository, but an archive: which files are the project's is not known")
	}
	words, marks, long := map[string]int{}, map[string]int{}, map[string]int{}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if strings.Contains(name, "testdata/") || slices.Contains(generated, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // removed, and not committed
		}
		dir := path.Dir(name)
		prose, n := markdown(string(text)), longLines(string(text))
		if path.Ext(name) == ".go" {
			prose, n = goProse(text)
		}
		words[dir] += len(strings.Fields(prose))
		marks[dir] += len(markers.FindAllString(prose, -1))
		long[dir] += n
	}
	if len(words) < 40 {
		t.Fatalf("found %d folders, expected the whole tree", len(words))
	}
	var now strings.Builder
	was := read(t)
	for _, dir := range slices.Sorted(maps.Keys(words)) {
		rate := 0
		if words[dir] >= 150 {
			rate = (marks[dir]*1000 + words[dir] - 1) / words[dir]
		}
		limit := was[dir]
		if rate > max(mostMarkers, limit[0]) {
			t.Errorf("%s has %d markers in %d words, %d in a thousand, expected %d at most: %q ...", dir, marks[dir],
				words[dir], rate, max(mostMarkers, limit[0]), example(t, dir))
		}
		if long[dir] > limit[1] {
			t.Errorf("%s has %d lines above %d columns of text or %d of code, expected %d at most", dir, long[dir],
				mostText, mostCode, limit[1])
		}
		if rate > mostMarkers || long[dir] > 0 {
			fmt.Fprintf(&now, "%s %d %d\n", dir, max(rate, mostMarkers), long[dir])
		}
	}
	if *update {
		if err := os.WriteFile(proseFile, []byte(now.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns the limits of folders: markers in a thousand words, and long lines.
func read(t *testing.T) map[string][2]int {
	t.Helper()
	limits := map[string][2]int{}
	text, err := os.ReadFile(proseFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var dir string
		var limit [2]int
		if _, err := fmt.Sscan(line, &dir, &limit[0], &limit[1]); err != nil {
			t.Fatalf("%s: found %q, expected a folder and two numbers", proseFile, line)
		}
		limits[dir] = limit
	}
	return limits
}

// example are some of a folder's markers.
func example(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(root, dir, "*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || filepath.Ext(file) != ".go" && filepath.Ext(file) != ".md" {
			continue
		}
		prose := markdown(string(text))
		if filepath.Ext(file) == ".go" {
			prose, _ = goProse(text)
		}
		for _, m := range markers.FindAllStringIndex(prose, 3) {
			list = append(list, filepath.Base(file)+": "+strings.ReplaceAll(
				prose[max(0, m[0]-30):min(len(prose), m[1]+30)], "\n", " "))
		}
		if len(list) > 5 {
			break
		}
	}
	return list
}

var (
	fenced = regexp.MustCompile("(?s)```.*?```")
	quoted = regexp.MustCompile("`[^`]*`")
)

// markdown is the text of a document, without code.
func markdown(text string) string {
	var b strings.Builder
	for line := range strings.Lines(quoted.ReplaceAllString(fenced.ReplaceAllString(text, ""), "x")) {
		if !strings.HasPrefix(line, "    ") {
			b.WriteString(line)
		}
	}
	return joined(b.String())
}

// joined makes one line of each paragraph.
func joined(text string) string {
	return regexp.MustCompile(`([^\n])\n([^\n])`).ReplaceAllString(text, "$1 $2")
}

// longLines counts lines of Markdown that could be shorter: tables, code and links cannot.
func longLines(text string) (n int) {
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		line = strings.TrimRight(line, "\n")
		if utf8.RuneCountInString(line) > mostText && !strings.HasPrefix(line, "|") &&
			!strings.HasPrefix(line, "    ") &&
			strings.Count(strings.TrimSpace(line), " ") > 0 {
			n++
		}
	}
	return n
}

// goProse is the text of a file's comments, and how many of its lines are too long. A string that
// crosses the limit cannot be broken without being harder to find.
func goProse(text []byte) (prose string, long int) {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	lines := strings.Split(string(text), "\n")
	strs, notes := map[int]bool{}, map[int]bool{}
	var b strings.Builder
	last := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		at := file.Position(pos)
		switch tok {
		case token.STRING:
			for i := range strings.Count(lit, "\n") + 1 {
				strs[at.Line+i] = strs[at.Line+i] || i > 0 || at.Column+len(lit) > mostCode-2
			}
		case token.COMMENT:
			if strings.HasPrefix(lit, "//") && !strings.HasPrefix(lit, "//go:") && !strings.HasPrefix(lit, "//nolint") {
				if at.Line != last+1 {
					b.WriteString("\n")
				}
				last = at.Line
				b.WriteString(strings.TrimPrefix(lit, "//") + "\n")
				notes[at.Line] = strings.TrimSpace(lines[at.Line-1][:at.Column-1]) == ""
			}
		}
	}
	for i, line := range lines {
		columns, most := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")), mostCode
		if notes[i+1] {
			most = mostText
		}
		if columns > most && !strs[i+1] && !strings.Contains(line, "//go:") && !strings.Contains(line, "//nolint") {
			long++
		}
	}
	return joined(b.String()), long
}
