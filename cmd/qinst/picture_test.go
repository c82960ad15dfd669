package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// firstPageMarks are the parts of the report's first page that docs/guide/read-report.md explains,
// by number, in the order of lines.
var firstPageMarks = []*regexp.Regexp{
	regexp.MustCompile(`^ran .* on average`),
	regexp.MustCompile(`\w+ the work of \S+ \(\S+\)`),
	regexp.MustCompile(`[\d.]+ % of the run \(.*\)`),
	regexp.MustCompile(`Gain: .* at most`),
	regexp.MustCompile(`1 +\S+ +\S+%  #+`),
	regexp.MustCompile(`self npt +%`),
	regexp.MustCompile(`main\.worker .*`),
}

// The picture of the first page is made of the report of a kept trace. -update-guide writes it.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	var out, talk bytes.Buffer
	root := filepath.Join("..", "..")
	trace := filepath.Join(root, "testdata", "kept", "quicksort.sddf")
	if err := dispatch(newEnv(&out, &talk), []string{"report", "-all", trace}); err != nil {
		t.Fatal(err)
	}
	page, marked := firstPage(out.String())
	if marked != len(firstPageMarks) {
		t.Fatalf("found %d marks in the report, expected %d", marked, len(firstPageMarks))
	}
	file := filepath.Join(root, "docs", "images", "first-page.svg")
	if *updateGuide {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != page {
		t.Errorf("%s is not what the report says (%v); -update-guide writes it", file, err)
	}
}

// firstPage draws a report up to the last mark.
func firstPage(report string) (picture string, marked int) {
	const column, line, left = 7.8, 18, 34
	var b strings.Builder
	y := line
	for text := range strings.Lines(report) {
		text = strings.TrimRight(text, "\n")
		if marked == len(firstPageMarks) {
			break
		}
		y += line
		if at := firstPageMarks[marked].FindStringIndex(text); at != nil {
			marked++
			fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", left+column*float64(at[0]),
				y-13, column*float64(at[1]-at[0]), line-1)
			fmt.Fprintf(&b, "<circle cx=\"16\" cy=\"%d\" r=\"10\"/><text class=\"n\" x=\"16\" y=\"%d\">%d</text>\n", y-4, y, marked)
		}
		if text == "" {
			continue
		}
		var escaped strings.Builder
		_ = xml.EscapeText(&escaped, []byte(text)) // a strings.Builder takes all
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" textLength=\"%.1f\" xml:space=\"preserve\">%s</text>\n", left, y,
			column*float64(len([]rune(text))), escaped.String())
	}
	const width = 980
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d">
<style>text { font: 13px monospace; fill: #222 } rect { fill: #ffe9a8 } circle { fill: #b3261e }
.n { fill: #fff; font: bold 13px sans-serif; text-anchor: middle }</style>
<path fill="#fff" d="M0 0h%dv%dH0z"/>
%s</svg>
`, width, y+line, width, y+line, b.String()), marked
}
