// Package prometheus writes the numbers of a profile in Prometheus' text format, for the textfile
// collector of its node exporter, a push gateway, or a file that a server offers. All times are in
// seconds.
//
//	the run                   qinst_run_seconds, qinst_gomaxprocs, qinst_goroutines_total
//	occupancy of processors   qinst_processors_busy_seconds_total, by how many were busy
//	a lock, channel ...       qinst_object_*: waits, holds, the time with a queue, its greatest length
//	a procedure               qinst_procedure_*: calls, normalized and busy processor time of its own,
//	                          time blocked and ready, and npt on its behalf
//	losses                    qinst_losses_total, by what was lost
//
// Objects are the first 50 by waits, procedures the first 50 by npt on their behalf. The sums of
// all others have the name "[others]", so that what is a procedure's own adds up: npt, with the
// time in which no processor was busy, to the run. Lost are call paths, distributions, intervals of
// estimates, the order in time, and the ends of names of more than 256 bytes.
package prometheus

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"qinst.dev/internal/analysis/profile"
)

// first is how many objects, and procedures, have series of their own.
const first = 50

// mostProcessors is how many processors that are busy at the same time have one.
const mostProcessors = 256

// mostName bounds the values of labels, in bytes.
const mostName = 256

// Write writes a profile.
func Write(to io.Writer, p *profile.Profile) error {
	w := bufio.NewWriter(to)
	for _, f := range families(p) {
		f.write(w)
	}
	return w.Flush()
}

// family is a metric with its series.
type family struct {
	name, kind, help string
	labels           []string
	series           []series
	index            map[string]int // of the series with some labels
}

type series struct {
	labels string // as they are written
	value  value
}

// value is a number, or a time in ns.
type value struct {
	n    int64
	time bool
	none bool // there is no such value
}

func (v value) String() string {
	if v.time {
		return strconv.FormatFloat(float64(v.n)/1e9, 'g', -1, 64)
	}
	return strconv.FormatInt(v.n, 10)
}

// add adds to the series with some values of the labels: names that are equal, perhaps because
// their ends are cut off, have one series.
func (f *family) add(v value, values ...string) {
	if v.none {
		return
	}
	var b strings.Builder
	for i, text := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.labels[i] + `="` + escaped.Replace(short(text)) + `"`)
	}
	labels := b.String()
	i, ok := f.index[labels]
	if !ok {
		if f.index == nil {
			f.index = map[string]int{}
		}
		i = len(f.series)
		f.index[labels], f.series = i, append(f.series, series{labels, value{time: v.time}})
	}
	f.series[i].value.n += v.n
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// short is a text that can be shown, cut off where it is too long.
func short(s string) string {
	if len(s) > mostName {
		end := mostName
		for end > mostName-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return utf8.RuneError // a terminal would obey it
		}
		return r
	}, s)
}

// write writes a family that has series. The first error stays in the buffer.
func (f *family) write(w *bufio.Writer) {
	if len(f.series) == 0 {
		return
	}
	_, _ = w.WriteString("# HELP " + f.name + " " + f.help + "\n# TYPE " + f.name + " " + f.kind + "\n")
	for _, s := range f.series {
		_, _ = w.WriteString(f.name)
		if s.labels != "" {
			_, _ = w.WriteString("{" + s.labels + "}")
		}
		_, _ = w.WriteString(" " + s.value.String() + "\n")
	}
}
