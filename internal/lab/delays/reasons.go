package delays

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"strings"

	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// why is the reason why a rule selects nothing that can be delayed, from a program's binary and its
// run.
func (f *found) why(rule, program string) string {
	kind, pattern, ok := strings.Cut(rule, ":")
	if !ok {
		kind, pattern = "", rule
	}
	var points []*trace.Point
	var list []string
	for i := range f.t.Points {
		p := &f.t.Points[i]
		list = append(list, p.Name)
		if is(p, kind, pattern) && slices.Contains([]string{spec.PointProc, spec.PointLoop, spec.PointSync}, p.Kind) {
			points = append(points, p)
		}
	}
	build := "; a build with -toolexec 'qinst -factors=" + pattern + "' gives it a probe"
	switch {
	case slices.ContainsFunc(points, delayable):
		return "it was not reached in the first run; expected arguments that reach it"
	case slices.ContainsFunc(points, (*trace.Point).Small):
		return "it is a small procedure, which is only counted" + build
	case len(points) > 0:
		return fmt.Sprintf("found a %s, which cannot be delayed; expected a procedure, a loop or a lock",
			points[0].Kind)
	}
	b := functionsOf(program)
	switch {
	case b.real[pattern]:
		return "it has no probe; qinst points says why, and which packages have some"
	case b.all[pattern]:
		return "the compiler inlines it, so that it has no probe" + build
	}
	for _, list := range [][]string{list, slices.Sorted(maps.Keys(b.all))} {
		if near := names.Nearest(pattern, list); near != "" {
			return "the program has no such part; the nearest is " + near
		}
	}
	return "the program has no such part; expected a procedure such as main.f, a loop, or a lock such as hold:main.mu (qinst points lists them)"
}

// functions are the names of a binary's functions: all, with those that are inlined wherever they
// are called, and those that have text of their own.
type functions struct{ all, real map[string]bool }

// functionsOf reads them from the runtime's table of functions, which a stripped binary has, too.
// An unreadable file has none.
func functionsOf(program string) functions {
	b := functions{map[string]bool{}, map[string]bool{}}
	f, err := elf.Open(program)
	if err != nil {
		return b
	}
	defer f.Close()
	symbols, _ := f.Symbols() // a stripped binary has none
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			b.real[names.Of(s.Name)] = true
		}
	}
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} { // of a position-independent executable
		s := f.Section(name)
		if s == nil {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		for word := range bytes.SplitSeq(data, []byte{0}) {
			if i := bytes.IndexByte(word, '.'); i > 0 && len(word) < mostName && printable(word) {
				b.all[names.Of(string(word))] = true
			}
		}
	}
	return b
}

const mostName = 300 // bytes of a name: the table has other things than names, too

func printable(word []byte) bool {
	return !bytes.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0xfffd })
}
