// Package collapsed writes a profile as collapsed stacks, one a line, for flame graph scripts,
// speedscope and others: names of procedures from the outside in, separated by semicolons, and a
// number.
//
//	a call path            a line; paths lead through goroutines to their creators
//	its own time           the number: normalized processor time in ns
//	no processor was busy  a line "[no processor busy]", so that all numbers add up to the run
//
// Lost are places in the source, all other times, and names of objects. Of a name with a semicolon
// or a line break these become spaces.
package collapsed

import (
	"bufio"
	"io"
	"strconv"
	"strings"

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
				path = append(path, plain.Replace(st.Frames[n-1-i].Name))
			}
		}
		line(w, strings.Join(path, ";"), st.NPT)
	}
	if p.Idle > 0 {
		line(w, Idle, p.Idle)
	}
	return w.Flush()
}

var plain = strings.NewReplacer(";", " ", "\n", " ", "\r", " ")

// line writes one. The first error stays in the buffer.
func line(w *bufio.Writer, path string, n int64) {
	_, _ = w.WriteString(path)
	_ = w.WriteByte(' ')
	_, _ = w.WriteString(strconv.FormatInt(n, 10))
	_ = w.WriteByte('\n')
}
