package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeManual writes the pages of the manual into a folder, which it makes: qinst.1, and one for
// each command. They are made from the table of commands, as the help is.
func writeManual(e *env, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	pages := map[string]func(roff){"qinst": overviewPage}
	for _, c := range commands() {
		pages["qinst-"+c.name] = c.manual
	}
	for name, page := range pages {
		err := replaceTo(e, filepath.Join(dir, name+".1"), true, func(w io.Writer) error {
			r := roff{new(strings.Builder)}
			fmt.Fprintf(r, ".TH %s 1 \"\" qinst\n", strings.ToUpper(name))
			page(r)
			_, err := io.WriteString(w, r.String())
			return err
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(e.stderr, "qinst: wrote %d pages to %s\n", len(pages), dir)
	return nil
}

// roff is a page of the manual in the language that man reads.
type roff struct{ *strings.Builder }

// plainRoff makes text without a meaning in roff. Hyphens become the ones that can be copied.
var plainRoff = strings.NewReplacer(`\`, `\e`, "-", `\-`)

// text writes a line of text. One that began with a dot or a quote would be a request.
func (r roff) text(s string) {
	s = plainRoff.Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	fmt.Fprintln(r, s)
}

func (r roff) section(title string) {
	fmt.Fprintf(r, ".SH \"%s\"\n", strings.ReplaceAll(title, `"`, "'"))
}

// prose writes paragraphs. Lines of one that is indented stay as they are: it is a table.
func (r roff) prose(s string) {
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		fmt.Fprintln(r, ".PP")
		table := strings.Contains("\n"+paragraph, "\n  ")
		if table {
			fmt.Fprintln(r, ".nf")
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			r.text(line)
		}
		if table {
			fmt.Fprintln(r, ".fi")
		}
	}
}

// tag writes what is explained, in bold, and the explanation.
func (r roff) tag(what, explained string) {
	fmt.Fprintln(r, ".TP")
	fmt.Fprintf(r, "\\fB%s\\fR\n", plainRoff.Replace(what))
	r.text(explained)
}

func overviewPage(r roff) {
	r.section("NAME")
	r.text("qinst - build Go programs that explain their own performance")
	r.section("SYNOPSIS")
	r.tag("qinst COMMAND [arguments]", "see qinst-COMMAND(1)")
	r.tag("go build -toolexec qinst [packages]", "build with probes")
	r.section("COMMANDS")
	for _, c := range commands() {
		r.tag("qinst-"+c.name+"(1)", capitalized(c.summary)+".")
	}
	r.section("ENVIRONMENT")
	r.tag("QINST", `Settings of programs with probes: "qinst help settings" lists them.`)
	r.tag("COLUMNS", "The width of the terminal, which tables fit.")
	r.tag("NO_COLOR", "If it is not empty there are no colours.")
	r.section("EXIT STATUS")
	r.text("0, 1 for a failure, 2 for a command line that says nothing to do or what cannot be done, and of a program that is run its own.")
}

// manual writes the page of a command.
func (c command) manual(r roff) {
	fs := newFlagSet(c.name)
	c.setup(fs)
	r.section("NAME")
	r.text("qinst-" + c.name + " - " + c.summary)
	r.section("SYNOPSIS")
	r.text(strings.TrimSpace("qinst " + c.name + " " + c.args))
	r.section("DESCRIPTION")
	r.prose(strings.TrimSuffix(capitalized(c.summary)+".\n\n"+c.about, "\n\n"))
	for _, g := range fs.groups {
		r.section(g.title)
		for _, name := range g.names {
			r.tag(flagLine(fs.Lookup(name)))
		}
	}
	r.section("EXAMPLES")
	for _, ex := range c.examples {
		r.tag("qinst "+ex[0], ex[1])
	}
	r.section("SEE ALSO")
	r.text("qinst(1)")
}

// flagLine is a flag with its value, and what it does.
func flagLine(fl *flag.Flag) (left, does string) {
	value, does := flag.UnquoteUsage(fl)
	left = "-" + fl.Name
	if value != "" && !isBool(fl) {
		left += " " + value
	}
	if fl.DefValue != "" && fl.DefValue != "0" && fl.DefValue != "0s" && fl.DefValue != "false" {
		does += " (default: " + fl.DefValue + ")"
	}
	return left, does
}
