// Package debug shows and changes, over HTTP, the recording of a running program
// that was built with qinst. Importing it registers its handlers with
// [http.DefaultServeMux], as net/http/pprof does:
//
//	import _ "qinst.dev/extensions/debug"
//
// GET /debug/qinst lists the points that were reached: level, hits, how many of them were traced
// and timed, and their limits; ?points=main.* selects points by name. With ?format=prometheus it
// has the calls of the first 50 procedures in Prometheus' text format, with ?format=json all as
// JSON. POST changes limits, each a
// form value as in QINST: main.f=1e4/s. All of them are changed, or none if one is not
// understood. GET /debug/qinst/trace?seconds=5 answers with a trace of the next five seconds:
// everything that the program has written so far, and a command to take only those for the trace.
// POST /debug/qinst/flight writes the contents of the flight recorder to a file, and answers with
// it.
//
// Only requests from the machine itself are served, and not those that a page of another site
// made a browser send. A reverse proxy on the machine makes every request look like the machine's
// own, so requests marked as forwarded are refused. A proxy that does not mark them must not pass
// on /debug/.
package debug

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"qinst.dev/extensions/qinst"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

func init() {
	http.HandleFunc("/debug/qinst", Points)
	http.HandleFunc("/debug/qinst/trace", Trace)
	http.HandleFunc("/debug/qinst/flight", Flight)
}

// program is the interface of the handlers to the program that they are part of.
type program struct {
	table    func(i int) (text string, base uint32, ok bool)
	point    func(point uint32) (hits, traced, timed uint64, level uint8, rate float64)
	flush    func() (path string)
	snapshot func() (path string)
	setRate  func(points, limit string) error

	checkRate func(points, limit string) (expected, nearest string)
	matches   func(pattern, name string) bool

	tracing atomic.Bool // a request waits for its seconds, or copies them
	flights struct {
		sync.Mutex
		paths []string // of files that requests made
	}
}

var running = &program{table: table, point: point, flush: flush, snapshot: qinst.Snapshot, setRate: qinst.SetRate,
	checkRate: checkRate, matches: matches}

// Points shows points, and changes their limits.
func Points(w http.ResponseWriter, r *http.Request) { running.points(w, r) }

// Trace answers with a trace of the next seconds.
func Trace(w http.ResponseWriter, r *http.Request) { running.trace(w, r) }

// Flight answers with the contents of the flight recorder. The file is kept, too.
func Flight(w http.ResponseWriter, r *http.Request) { running.flight(w, r) }

// State returns the points that were reached and can be traced, those with the most hits first.
// In a program that is not observed there are none.
func State() ([]Point, error) { return running.state() }

// Point is the state of one point.
type Point struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Level string `json:"level"` // off, count, time or trace
	Hits  uint64 `json:"hits"`
	// there may have been more hits: its procedure ran without probes at times
	Least  bool    `json:"hits_least,omitempty"`
	Traced uint64  `json:"traced"`
	Timed  uint64  `json:"timed"`
	Rate   float64 `json:"rate,omitempty"` // hits/s that its rule allows to be traced; 0: any
}

// admit refuses requests that must not be served, and gives the reason: other methods, other
// machines, and pages of other sites.
func admit(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	if err := local(r); err != nil {
		http.Error(w, "qinst: "+err.Error(), http.StatusForbidden)
		return false
	}
	if !slices.Contains(methods, r.Method) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		http.Error(w, fmt.Sprintf("qinst: found %s, expected %s", r.Method, strings.Join(methods, " or ")),
			http.StatusMethodNotAllowed)
		return false
	}
	return true
}

// local returns the reason why a request may not be this machine's own, nil if it is.
func local(r *http.Request) error {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err != nil || !loopback(host) {
		return fmt.Errorf("found a request from %q, expected one from this machine", r.RemoteAddr)
	}
	for name := range r.Header {
		if name == "Forwarded" || strings.HasPrefix(name, "X-Forwarded-") || name == "X-Real-Ip" {
			return fmt.Errorf("found the header %s, expected a request that no proxy has forwarded: who sent it cannot be said", name)
		}
	}
	// A page of another site may have a name of its own for this machine.
	name := r.Host
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	if name != "localhost" && !loopback(strings.Trim(name, "[]")) {
		return fmt.Errorf("found the host %q, expected localhost", r.Host)
	}
	// A page of another site must not even start a trace, because that costs the program work.
	if err := foreign(r); err != nil {
		return fmt.Errorf("found a request of another site's page, expected one of this site or of no page: %w", err)
	}
	return nil
}

