package debug

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"qinst.dev/sddf/spec"
)

// mostSeries is how many procedures have a series of their own.
const mostSeries = 50

// metrics writes calls of procedures in Prometheus' text format, under the name that they have in
// "qinst export -to prometheus". The points are in the order of their hits: the first 50 names have
// series. There is no sum of the others, because a procedure that joins the first would reduce it.
func metrics(w io.Writer, points []Point) {
	var names []string
	calls := map[string]uint64{}
	for _, pt := range points {
		if pt.Kind != spec.PointProc {
			continue
		}
		if _, ok := calls[pt.Name]; !ok {
			names = append(names, pt.Name)
		}
		calls[pt.Name] += pt.Hits
	}
	const name = "qinst_procedure_calls_total"
	fmt.Fprintf(w, "# HELP %s Calls of the procedure so far. The first %d procedures by calls.\n# TYPE %[1]s counter\n",
		name, mostSeries)
	for _, p := range names[:min(len(names), mostSeries)] {
		fmt.Fprintf(w, "%s{procedure=\"%s\"} %d\n", name, escaped.Replace(strings.Map(shown, p)), calls[p])
	}
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// shown replaces what a terminal would obey.
func shown(r rune) rune {
	if unicode.IsControl(r) && r != '\n' {
		return utf8.RuneError
	}
	return r
}
