package debug

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// fake is a program that notes what it is asked for.
type fake struct {
	program
	tables  []string
	rates   []string // as setRate was called
	files   []string // that snapshot made
	flushed int
	dir     string
}

func newFake(t *testing.T) *fake {
	f := &fake{dir: t.TempDir()}
	f.table = func(i int) (string, uint32, bool) {
		if i >= len(f.tables) {
			return "", 0, false
		}
		return f.tables[i], uint32(10 * i), true
	}
	f.point = func(point uint32) (hits, traced, timed uint64, level uint8, rate float64) {
		level = 3 // trace
		if point == 1 {
			level += least
		}
		return uint64(point), 1, 2, level, 100
	}
	f.flush = func() string { f.flushed++; return "" }
	f.snapshot = func() string {
		path := filepath.Join(f.dir, fmt.Sprintf("f.sddf.%d", len(f.files)))
		if err := os.WriteFile(path, []byte("kept"), 0o666); err != nil {
			t.Error(err)
		}
		f.files = append(f.files, path)
		return path
	}
	f.setRate = func(points, limit string) error {
		f.rates = append(f.rates, points+"="+limit)
		return nil
	}
	f.checkRate = func(points, limit string) (expected, nearest string) {
		switch limit {
		case "conut":
			return "a rate", "count"
		case "quick":
			return "a rate", ""
		}
		return "", ""
	}
	f.matches = func(pattern, name string) bool {
		start, open := strings.CutSuffix(pattern, "*")
		return name == pattern || open && strings.HasPrefix(name, start)
	}
	return f
}

func (f *fake) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/qinst", f.points)
	mux.HandleFunc("/debug/qinst/trace", f.trace)
	mux.HandleFunc("/debug/qinst/flight", f.flight)
	return mux
}

// ask sends a request as a tool on the same machine does, but for what change says.
func (f *fake) ask(method, target, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:6060/debug/qinst"+target, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:40000"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	f.handler().ServeHTTP(w, r)
	return w
}

func (f *fake) touched() bool { return len(f.rates)+len(f.files)+f.flushed > 0 }

