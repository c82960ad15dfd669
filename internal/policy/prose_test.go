package policy

import (
	"go/scanner"
	"go/token"
	"math"
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

// fewWords are too few to count markers in.
const fewWords = 150

// generated are documents that are written from other files, which are looked at themselves.
var generated = []string{"docs/RESULTS.md", "docs/guide/commands.md"}

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
	words, marks := map[string]int{}, map[string]int{}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if strings.Contains(name, "testdata/") || slices.Contains(generated, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // removed, and not committed
		}
		prose, long := markdown(string(text)), longLines(string(text))
		if path.Ext(name) == ".go" {
			prose, long = goProse(text)
		}
		words[path.Dir(name)] += len(strings.Fields(prose))
		marks[path.Dir(name)] += len(markers.FindAllString(prose, -1))
		for _, line := range long {
			t.Errorf("%s:%d has more than %d columns of text or %d of code", name, line, mostText, mostCode)
		}
	}
	if len(words) < 40 {
		t.Fatalf("found %d folders, expected the whole tree", len(words))
	}
	for dir, n := range words {
		if n >= fewWords && marks[dir]*1000 > mostMarkers*n {
			t.Errorf("%s has %d markers in %d words, expected %d in a thousand at most: %q ...", dir, marks[dir], n,
				mostMarkers, example(t, dir))
		}
	}
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

// longLines are the lines of Markdown that could be shorter: headings, tables, code and links
// cannot.
func longLines(text string) (long []int) {
	code := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		fixed := code || strings.HasPrefix(line, "    ") || line != "" && strings.Contains("|#", line[:1])
		if utf8.RuneCountInString(line) > mostText && !fixed && strings.Contains(strings.TrimSpace(line), " ") {
			long = append(long, i+1)
		}
	}
	return long
}

// goProse is the text of a file's comments, and the lines that are too long. Strings do not count:
// a message that is broken is harder to find. Nor does the output of examples.
func goProse(text []byte) (prose string, long []int) {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	lines := strings.Split(string(text), "\n")
	most := make([]int, len(lines)+1) // columns that a line may have
	for i := range most {
		most[i] = mostCode
	}
	var b strings.Builder
	for last, output := 0, false; ; {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		at := file.Position(pos).Line
		switch {
		case tok == token.STRING:
			for i, part := range strings.Split(lit, "\n") {
				most[at+i] = max(most[at+i], mostCode+utf8.RuneCountInString(part))
			}
		case tok == token.COMMENT && strings.HasPrefix(lit, "//"):
			directive := strings.HasPrefix(lit, "//go:") || strings.HasPrefix(lit, "//nolint")
			output = lit == "// Output:" || output && at == last+1
			switch alone := strings.HasPrefix(strings.TrimSpace(lines[at-1]), "//"); {
			case directive || output:
				most[at] = math.MaxInt
			case alone && !strings.HasPrefix(lit, "//\t"):
				most[at] = mostText
			}
			if at != last+1 {
				b.WriteString("\n")
			}
			last = at
			if !directive {
				b.WriteString(strings.TrimPrefix(lit, "//") + "\n")
			}
		}
	}
	for i, line := range lines {
		if utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) > most[i+1] {
			long = append(long, i+1)
		}
	}
	return joined(b.String()), long
}