func loopback(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLoopback()
}

func (p *program) points(w http.ResponseWriter, r *http.Request) {
	if !admit(w, r, http.MethodGet, http.MethodHead, http.MethodPost) {
		return
	}
	if r.Method == http.MethodPost {
		p.change(w, r)
		return
	}
	p.show(w, r)
}

// change changes limits, all or none.
func (p *program) change(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "qinst: "+err.Error(), http.StatusBadRequest)
		return
	}
	changes, err := p.changesOf(r.PostForm)
	if err != nil {
		http.Error(w, "qinst: "+err.Error(), http.StatusBadRequest)
		return
	}
	last := strings.LastIndexByte(changes, '=')
	if err := p.setRate(changes[:last], changes[last+1:]); err != nil {
		http.Error(w, "qinst: nothing is changed: the program has no room for that many limits",
			http.StatusInsufficientStorage)
		return
	}
	fmt.Fprintln(w, "ok")
}

// changesOf returns the changes that a form asks for as the program takes several at once:
// a line for each.
func (p *program) changesOf(form map[string][]string) (string, error) {
	if len(form) == 0 {
		return "", errors.New("found no form values, expected points and their limits, as in main.f=1e4/s")
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(form)) {
		limits := form[name]
		if name == "" || strings.ContainsAny(name, "=\n") {
			return "", fmt.Errorf("found points %q, expected a name, in which * stands for any characters", name)
		}
		if len(limits) != 1 {
			return "", fmt.Errorf("found %d limits for %s, expected one", len(limits), name)
		}
		if expected, nearest := p.checkRate(name, limits[0]); expected != "" {
			if nearest != "" {
				nearest = "; the nearest is " + nearest
			}
			return "", fmt.Errorf("found %s = %q, expected %s%s", name, limits[0], expected, nearest)
		}
		if strings.HasPrefix(limits[0], "+") {
			return "", fmt.Errorf("found a delay, %s=%s, expected a rate or a level: who can reach this page is not to make the program slower", name, limits[0])
		}
		lines = append(lines, name+"="+limits[0])
	}
	return strings.Join(lines, "\n"), nil
}

func (p *program) show(w http.ResponseWriter, r *http.Request) {
	points, err := p.state()
	if err != nil {
		http.Error(w, "qinst: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if pattern := r.FormValue("points"); pattern != "" {
		points = slices.DeleteFunc(points, func(pt Point) bool { return !p.matches(pattern, pt.Name) })
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") || r.FormValue("format") == "json" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(points)
		return
	}
	if r.FormValue("format") == "prometheus" {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		metrics(w, points)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "kind\tlevel\thits\ttraced\ttimed\tlimit\tname")
	for _, pt := range points {
		limit := "-"
		if pt.Rate > 0 {
			limit = fmt.Sprintf("%.4g/s", pt.Rate)
		}
		hits := strconv.FormatUint(pt.Hits, 10)
		if pt.Least {
			hits = "≥" + hits
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", pt.Kind, pt.Level, hits, pt.Traced, pt.Timed, limit, pt.Name)
	}
	_ = t.Flush()
}

func (p *program) state() ([]Point, error) {
	var points []Point
	for i := 0; ; i++ {
		text, base, ok := p.table(i)
		if !ok {
			break
		}
		rows, err := rowsOf(text)
		if err != nil {
			return nil, fmt.Errorf("table of points %d: %w", i, err)
		}
		of := make([]Point, len(rows))
		for k, r := range rows {
			hits, traced, timed, level, rate := p.point(base + uint32(k))
			of[k] = Point{r.name, r.kind, nameOf(level &^ least), hits, level&least != 0, traced, timed, rate}
		}
		sumCalls(rows, of)
		for k, r := range rows {
			if of[k].Hits > 0 && r.traceable() {
				points = append(points, of[k])
			}
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits),
			cmp.Compare(a.Name, b.Name))
	})
	return points, nil
}

