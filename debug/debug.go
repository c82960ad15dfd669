// Package debug shows and changes, over HTTP, what is recorded of a running program
// that was built with qinst. Importing it registers its handlers with
// [http.DefaultServeMux], as net/http/pprof does:
//
//	import _ "qinst.dev/debug"
//
// GET /debug/qinst lists the points that were reached: level, hits, how many of them
// were traced and timed, and what limits them; ?points=main.* only those of a name.
// POST changes limits, each a form value as in QINST: main.f=1e4/s. GET
// /debug/qinst/trace?seconds=5 answers with a trace of the next five seconds, and
// /debug/qinst/flight with what a flight recorder has kept.
//
// Only requests from the machine itself are served.
package debug

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"qinst.dev"
	"qinst.dev/ratecontrol"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

func init() {
	http.HandleFunc("/debug/qinst", Points)
	http.HandleFunc("/debug/qinst/trace", Trace)
	http.HandleFunc("/debug/qinst/flight", Flight)
}

// Point is the state of one point.
type Point struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	Level  string  `json:"level"` // off, count, time or trace
	Hits   uint64  `json:"hits"`
	Traced uint64  `json:"traced"`
	Timed  uint64  `json:"timed"`
	Rate   float64 `json:"rate,omitempty"` // hits/s that its rule allows to be traced; 0: any
}

// local refuses requests from other machines, and those that a page of another site
// makes a browser send.
func local(w http.ResponseWriter, r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		http.Error(w, "qinst: only this machine may ask", http.StatusForbidden)
		return false
	}
	name := r.Host
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	if ip := net.ParseIP(strings.Trim(name, "[]")); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		http.Error(w, fmt.Sprintf("qinst: found the host %q, expected localhost", r.Host), http.StatusForbidden)
		return false
	}
	return true
}

// Points shows points, and changes their limits.
func Points(w http.ResponseWriter, r *http.Request) {
	if !local(w, r) {
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		show(w, r)
	case http.MethodPost:
		change(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, fmt.Sprintf("qinst: found %s, expected GET or POST", r.Method), http.StatusMethodNotAllowed)
	}
}

func change(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "qinst: "+err.Error(), http.StatusBadRequest)
		return
	}
	if len(r.PostForm) == 0 {
		http.Error(w, "qinst: found no form values, expected points and their limits, as in main.f=1e4/s", http.StatusBadRequest)
		return
	}
	for _, name := range slices.Sorted(mapKeys(r.PostForm)) {
		if err := qinst.SetRate(name, r.PostForm.Get(name)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	fmt.Fprintln(w, "ok")
}

func mapKeys(m map[string][]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func show(w http.ResponseWriter, r *http.Request) {
	points, err := State()
	if err != nil {
		http.Error(w, "qinst: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if pattern := r.FormValue("points"); pattern != "" {
		points = slices.DeleteFunc(points, func(p Point) bool { return !ratecontrol.Matches(pattern, p.Name) })
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") || r.FormValue("format") == "json" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(points)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "kind\tlevel\thits\ttraced\ttimed\tlimit\tname")
	for _, p := range points {
		limit := "-"
		if p.Rate > 0 {
			limit = fmt.Sprintf("%.4g/s", p.Rate)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%s\t%s\n", p.Kind, p.Level, p.Hits, p.Traced, p.Timed, limit, p.Name)
	}
	_ = t.Flush()
}

// State returns the points that were reached and can be traced, those with most hits
// first. In a program that is not observed there are none.
func State() ([]Point, error) {
	var points []Point
	for i := 0; ; i++ {
		text, base, ok := table(i)
		if !ok {
			break
		}
		kinds, names, err := columns(text)
		if err != nil {
			return nil, err
		}
		for k, kind := range kinds {
			hits, traced, timed, level, rate := point(base + uint32(k))
			if hits == 0 || !(&trace.Point{Kind: kind}).Traceable() && kind != spec.PointSync {
				continue
			}
			points = append(points, Point{names[k], kind, trace.Level(level).String(), hits, traced, timed, rate})
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.Name, b.Name)) })
	return points, nil
}

// columns reads the kinds and names of a package's table: the fields of a "probes"
// record behind the first.
func columns(text string) (kinds, names []string, err error) {
	rec := spec.Records[spec.TagProbes-1]
	data := sddf.AppendHeader(nil, "qinst")
	data = sddf.AppendDescriptor(data, &rec)
	data = append(data, 0x90|byte(2+len(rec.Fields)), byte(spec.Data), spec.TagProbes, 0)
	data = append(data, text...)
	r, err := sddf.NewReader(strings.NewReader(string(data)), int64(len(data)))
	if err != nil {
		return nil, nil, err
	}
	for p, err := range r.Records() {
		if err != nil {
			return nil, nil, err
		}
		strs, err1 := sddf.Field[[]string](p, "strings")
		kinds, err2 := sddf.Field[[]string](p, "kind")
		indexes, err3 := sddf.Field[[]uint64](p, "name")
		if err := cmp.Or(err1, err2, err3); err != nil {
			return nil, nil, err
		}
		for _, i := range indexes {
			names = append(names, strs[i])
		}
		return kinds, names, nil
	}
	return nil, nil, fmt.Errorf("a table of points without a record")
}

// Trace answers with a trace of the next seconds.
func Trace(w http.ResponseWriter, r *http.Request) {
	if !local(w, r) {
		return
	}
	seconds, err := strconv.ParseFloat(cmp.Or(r.FormValue("seconds"), "1"), 64)
	if err != nil || seconds <= 0 || seconds > 3600 {
		http.Error(w, fmt.Sprintf("qinst: found seconds=%s, expected a number up to 3600", r.FormValue("seconds")), http.StatusBadRequest)
		return
	}
	path := flush()
	if path == "" {
		http.Error(w, "qinst: the program writes no file that could be read: it was not built with qinst, or its output is a pipe", http.StatusNotFound)
		return
	}
	from, err := length(path)
	if err == nil {
		select {
		case <-time.After(time.Duration(seconds * 1e9)):
		case <-r.Context().Done():
			return
		}
		flush()
		err = cut(w, path, from)
	}
	if err != nil {
		http.Error(w, "qinst: "+err.Error(), http.StatusInternalServerError)
	}
}

// Flight answers with what the flight recorder has kept; the file stays, too.
func Flight(w http.ResponseWriter, r *http.Request) {
	if !local(w, r) {
		return
	}
	path := qinst.Snapshot()
	if path == "" {
		http.Error(w, "qinst: the program has no flight recorder: QINST=mode=flight starts it with one", http.StatusNotFound)
		return
	}
	header(w)
	http.ServeFile(w, r, path)
}

func header(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="trace.sddf"`)
}

// length is how far a trace reaches so far, in ns.
func length(path string) (int64, error) {
	t, err := trace.Open(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	return int64(t.Wall()), nil
}

func cut(w http.ResponseWriter, path string, from int64) error {
	t, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer t.Close()
	header(w)
	return t.Cut(w, trace.Time(from), t.Wall())
}