func with(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Who is not on this machine, or is a page of another site there, sees and changes
// nothing, whatever it asks.
func TestLocal(t *testing.T) {
	t.Parallel()
	both := func(list ...func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			for _, do := range list {
				do(r)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		ok     bool
	}{
		{"tool", nil, true},
		{"ipv6", both(func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:40000", "[::1]:6060" }), true},
		{"address", func(r *http.Request) { r.Host = "127.0.0.1" }, true},
		{"own page", both(with("Origin", "http://localhost:6060"), with("Sec-Fetch-Site", "same-origin")), true},
		{"typed address", with("Sec-Fetch-Site", "none"), true},

		{"other machine", func(r *http.Request) { r.RemoteAddr = "192.0.2.1:40000" }, false},
		{"no address", func(r *http.Request) { r.RemoteAddr = "@" }, false},
		{"other name", func(r *http.Request) { r.Host = "evil.example:6060" }, false},
		{"name with localhost", func(r *http.Request) { r.Host = "localhost.evil.example" }, false},
		{"page of another site", both(with("Origin", "https://evil.example"), with("Sec-Fetch-Site", "cross-site")),
			false},
		{"page of another port", both(with("Origin", "http://localhost:3000"), with("Sec-Fetch-Site", "same-site")),
			false},
		{"page in an old browser", with("Origin", "https://evil.example"), false},
		{"page without origin", with("Origin", "null"), false},
		{"image in a page", with("Sec-Fetch-Site", "cross-site"), false},
		{"proxy", with("X-Forwarded-For", "192.0.2.1"), false},
		{"proxy's host", with("X-Forwarded-Host", "prod.example"), false},
		{"proxy's protocol", with("X-Forwarded-Proto", "https"), false},
		{"proxy by the standard", with("Forwarded", "for=192.0.2.1"), false},
		{"nginx", with("X-Real-IP", "192.0.2.1"), false},
	} {
		for _, q := range []struct{ method, target, body string }{
			{http.MethodPost, "", "main.f=count"}, {http.MethodGet, "", ""},
			{http.MethodGet, "/trace?seconds=0.001", ""}, {http.MethodPost, "/flight", ""},
		} {
			f := newFake(t)
			w := f.ask(q.method, q.target, q.body, c.change)
			if refused := w.Code == http.StatusForbidden; refused == c.ok || refused && f.touched() {
				t.Errorf("%s: %s %s: status %d, touched %v, expected to be served: %v", c.name, q.method, q.target,
					w.Code, f.touched(), c.ok)
			}
			if w.Code == http.StatusForbidden && !strings.Contains(w.Body.String(), ", expected ") {
				t.Errorf("%s: %q does not say what was expected", c.name, w.Body)
			}
		}
	}
}

// Only requests that may do so change something or write files.
func TestMethods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, target, allow string }{
		{http.MethodPut, "", "GET, HEAD, POST"}, {http.MethodDelete, "", "GET, HEAD, POST"},
		{http.MethodGet, "/flight", "POST"}, {http.MethodHead, "/flight", "POST"},
		{http.MethodPost, "/trace", "GET"}, {http.MethodOptions, "/trace", "GET"},
	} {
		f := newFake(t)
		w := f.ask(c.method, c.target, "", nil)
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != c.allow || f.touched() {
			t.Errorf("%s %s: status %d, Allow %q, touched %v, expected 405, %q, nothing", c.method, c.target, w.Code,
				w.Header().Get("Allow"), f.touched(), c.allow)
		}
	}
}

// A form is taken as a whole or not at all.
func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, want string // as the program is asked, "" if it is not
		status     int
		says       string
	}{
		{"main.f=count", "main.f=count", 200, "ok"},
		{"main.g=1e4/s&kind:loop=off&main.f=1e3/s%2B50:count", "kind:loop=off\nmain.f=1e3/s+50:count\nmain.g=1e4/s",
			200, "ok"},
		{"", "", 400, "found no form values, expected points"},
		{"main.f=count&main.g=conut", "", 400, `found main.g = "conut", expected a rate; the nearest is count`},
		{"main.f=%2B5us", "", 400, "found a delay, main.f=+5us, expected a rate or a level"},
		{"main.f=quick&main.g=count", "", 400, `found main.f = "quick", expected a rate`},
		{"main.f=count&=count", "", 400, `found points "", expected a name`},
		{"main.f%3D1=count", "", 400, `found points "main.f=1", expected a name`},
		{"main.f%0Amain.g=count", "", 400, "expected a name"},
		{"main.f=count&main.f=time", "", 400, "found 2 limits for main.f, expected one"},
		{"main.f=%zz", "", 400, "invalid URL escape"},
		{"main.f=" + strings.Repeat("9", 1<<20), "", 400, "too large"},
	} {
		f := newFake(t)
		w := f.ask(http.MethodPost, "", c.body, nil)
		if got := strings.Join(f.rates, "|"); w.Code != c.status || got != c.want ||
			!strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%.40q: status %d, asked for %q, says %q; expected %d, %q, %q", c.body, w.Code, got, w.Body,
				c.status, c.want, c.says)
		}
	}
	f := newFake(t)
	f.setRate = func(string, string) error { return errors.New("no") }
	if w := f.ask(http.MethodPost, "", "main.f=count", nil); w.Code != http.StatusInsufficientStorage ||
		!strings.Contains(w.Body.String(), "nothing is changed") {
		t.Errorf("without room: status %d, %s", w.Code, w.Body)
	}
}

