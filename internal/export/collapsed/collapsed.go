// Package collapsed writes a profile as collapsed stacks, one a line, for flame graph scripts,
// speedscope and others: names of procedures from the outside in, separated by semicolons, and a
// number.
//
//	a call path            a line; paths lead through goroutines to their creators
//	its own time           the number: normalized processor time in ns
//	no processor was busy  a line "[no processor busy]", so that all numbers add up to the run
//
// Lost are places in the source, all other times, and names of objects. Semicolons and control
// characters in names become spaces, and bytes that are no UTF-8 U+FFFD.
package collapsed

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unicode"

	"qinst.dev/internal/analysis/profile"
)

// Idle is the name of the time in which no processor was busy.
const Idle = "[no processor busy]"

// Write writes the stacks of a profile.
func Write(to io.Writer, p *profile.Profile) error {
	w := bufio.NewWriter(to)
	for st := range p.Stacks() {
		if st.NPT == 0 {
			continue
		}
		path := []string{"[no procedure]"}
		if n := len(st.Frames); n > 0 {
			path = path[:0]
			for i := range st.Frames {
				path = append(path, strings.Map(plain, st.Frames[n-1-i].Name))
			}
		}
		line(w, strings.Join(path, ";"), st.NPT)
	}
	if p.Idle > 0 {
		line(w, Idle, p.Idle)
	}
	return w.Flush()
}

// plain replaces what would end a name or a line, or would do something to a terminal.
func plain(r rune) rune {
	if r == ';' || unicode.IsControl(r) {
		return ' '
	}
	return r
}

// line writes one. The first error stays in the buffer.
func line(w *bufio.Writer, path string, n int64) {
	_, _ = w.WriteString(path)
	_ = w.WriteByte(' ')
	_, _ = w.WriteString(strconv.FormatInt(n, 10))
	_ = w.WriteByte('\n')
}
