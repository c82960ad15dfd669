package doc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"testing"
)

// sample has one of everything, and names that are markup.
func sample() *Doc {
	d := &Doc{Title: "p|q"}
	s := d.Add("summary", "")
	s.Say("ran %s", "1s")
	s.Note("a part is missing")
	a := d.Add("advice", "What to change first")
	a.List([]string{"shorten <b>", "split `x`"})
	t := NewTable("name", "time", "%", "at").Left(3)
	t.Row(Name("a/very/long/package.Procedure", 12), Time(int64(1_500_000)), Share(1, 4), "f.go:1")
	t.Row("main.f_g*", Time(int64(20)), Share(0, 0), "g.go:22")
	b := d.Add("procedures", "Procedures")
	b.Say("two of them")
	b.Detail("in detail")
	b.Warn("doubtful")
	b.Table(t)
	b.Table(NewTable("empty"))
	return d
}

// Colours are for terminals alone, and bytes of names are not among them.
func TestColoured(t *testing.T) {
	t.Parallel()
	d := &Doc{}
	s := d.Add("a", "Locks of \x1b[2J")
	s.Say("plain \x1b[2J")
	s.Warn("doubtful")
	for _, c := range []struct {
		coloured bool
		want     string
	}{
		{false, "LOCKS OF \\x1b[2J\n  plain \\x1b[2J\n  WARNING: doubtful\n"},
		{true, "\x1b[1mLOCKS OF \\x1b[2J\x1b[0m\n  plain \\x1b[2J\n\x1b[33m  WARNING: doubtful\x1b[0m\n"},
	} {
		d.Coloured = c.coloured
		var b bytes.Buffer
		if err := d.WriteText(&b); err != nil || b.String() != c.want {
			t.Errorf("coloured %t: found %q (%v), expected %q", c.coloured, b.String(), err, c.want)
		}
	}
}

// Each form shows what the model has: nothing of it is lost on the way.
func TestForms(t *testing.T) {
	t.Parallel()
	forms := map[string]struct {
		write func(*Doc, *bytes.Buffer) error
		want  string
	}{
		"text": {func(d *Doc, w *bytes.Buffer) error { return d.WriteText(w) }, `ran 1s
note: a part is missing

WHAT TO CHANGE FIRST
  1. shorten <b>
  2. split ` + "`x`" + `

PROCEDURES
  two of them
    in detail
  WARNING: doubtful
  name            time      %  at
  ...Procedure  1.50ms  25.0%  f.go:1
  main.f_g*       20ns      -  g.go:22
`},
		"markdown": {func(d *Doc, w *bytes.Buffer) error { return d.WriteMarkdown(w) }, `# p\|q

- ran 1s
- **note**: a part is missing

## What to change first

1. shorten &lt;b&gt;
2. split \` + "`x\\`" + `

<details><summary>Procedures</summary>

- two of them
  - in detail
- **warning**: doubtful

| name | time | % | at |
| --- | ---: | ---: | --- |
| ...Procedure | 1.50ms | 25.0% | f.go:1 |
| main.f\_g\* | 20ns | - | g.go:22 |


</details>

`},
	}
	for name, c := range forms {
		var out bytes.Buffer
		if err := c.write(sample(), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("%s:\n%s\nexpected:\n%s", name, &out, c.want)
		}
	}
}

// The JSON form has numbers with their units, and whole names.
func TestJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`["a/very/long/package.Procedure",1500000,0.25,"f.go:1"]`,
		`{"name":"time","unit":"ns"}`, `"kind":"warning"`, `"list":["shorten`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
}

// In the HTML form names are no markup, and a figure stands in place of what it shows.
func TestHTML(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Section("procedures").Figure("<svg></svg>")
	var out bytes.Buffer
	if err := d.WriteHTML(&out, Look{Style: "p {}", Script: "let x = 1;"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>p|q</h1>", "<li>shorten &lt;b&gt;</li>", "<svg></svg>", "let x = 1;",
		`class="note">a part is missing`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, &out)
		}
	}
	if strings.Contains(out.String(), "two of them") {
		t.Error("the figure's section is shown twice")
	}
	if d.Section("none") != nil {
		t.Error("found a section that does not exist")
	}
}

// Statements are broken for the terminal.
func TestColumns(t *testing.T) {
	t.Parallel()
	d := &Doc{}
	d.Add("run", "The run").Say("%s", strings.Repeat("a word and another ", 20))
	for _, columns := range []int{0, 60, 100} {
		d.Columns = columns
		var out strings.Builder
		if err := d.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		most := 0
		for line := range strings.Lines(out.String()) {
			most = max(most, len(strings.TrimSuffix(line, "\n")))
		}
		if want := cmp.Or(columns, 100); most > want || most < want-10 {
			t.Errorf("at %d columns the longest line has %d", want, most)
		}
	}
}

// On a terminal that is too narrow the numbers on the right are left out, places only after all
// numbers, and the columns that say what a row is about never. A line says which.
func TestWidth(t *testing.T) {
	t.Parallel()
	d := &Doc{}
	table := NewTable("name", "time", "", "waits", "held", "at", "").Left(5, 6)
	table.Row("main.f", "1.00ms", "5.0%", "12", "3.00us", "f.go:1", "why")
	d.Add("locks", "Locks").Table(table)
	bare := NewTable().Left(1)
	bare.Row("a command that is longer than the terminal", "what it does")
	d.Add("next", "Next").Table(bare)
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "  name      time        waits    held  at\n  main.f  1.00ms  5.0%     12  3.00us  f.go:1  why\n"},
		{50, "  name      time        waits    held  at\n  main.f  1.00ms  5.0%     12  3.00us  f.go:1  why\n"},
		{49, "  name      time        waits  at\n  main.f  1.00ms  5.0%     12  f.go:1  why\n" +
			"  without held: a wider terminal, or a pipe,\n  shows all columns\n"},
		{38, "  name      time        at\n  main.f  1.00ms  5.0%  f.go:1  why\n" +
			"  without waits, held: a wider\n  terminal, or a pipe, shows all\n  columns\n"},
		{20, "  name      time\n  main.f  1.00ms  5.0%  why\n" +
			"  without waits,\n  held, at: a wider\n  terminal, or a\n  pipe, shows all\n  columns\n"},
	} {
		d.Width = c.width
		var out strings.Builder
		if err := d.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		want := "LOCKS\n" + c.want + "\nNEXT\n  a command that is longer than the terminal  what it does\n"
		if out.String() != want {
			t.Errorf("%d columns: found\n%s\nexpected\n%s", c.width, out.String(), want)
		}
	}
}