func tableOf(t *testing.T, kinds, names []string, ops []uint64) string {
	fields := spec.Records[spec.TagProbes-1].Fields[1:]
	strs := append([]string{"", spec.OpLock, spec.OpDefault}, names...)
	var values []any
	for _, f := range fields {
		var v any = make([]uint64, len(kinds))
		switch f.Name {
		case "package":
			v = "main"
		case "strings":
			v = strs
		case "kind":
			v = kinds
		case "name":
			v = indexes(3, len(kinds))
		case "op":
			v = ops
		}
		values = append(values, v)
	}
	data, err := sddf.AppendValues(nil, fields, values...)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func indexes(from, n int) (list []uint64) {
	for i := range n {
		list = append(list, uint64(from+i))
	}
	return list
}

// Points that were reached and can be traced are shown, those with most hits first.
func TestShow(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.tables = []string{
		tableOf(t, []string{"proc", "loop", "call"}, []string{"main.never", "for", "main.called"}, make([]uint64, 3)),
		tableOf(t, []string{"sync", "sync", "proc"}, []string{"main.mu", "main.ch", "main.last"}, []uint64{1, 2, 0}),
	}
	var got []Point
	if err := json.Unmarshal(f.ask(http.MethodGet, "?format=json", "", nil).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := []Point{{"main.last", "proc", "trace", 12, false, 1, 2, 100},
		{"main.mu", "sync", "trace", 10, false, 1, 2, 100}, {"for", "loop", "trace", 1, true, 1, 2, 100}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	w := f.ask(http.MethodGet, "?points=main.*", "", nil)
	if lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n"); len(lines) != 3 ||
		strings.Join(strings.Fields(lines[1]), " ") != "proc trace 12 1 2 100/s main.last" {
		t.Errorf("found %q", lines)
	}
	w = f.ask(http.MethodGet, "?points=for", "", nil)
	if lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n"); len(lines) != 2 ||
		strings.Join(strings.Fields(lines[1]), " ") != "loop trace ≥1 1 2 100/s for" {
		t.Errorf("found %q", lines)
	}
	for name, table := range map[string]string{
		"short":     f.tables[0][:len(f.tables[0])-1],
		"long":      f.tables[0] + "x",
		"no string": tableOf(t, []string{"proc"}, nil, make([]uint64, 1)),
		"few ops":   tableOf(t, []string{"proc"}, []string{"f"}, nil),
	} {
		f.tables = []string{table}
		if w := f.ask(http.MethodGet, "", "", nil); w.Code != http.StatusInternalServerError ||
			!strings.Contains(w.Body.String(), "table of points 0: ") {
			t.Errorf("a table that is %s: status %d, %s", name, w.Code, w.Body)
		}
	}
}

// Requests fill no disk: beyond a number of files there are no more until some go.
func TestFlight(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range mostFlights {
		if w := f.ask(http.MethodPost, "/flight", "", nil); w.Code != http.StatusOK || w.Body.String() != "kept" {
			t.Fatalf("status %d, %s", w.Code, w.Body)
		}
	}
	w := f.ask(http.MethodPost, "/flight", "", nil)
	if w.Code != http.StatusInsufficientStorage || len(f.files) != mostFlights ||
		!strings.Contains(w.Body.String(), f.files[0]) {
		t.Errorf("beyond the bound: status %d, %d files, %s", w.Code, len(f.files), w.Body)
	}
	if err := os.Remove(f.files[3]); err != nil {
		t.Fatal(err)
	}
	if w := f.ask(http.MethodPost, "/flight", "", nil); w.Code != http.StatusOK || len(f.files) != mostFlights+1 {
		t.Errorf("after one file is gone: status %d, %d files", w.Code, len(f.files))
	}
	f = newFake(t)
	f.snapshot = func() string { return "" }
	if w := f.ask(http.MethodPost, "/flight", "", nil); w.Code != http.StatusNotFound {
		t.Errorf("without a recorder: status %d", w.Code)
	}
	f.snapshot = func() string { return filepath.Join(f.dir, "gone") }
	if w := f.ask(http.MethodPost, "/flight", "", nil); w.Code != http.StatusInternalServerError ||
		w.Header().Get("Content-Disposition") != "" {
		t.Errorf("a file that is gone: status %d, %v", w.Code, w.Header())
	}
}

// The trace of the next seconds is what the file gained meanwhile.
func TestTrace(t *testing.T) {
	t.Parallel()
	for _, seconds := range []string{"never", "0", "-1", "3601", "NaN", "Inf"} {
		f := newFake(t)
		if w := f.ask(http.MethodGet, "/trace?seconds="+seconds, "", nil); w.Code != http.StatusBadRequest ||
			f.flushed > 0 {
			t.Errorf("seconds=%s: status %d, flushed %d times", seconds, w.Code, f.flushed)
		}
	}
	f := newFake(t)
	if w := f.ask(http.MethodGet, "/trace?seconds=0.001", "", nil); w.Code != http.StatusNotFound {
		t.Errorf("without a file: status %d", w.Code)
	}
	f = newFake(t)
	before, after := growing(t)
	path := f.writes(t, before, append(after, before[:7]...)) // the writer is amidst a packet
	w := f.ask(http.MethodGet, "/trace?seconds=0.001", "", nil)
	if w.Code != http.StatusOK || f.flushed != 2 {
		t.Fatalf("status %d, flushed %d times: %s", w.Code, f.flushed, w.Body)
	}
	body := w.Body.String()
	want := sddf.AppendCommand(after, spec.CommandWindow, spec.Attr{Key: spec.WindowFrom, Value: uint64(10100)},
		spec.Attr{Key: spec.WindowTo, Value: uint64(19600)})
	if body != string(want) {
		t.Errorf("found %d bytes, expected the %d of the file, and the command that names its last 9500 ticks",
			len(body), len(after))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f.flush = func() string { return path }
	if w := f.ask(http.MethodGet, "/trace?seconds=0.001", "", nil); w.Code != http.StatusInternalServerError {
		t.Errorf("a file that is gone: status %d", w.Code)
	}
}

// writes makes flushes leave the file with one content after another, and returns its name.
func (f *fake) writes(t *testing.T, contents ...[]byte) (path string) {
	path = filepath.Join(f.dir, "t.sddf")
	f.flush = func() string {
		if err := os.WriteFile(path, contents[min(f.flushed, len(contents)-1)], 0o666); err != nil {
			t.Error(err)
		}
		f.flushed++
		return path
	}
	return path
}

// growing is a stream with a reading of the clocks at 100, 10,100 and 19,600 ticks: as it is before
// the last, and whole.
func growing(t *testing.T) (before, after []byte) {
	t.Helper()
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "test", spec.Records)
	w.Attribute("program", "test")
	clock := func(ticks uint64) {
		if err := errors.Join(w.Data(spec.TagClock, ticks, int64(ticks), int64(ticks), uint64(0)),
			w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	clock(100)
	clock(10100)
	before = bytes.Clone(out.Bytes())
	if err := w.Data(spec.TagReason, uint32(1), "a wait"); err != nil {
		t.Fatal(err)
	}
	clock(19600)
	return before, out.Bytes()
}

// What cannot be a part of a trace is refused, in words, before anything is sent.
func TestNoPart(t *testing.T) {
	t.Parallel()
	before, after := growing(t)
	for _, c := range []struct {
		name     string
		contents [][]byte
		says     string
	}{
		{"empty", [][]byte{nil}, "empty, expected an SDDF file"},
		{"text", [][]byte{[]byte("a text and no trace")}, "not an SDDF file"},
		{"compressed", [][]byte{sddf.AppendHeader(nil, "test", spec.Attr{Key: spec.AttrPacked, Value: "zstd8"})},
			`compressed with codec "zstd8"`},
		{"stands still", [][]byte{after, after}, "the program wrote nothing meanwhile"},
		{"has no clock", [][]byte{before[:64], before[:64]}, "the program wrote nothing meanwhile"},
	} {
		f := newFake(t)
		f.writes(t, c.contents...)
		w := f.ask(http.MethodGet, "/trace?seconds=0.001", "", nil)
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), c.says) ||
			w.Header().Get("Content-Disposition") != "" {
			t.Errorf("a file that %s: status %d, %s, expected 500 and %q", c.name, w.Code, w.Body, c.says)
		}
	}
}

// One request for a trace is served at a time: each reads the whole file. One whose client
// is gone makes room at once.
func TestOneTrace(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	before, after := growing(t)
	f.writes(t, before, before, after)
	ctx, gone := context.WithCancel(context.Background())
	waits, done := make(chan bool), make(chan *httptest.ResponseRecorder)
	flush := f.flush
	f.flush = func() string {
		defer close(waits)
		return flush()
	}
	go func() {
		done <- f.ask(http.MethodGet, "/trace?seconds=3600", "", func(r *http.Request) { *r = *r.WithContext(ctx) })
	}()
	<-waits
	if w := f.ask(http.MethodGet, "/trace?seconds=0.001", "", nil); w.Code != http.StatusTooManyRequests {
		t.Errorf("beside another: status %d, %s", w.Code, w.Body)
	}
	gone()
	if w := <-done; w.Body.Len() > 0 {
		t.Errorf("a client that is gone was sent %d bytes", w.Body.Len())
	}
	f.flush = flush
	if w := f.ask(http.MethodGet, "/trace?seconds=0.001", "", nil); w.Code != http.StatusOK {
		t.Errorf("after another: status %d, %s", w.Code, w.Body)
	}
}

// An answer that fails in the middle breaks the connection.
func TestSend(t *testing.T) {
	t.Parallel()
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("found %v, expected the handler to be aborted", v)
		}
	}()
	send(httptest.NewRecorder(), func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return errors.New("no")
	})
}