// sumCalls adds up the hits of procedures that are counted where they are called. The calls of one
// may be counted by the activations of another, but such chains end: none of them calls itself.
func sumCalls(rows []row, points []Point) {
	sites := map[string][]int{}
	for k, r := range rows {
		if r.kind == spec.PointCall && r.flags&spec.FlagDerived == 0 {
			sites[r.name] = append(sites[r.name], k)
		}
	}
	done := map[int]bool{}
	var sum func(k int)
	sum = func(k int) {
		if rows[k].flags&spec.FlagSummed == 0 || done[k] {
			return
		}
		done[k] = true
		for _, site := range sites[rows[k].name] {
			by := rows[site].representative
			sum(by)
			points[k].Hits += points[by].Hits
			points[k].Least = points[k].Least || points[by].Least
		}
	}
	for k := range rows {
		sum(k)
	}
}

// least is added to a level by the program if the hits are a lower bound.
const least = 4

func nameOf(level uint8) string {
	levels := [...]string{"off", "count", "time", "trace"} // by the numbers of package ratecontrol
	if int(level) >= len(levels) {
		return "invalid"
	}
	return levels[level]
}

// row is a point in a package's table.
type row struct {
	kind, name, op string
	flags          uint64
	representative int
}

// traceable reports whether hits of the point can be events; the others are counted only.
func (r row) traceable() bool {
	switch r.kind {
	case spec.PointProc, spec.PointLoop, spec.PointRecord:
		return true
	}
	return r.kind == spec.PointSync && r.op != spec.OpDefault
}

// rowsOf reads kinds, names and operations of a package's points. Its table has the fields of a
// "probes" record after the first.
func rowsOf(text string) ([]row, error) {
	rec := spec.Records[spec.TagProbes-1]
	rec.Fields = rec.Fields[1:]
	values, err := sddf.DecodeValues([]byte(text), rec.Fields)
	if err != nil {
		return nil, err
	}
	table := &sddf.Packet{Record: &rec, Values: values}
	strs, err1 := sddf.Field[[]string](table, "strings")
	kinds, err2 := sddf.Field[[]string](table, "kind")
	names, err3 := sddf.Field[[]uint64](table, "name")
	ops, err4 := sddf.Field[[]uint64](table, "op")
	flags, err5 := sddf.Field[[]uint64](table, "flags")
	representatives, err6 := sddf.Field[[]uint64](table, "leader")
	if err := cmp.Or(err1, err2, err3, err4, err5, err6); err != nil {
		return nil, err
	}
	rows := make([]row, len(kinds))
	for i, kind := range kinds {
		if i >= min(len(names), len(ops), len(flags), len(representatives)) || names[i] >= uint64(len(strs)) ||
			ops[i] >= uint64(len(strs)) || representatives[i] >= uint64(len(kinds)) {
			return nil, fmt.Errorf("found %d kinds, %d names, %d operations, %d flags and %d representatives of %d strings, expected as many of each", len(kinds), len(names), len(ops), len(flags), len(representatives), len(strs))
		}
		rows[i] = row{kind, strs[names[i]], strs[ops[i]], flags[i], int(representatives[i])}
	}
	return rows, nil
}

func (p *program) trace(w http.ResponseWriter, r *http.Request) {
	if !admit(w, r, http.MethodGet) {
		return
	}
	seconds, err := strconv.ParseFloat(cmp.Or(r.FormValue("seconds"), "1"), 64)
	if err != nil || !(seconds > 0 && seconds <= 3600) { // NaN is neither
		http.Error(w, fmt.Sprintf("qinst: found seconds=%s, expected a number up to 3600", r.FormValue("seconds")),
			http.StatusBadRequest)
		return
	}
	if !p.tracing.CompareAndSwap(false, true) {
		http.Error(w, "qinst: found another request for a trace, expected one at a time: ask again when that has its answer", http.StatusTooManyRequests)
		return
	}
	defer p.tracing.Store(false)
	path := p.flush()
	if path == "" {
		http.Error(w, "qinst: the program writes no file that could be read: it was not built with qinst, or its output is a pipe", http.StatusNotFound)
		return
	}
	before, err := os.Stat(path)
	if err != nil {
		http.Error(w, "qinst: "+err.Error(), http.StatusInternalServerError)
		return
	}
	select {
	case <-time.After(time.Duration(seconds * 1e9)):
	case <-r.Context().Done():
		return
	}
	p.flush()
	send(w, func(w io.Writer) error { return part(w, path, before.Size()) })
}

