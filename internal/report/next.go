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
		t.Row(Command(append(n.Args, file)...), n.Why)
	}
	s.Table(t)
}

// Command is a command line of qinst, as a shell takes it.
func Command(args ...string) string {
	words := []string{"qinst"}
	for _, a := range args {
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plain = regexp.MustCompile(`^[-+=:,.%@/\w]+$`)
