package report

import (
	"regexp"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/report/doc"
)

// Next ends a page with the name of its trace and the commands for more.
func Next(d *doc.Doc, f *advice.Facts, file string) {
	s := d.Add("next", "What to ask next")
	s.Say("trace: %s", file)
	t := doc.NewTable().Left(1)
	for _, n := range advice.NextOf(f) {
		words := []string{"qinst"}
		for _, a := range append(n.Args, file) {
			words = append(words, quoted(a))
		}
		t.Row(strings.Join(words, " "), n.Why)
	}
	s.Table(t)
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plain = regexp.MustCompile(`^[-+=:,.%@/\w]+$`)
