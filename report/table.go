package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
)

// table writes rows of cells in columns; the first column is aligned to the
// left, the others to the right unless left says otherwise.
type table struct {
	rows [][]string
	left map[int]bool
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table, each line after indent.
func (t *table) write(w io.Writer, indent string) error {
	width := map[int]int{}
	for _, r := range t.rows {
		for i, c := range r {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, r := range t.rows {
		line := indent
		for i, c := range r {
			if i > 0 {
				line += "\t"
			}
			if i > 0 && !t.left[i] {
				c = strings.Repeat(" ", width[i]-len([]rune(c))) + c
			}
			line += c
		}
		fmt.Fprintln(tw, strings.TrimRight(line, " \t"))
	}
	return tw.Flush()
}

// dur formats ns with three significant digits and a unit.
func dur[T ~int64](ns T) string {
	x, unit := float64(ns), "ns"
	for _, s := range []struct {
		above float64
		unit  string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if x >= s.above || x <= -s.above {
			x, unit = x/s.above, s.unit
			break
		}
	}
	switch {
	case unit == "ns":
		return fmt.Sprintf("%.0f%s", x, unit)
	case x >= 100 || x <= -100:
		return fmt.Sprintf("%.0f%s", x, unit)
	case x >= 10 || x <= -10:
		return fmt.Sprintf("%.1f%s", x, unit)
	}
	return fmt.Sprintf("%.2f%s", x, unit)
}

// percent of a whole; "-" where there is no whole.
func percent(part, whole int64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

// count formats a number with thousands apart.
func count[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bytesOf formats a number of bytes.
func bytesOf(n int64) string {
	x := float64(n)
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if x < 1024 {
			return fmt.Sprintf("%.4g %s", x, unit)
		}
		x /= 1024
	}
	return fmt.Sprintf("%.4g GiB", x)
}

// bar is a bar of up to width characters.
func bar(part, whole int64, width int) string {
	if whole <= 0 || part <= 0 {
		return ""
	}
	return strings.Repeat("#", int((part*int64(width)+whole/2)/whole))
}

// short is a name in at most so many letters: without the folders of its package's path
// where that does, else its end.
func short(name string, width int) string {
	if r := []rune(name); len(r) > width {
		name = local(name)
	}
	r := []rune(name)
	if len(r) <= width {
		return name
	}
	return "..." + string(r[len(r)-width+3:])
}

// local is a name without the folders of its package's path, as the source has it:
// "server.(*Peer).Flush"; a version keeps what stands before it.
func local(name string) string {
	head := name
	if i := strings.IndexAny(name, "([{ :"); i >= 0 {
		head = name[:i]
	}
	i := strings.LastIndexByte(head, '/')
	if i >= 0 && version.MatchString(head[i+1:]) {
		i = strings.LastIndexByte(head[:i], '/')
	}
	return name[i+1:]
}

var version = regexp.MustCompile(`^v[0-9]+\b`)
