// Package measure formats measurements for people: times, shares, counts, bytes and names.
package measure

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Time formats ns with three significant digits and a unit.
func Time[T ~int64](ns T) string {
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

// Percent returns a part of a whole; "-" if there is no whole. Ten times a whole is no part of it,
// and its number is meaningless.
func Percent(part, whole int64) string {
	switch {
	case whole <= 0:
		return "-"
	case part/10 >= whole:
		return ">999%"
	}
	percent := 100 * float64(part) / float64(whole)
	if math.Abs(percent) < 0.05 {
		percent = 0 // not -0.0
	}
	return fmt.Sprintf("%.1f%%", percent)
}

// Change formats a change in percent, with its sign. A change that rounds to 0 is no decrease.
func Change(percent float64) string {
	if math.Abs(percent) < 0.05 {
		percent = 0
	}
	return fmt.Sprintf("%+.1f", percent)
}

// Count formats a number with thousands apart.
func Count[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes formats a number of bytes.
func Bytes(n int64) string {
	x := float64(n)
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if x < 1024 {
			return fmt.Sprintf("%.4g %s", x, unit)
		}
		x /= 1024
	}
	return fmt.Sprintf("%.4g GiB", x)
}

// Bar is a bar of up to width characters, whatever the numbers are: they may come from a file that
// makes no sense.
func Bar(part, whole int64, width int) string {
	switch {
	case whole <= 0 || part <= 0:
		return ""
	case part >= whole:
		return strings.Repeat("#", width)
	}
	hi, lo := bits.Mul64(uint64(part), uint64(width))
	lo, carry := bits.Add64(lo, uint64(whole/2), 0)
	n, _ := bits.Div64(hi+carry, lo, uint64(whole)) // below width, since part is below whole
	return strings.Repeat("#", int(n))
}

// Short returns a name in at most width letters: without the folders of its package's path if
// that is enough, otherwise its end.
func Short(name string, width int) string {
	if r := []rune(name); len(r) > width {
		name = Local(name)
	}
	r := []rune(name)
	if len(r) <= width {
		return name
	}
	return "..." + string(r[len(r)-width+3:])
}

// Visible returns a text from a trace as it may be shown. Programs choose names: a terminal takes
// some characters for commands, others hide text or turn it around, and a line break would let a
// name pass for a line of the report. They are shown as Go writes them in a string.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether a character has an effect in place of a form.
func hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// Local returns a name without the folders of its package's path, as the source has it:
// "server.(*Peer).Flush". The element before a version is kept.
func Local(name string) string {
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

// Ratio returns a over b, 0 if b is 0.
func Ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
