package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// offers are what completion offers as the value of a flag: words, or the names of a kind that a
// trace has.
type offers struct {
	words []string
	names string
}

// offer says that the values of a flag are these words, or begin with one of them.
func (f *flagSet) offer(name string, words ...string) {
	if f.offers == nil {
		f.offers = map[string]offers{}
	}
	f.offers[name] = offers{words: words}
}

// offerNames says that the value of a flag is a name of a kind that the trace has: see [namesIn].
func (f *flagSet) offerNames(kind string, flags ...string) {
	for _, name := range flags {
		f.offer(name)
		f.offers[name] = offers{names: kind}
	}
}

// offered calls do for the flags of a command whose values completion knows, in the order of their
// names.
func (c completed) offered(do func(flag string, o offers)) {
	for _, name := range slices.Sorted(maps.Keys(c.offers)) {
		do(name, c.offers[name])
	}
}

// namesIn are the names in a trace that a flag takes, by kind.
var namesIn = map[string]func(t *trace.Tables) []string{
	"procedures": func(t *trace.Tables) []string { return pointNames(t, "", spec.PointProc) },
	"entries": func(t *trace.Tables) []string {
		return pointNames(t, "", spec.PointProc, spec.PointLoop, spec.PointSync)
	},
	"changes": func(t *trace.Tables) []string {
		return append(pointNames(t, "", spec.PointProc), pointNames(t, "hold:", spec.PointSync)...)
	},
}

// pointNames are the names of points of some kinds, after a prefix, those that were reached only.
func pointNames(t *trace.Tables, prefix string, kinds ...string) (list []string) {
	for i := range t.Points {
		if p := &t.Points[i]; p.Hits+p.Traced > 0 && p.Name != "" && slices.Contains(kinds, p.Kind) {
			list = append(list, prefix+t.NameOf(trace.PointID(i)))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// offerFrom prints the names of a kind that the first trace among the words of a command line has,
// one a line; without a file there, those of the newest trace of the working directory. Shells call
// this while their user types: where there is no such trace there are no names, and no message.
func offerFrom(e *env, kind string, words []string) error {
	of := namesIn[kind]
	if of == nil {
		return usageError{fmt.Errorf("completion: found %q, expected one of %s", kind,
			strings.Join(slices.Sorted(maps.Keys(namesIn)), ", "))}
	}
	newest, _ := newestOf(tracesIn("."))
	for _, file := range append(words, newest) {
		if ext := filepath.Ext(file); ext != ".sddf" && !numbered.MatchString(file) {
			continue
		}
		t, err := trace.Open(file)
		if err != nil {
			continue
		}
		defer t.Close()
		for _, name := range of(t.Tables()) {
			fmt.Fprintln(e.stdout, name)
		}
		return nil
	}
	return nil
}