// mostFlights bounds the files of earlier requests. Without a bound repeated requests would fill
// the disk, and the program cannot know which files are still needed.
const mostFlights = 16

func (p *program) flight(w http.ResponseWriter, r *http.Request) {
	if !admit(w, r, http.MethodPost) {
		return
	}
	path, err := p.newFlight()
	switch {
	case err != nil:
		http.Error(w, "qinst: "+err.Error(), http.StatusInsufficientStorage)
	case path == "":
		http.Error(w, "qinst: the program has no flight recorder: QINST=mode=flight starts it with one",
			http.StatusNotFound)
	default:
		send(w, func(w io.Writer) error {
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = io.Copy(w, file)
			return err
		})
	}
}

// newFlight writes the contents of the flight recorder to a new file, unless there are too many.
func (p *program) newFlight() (path string, err error) {
	f := &p.flights
	f.Lock()
	defer f.Unlock()
	f.paths = slices.DeleteFunc(f.paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
	if len(f.paths) >= mostFlights {
		return "", fmt.Errorf("found %d files of earlier requests, expected fewer: move or remove some, such as %s",
			len(f.paths), f.paths[0])
	}
	path = p.snapshot()
	if path != "" && !slices.Contains(f.paths, path) {
		f.paths = append(f.paths, path)
	}
	return path, nil
}

// send answers with a trace. If writing fails in the middle the connection must be broken: the
// status has been sent by then, and half a trace must not be taken for a whole one.
func send(w http.ResponseWriter, write func(io.Writer) error) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="trace.sddf"`)
	out := &counter{w: w}
	switch err := write(out); {
	case err == nil:
	case out.n == 0:
		w.Header().Del("Content-Disposition")
		http.Error(w, "qinst: "+err.Error(), http.StatusInternalServerError)
	default:
		panic(http.ErrAbortHandler) // net/http's way to break a connection, without a message
	}
}

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// part copies what a trace has so far, and the command to take for the trace only what
// came behind offset old. What happens at its beginning follows from all that was before,
// which takes a reader of traces to tell: no program is to link one.
func part(w io.Writer, path string, old int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if old > info.Size() {
		old = 0 // the file was begun anew meanwhile
	}
	from, to, size, err := span(file, info.Size(), old)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if _, err := io.Copy(w, io.NewSectionReader(file, 0, size)); err != nil { // in small pieces
		return err
	}
	_, err = w.Write(sddf.AppendCommand(nil, spec.CommandWindow, spec.Attr{Key: spec.WindowFrom, Value: from},
		spec.Attr{Key: spec.WindowTo, Value: to}))
	return err
}

// span finds the last readings of the clocks before offset old and before the end, in
// ticks, and how far the file is whole: its writer goes on, and may be amidst a packet.
func span(file io.ReaderAt, all, old int64) (from, to uint64, size int64, err error) {
	r, err := sddf.NewReader(file, all)
	if err != nil {
		return 0, 0, 0, err
	}
	if codec := r.Header().Codec(); codec != "" {
		return 0, 0, 0, fmt.Errorf("found a file compressed with codec %q, expected one as programs write them", codec)
	}
	r.Only(map[string][]string{clockRecord.Name: {"ticks"}})
	size = r.Header().Len
	for p, err := range r.Packets() {
		var damage *sddf.DamageError
		switch {
		case errors.As(err, &damage):
			continue
		case err != nil:
			return 0, 0, 0, err
		case p.Kind == spec.Data && p.Record != nil && p.Record.Tag == spec.TagClock:
			ticks, err := sddf.Field[uint64](p, "ticks")
			if err != nil {
				return 0, 0, 0, err
			}
			if to = ticks; p.Off < old || from == 0 {
				from = ticks
			}
		}
		size = p.Off + p.Len
	}
	if from == 0 || from >= to {
		return 0, 0, 0, fmt.Errorf("found no readings of the clocks, expected one before each end of the part: the program wrote nothing meanwhile")
	}
	return from, to, size, nil
}

var clockRecord = &spec.Records[spec.TagClock-1]
