package toolexec

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// escapes returns the command with which the compiler also reports what escapes, and what closures
// hold, with the places in the files that it compiles. It then generates code with one thread.
func (c *command) escapes() *command {
	with := *c
	with.flags = slices.Concat(c.flags, []string{"-c=1", "-d=closure=1"})
	for _, flag := range []string{"-L", "-m"} {
		if !c.reports(flag) {
			with.flags = append(with.flags, flag)
		}
	}
	return &with
}

// reports reports whether a flag that may have a number is set.
func (c *command) reports(flag string) bool {
	return slices.ContainsFunc(c.flags, func(a string) bool {
		a, _, _ = strings.Cut(a, "=")
		return a == flag || a == "-"+flag
	})
}

var (
	// Messages about variables of a range over a function have no position.
	decision = regexp.MustCompile(`(?:^|: )(can inline |inlining call to |leaking param|moved to heap: |(partially )?devirtualizing |` +
		`PGO devirtualize |closure converted to global|(heap|stack) closure, captured vars = |assuming .* is unsafe uintptr|marking .* as escaping|.* ignoring self-assignment in )|` +
		`: (.* )?(does not escape|escapes to heap|bounds check elided|imprecise interface call|zero-copy string->\[\]byte conversion)$`)
	origin = regexp.MustCompile(`^([^\[\]]*:\d+)\[[^\[\]]*:\d+:\d+\]: `)
)

// unasked removes what escapes added to the compiler's output.
func (c *command) unasked(out []byte) (asked []byte) {
	for line := range bytes.Lines(out) {
		if !c.reports("-m") && decision.Match(bytes.TrimSuffix(line, []byte("\n"))) {
			continue
		}
		if !c.reports("-L") {
			line = origin.ReplaceAll(line, []byte("$1: "))
		}
		asked = append(asked, line...)
	}
	return asked
}