// Procedures without a counter have the hits of their calls, one of which another's activations
// count.
func TestSumCalls(t *testing.T) {
	t.Parallel()
	rows := []row{
		{kind: spec.PointProc, name: "leaf", flags: spec.FlagSummed},
		{kind: spec.PointProc, name: "calls", flags: spec.FlagSummed, representative: 1},
		{kind: spec.PointCall, name: "leaf", representative: 1},
		{kind: spec.PointProc, name: "hot", representative: 3},
		{kind: spec.PointCall, name: "leaf", representative: 4},
		{kind: spec.PointCall, name: "calls", representative: 5},
		{kind: spec.PointCall, name: "leaf", flags: spec.FlagDerived, representative: 6},
	}
	points := []Point{{}, {}, {}, {Hits: 9}, {Hits: 5, Least: true}, {Hits: 3}, {Hits: 100}}
	sumCalls(rows, points)
	if p := points[0]; p.Hits != 8 || !p.Least {
		t.Errorf("leaf: %+v, expected 8 at least", p)
	}
	if p := points[1]; p.Hits != 3 || p.Least || points[3].Hits != 9 {
		t.Errorf("calls: %+v, expected 3", p)
	}
}

// Calls of the first 50 procedures are there for Prometheus.
func TestMetrics(t *testing.T) {
	var points []Point
	for i := range 60 {
		points = append(points, Point{Name: fmt.Sprintf("main.f%d", i), Kind: spec.PointProc, Hits: 1000})
	}
	points = append(points, Point{Name: "main.f0", Kind: spec.PointProc, Hits: 1}, // an instance of a generic procedure
		Point{Name: "main.loop", Kind: spec.PointLoop, Hits: 5})
	points[1].Name = "main.\"\n\x1b"
	var out bytes.Buffer
	metrics(&out, points)
	for _, want := range []string{"{procedure=\"main.f0\"} 1001\n", "{procedure=\"main.f49\"} 1000\n",
		`{procedure="main.\"\n` + "\ufffd" + `"} 1000`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("found no %q in %s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 2+50 {
		t.Errorf("found %d lines, expected a description and 50 series", n)
	}
}

// The page has them, if it is asked for that format.
func TestMetricsPage(t *testing.T) {
	f := newFake(t)
	answer := f.ask(http.MethodGet, "?format=prometheus", "", nil)
	if !strings.HasPrefix(answer.Body.String(), "# HELP qinst_procedure_calls_total ") ||
		answer.Header().Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("found %q", answer.Body.String())
	}
}
