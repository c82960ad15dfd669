package points

import (
	"bytes"
	"cmp"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Callers know which parameters of a procedure outlive its calls: what the others point to may be
// on their stacks. So a twin must not let more escape than its procedure does. The same holds for
// what closures hold, which their makers know, and in which order.

// Text is a file with probes.
type Text struct {
	Name  string // base name
	Bytes []byte
	Pairs []Pair
}

// Pair is where a declared function and its twin are in it.
type Pair struct {
	Name        string // the function's symbol
	Twin, Plain [2]int // offsets of the first byte and the one after the last
}

// variable is a variable, or an expression, in a function that has a twin.
type variable struct{ fn, line, name string }

// escapes is what the compiler says of it: for each time that it stands in the twin, and in the
// function, how it escapes from there.
type escapes struct{ twin, plain map[int][]string }

// wholly is how something escapes of which nothing is known when its function returns.
const wholly = "wholly"

// Messages of "compile -m -d=closure=1", and how a message with -L begins: with the place in the
// source, and that in the file that is compiled.
var (
	placed  = regexp.MustCompile(`^.+?:(\d+)(?::\d+)?\[([^\]]*):(\d+):(\d+)\]: (.+)$`)
	leaking = regexp.MustCompile(`^leaking param( content)?: (\S+)(.*)$`)
	moved   = regexp.MustCompile(`^moved to heap: (.+)$`)
	holds   = regexp.MustCompile(`^(?:heap|stack) closure, captured vars = (.+)$`)
	told    = regexp.MustCompile(`^(.+) (escapes to heap|does not escape)$`)
)

// Leaky returns the functions whose twins may let more escape than they do, or whose closures have
// variables in another order, by their symbols. report is what "compile -m -L -d=closure=1" says of
// texts, and results how results without a name begin in twins.
func Leaky(report []byte, texts []Text, results string) (list []string) {
	unnamed := regexp.MustCompile(`( to result )(?:~r|~b|` + regexp.QuoteMeta(results) + `)(\d+ level=)`)
	for v, e := range said(unnamed.ReplaceAll(report, []byte("$1$2")), texts) {
		if !e.alike(v) && !slices.Contains(list, v.fn) {
			list = append(list, v.fn)
		}
	}
	slices.Sort(list)
	return list
}

// said reads a report.
func said(report []byte, texts []Text) map[variable]*escapes {
	all, files := map[variable]*escapes{}, map[string]*located{}
	for i := range texts {
		files[texts[i].Name] = locate(&texts[i])
	}
	for line := range bytes.Lines(report) {
		m := placed.FindStringSubmatch(strings.TrimSuffix(string(line), "\n"))
		if m == nil {
			continue
		}
		file := files[path.Base(m[2])]
		at, pair := file.pair(m[3], m[4])
		if pair == nil || holds.MatchString(m[5]) && !bytes.HasPrefix(file.Bytes[at:], []byte("func")) {
			continue // the closure of a deferred call is not a literal
		}
		names, how := message(m[5])
		for _, name := range names {
			v := variable{pair.Name, m[1], name}
			if all[v] == nil {
				all[v] = &escapes{map[int][]string{}, map[int][]string{}}
			}
			in := all[v].plain
			if within(at, pair.Twin) {
				in = all[v].twin
			}
			in[at] = append(in[at], how)
		}
	}
	return all
}

// message returns what a message is about, and how that escapes, "" if it does not. A value that is
// converted is called as its variable is, and gets parentheses here.
func message(text string) (names []string, how string) {
	if m := leaking.FindStringSubmatch(text); m != nil {
		return m[2:3], cmp.Or(m[1]+m[3], wholly)
	}
	if m := moved.FindStringSubmatch(text); m != nil {
		return m[1:2], wholly
	}
	if m := holds.FindStringSubmatch(text); m != nil {
		return []string{"(closure)"}, m[1]
	}
	if m := told.FindStringSubmatch(text); m != nil {
		value := "(" + m[1] + ")"
		if m[2] == "escapes to heap" {
			return []string{value}, wholly
		}
		return []string{m[1], value}, ""
	}
	return nil, ""
}

// alike reports whether a variable escapes from the function at least as it does from the twin,
// which may let less escape: it is not recursive, because it calls its function. A variable must be
// in both. Expressions may be in a probe or an inlined call, and several of a line may be called
// alike.
func (e *escapes) alike(v variable) bool {
	named := token.IsIdentifier(v.name) && types.Universe.Lookup(v.name) == nil
	if len(e.plain) == 0 || len(e.twin) == 0 {
		return !named
	}
	for _, twin := range e.twin {
		for _, how := range twin {
			as := 0
			for _, plain := range e.plain {
				if how == "" || slices.Contains(plain, how) || slices.Contains(plain, wholly) {
					as++
				}
			}
			if as == 0 || named && as < len(e.plain) {
				return false
			}
		}
	}
	return true
}

// located finds pairs in a text.
type located struct {
	*Text
	lines []int // offsets of their beginnings
}

func locate(t *Text) *located {
	l := &located{t, []int{0}}
	for i, c := range t.Bytes {
		if c == '\n' {
			l.lines = append(l.lines, i+1)
		}
	}
	return l
}

func within(at int, section [2]int) bool { return section[0] <= at && at < section[1] }

// pair returns the pair at a line and a column, which count from 1, and the offset of that place.
func (l *located) pair(line, column string) (at int, p *Pair) {
	row, err := strconv.Atoi(line)
	col, err2 := strconv.Atoi(column)
	if l == nil || err != nil || err2 != nil || row < 1 || row > len(l.lines) {
		return 0, nil
	}
	at = l.lines[row-1] + col - 1
	for i := range l.Pairs {
		if p := &l.Pairs[i]; within(at, p.Twin) || within(at, p.Plain) {
			return at, p
		}
	}
	return at, nil
}
