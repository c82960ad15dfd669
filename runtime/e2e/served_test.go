package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestServed changes what is recorded of a running program, and takes a trace of a
// part of its run, over HTTP.
func TestServed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "served.sddf")
	cmd := exec.Command(e2e.Build(t, "programs", "served"))
	cmd.Env = append(os.Environ(), "QINST=budget=off,out="+file)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s := served{"http://" + strings.TrimSpace(line) + "/debug/qinst"}
	if p := s.busy(t); p.Level != "trace" || p.Hits == 0 {
		t.Errorf("at first %+v", p)
	}
	for _, level := range []string{"count", "time", "trace"} {
		s.post(t, level, http.StatusOK)
		s.becomes(t, level)
	}
	s.post(t, "quick", http.StatusBadRequest)
	if text := s.post(t, "conut", http.StatusBadRequest); !strings.Contains(text, "; the nearest is count") {
		t.Errorf("for a level conut got %q, expected the nearest one", text)
	}
	s.get(t, "?points=nothing", http.StatusOK)
	s.get(t, "/trace?seconds=never", http.StatusBadRequest)
	s.foreign(t)
	s.together(t)
	s.part(t)
	stdin.Close()
	rest, err := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	for i := range tr.Points {
		if p := &tr.Points[i]; p.Name == "main.busy" && p.Kind == spec.PointProc &&
			fmt.Sprintln(p.Hits) != string(rest) {
			t.Errorf("%d hits, the program counted %s", p.Hits, rest)
		}
	}
	checkedProfile(t, tr, nil)
}

type served struct{ url string }

func (s served) get(t *testing.T, query string, status int) []byte {
	t.Helper()
	resp, err := http.Get(s.url + query)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Errorf("%s: status %d, expected %d: %s", query, resp.StatusCode, status, body)
	}
	return body
}

func (s served) post(t *testing.T, limit string, status int) (body string) {
	t.Helper()
	return s.change(t, url.Values{"main.busy": {limit}}, status)
}

func (s served) change(t *testing.T, form url.Values, status int) (body string) {
	t.Helper()
	resp, err := http.PostForm(s.url, form)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Errorf("%.80v: status %d, expected %d: %s", form, resp.StatusCode, status, text)
	}
	return string(text)
}

type servedPoint struct {
	Name, Kind, Level   string
	Hits, Traced, Timed uint64
}

func (s served) busy(t *testing.T) (p servedPoint) {
	t.Helper()
	for range 500 { // the program says where it listens before it begins to work
		var points []servedPoint
		if err := json.Unmarshal(s.get(t, "?format=json&points=main.busy", http.StatusOK), &points); err != nil ||
			len(points) > 1 {
			t.Fatalf("%v: %+v", err, points)
		}
		if len(points) == 1 {
			return points[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("main.busy was never reached")
	return p
}

// becomes waits until main.busy is at a level, and its hits are recorded so. When the tool
// looks at the change, and when threads reach the point, is up to the machine.
func (s served) becomes(t *testing.T, level string) {
	t.Helper()
	var was string
	for range 200 {
		before := s.busy(t)
		time.Sleep(50 * time.Millisecond)
		after := s.busy(t)
		hits, traced, timed := after.Hits-before.Hits, after.Traced-before.Traced, after.Timed-before.Timed
		want := map[string]bool{"count": traced == 0 && timed == 0, "time": traced == 0 && timed > 0,
			"trace": traced > 0 && timed == 0}
		if before.Level == level && after.Level == level && hits > 0 && want[level] {
			return
		}
		was = fmt.Sprintf("%d hits, %d traced, %d timed, %+v", hits, traced, timed, after)
	}
	t.Errorf("level %s: at last %s", level, was)
}

// foreign are requests that a page of another site could make a browser send, and one
// that came through a proxy. Package debug tests more of them.
func (s served) foreign(t *testing.T) {
	t.Helper()
	for name, change := range map[string]func(*http.Request){
		"host":  func(r *http.Request) { r.Host = "example.com" },
		"page":  func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"proxy": func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.1") },
	} {
		req, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader("main.busy=count"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		change(req)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("a foreign %s: status %d, expected 403", name, resp.StatusCode)
		}
	}
	time.Sleep(100 * time.Millisecond) // the tool looks at changes less often than that
	if p := s.busy(t); p.Level != "trace" {
		t.Errorf("foreign requests left main.busy at %s, expected trace", p.Level)
	}
}

// together changes several limits, one of them impossible: none is changed. The last ones find no
// room among the program's.
func (s served) together(t *testing.T) {
	t.Helper()
	s.change(t, url.Values{"main.busy": {"count"}, "main.z": {"quick"}}, http.StatusBadRequest)
	many := url.Values{"main.busy": {"count"}}
	for i := range 70 {
		many.Set(fmt.Sprint("main.z", i), "count")
	}
	s.change(t, many, http.StatusInsufficientStorage)
	time.Sleep(100 * time.Millisecond)
	if p := s.busy(t); p.Level != "trace" {
		t.Errorf("changes that were refused left main.busy at %s, expected trace", p.Level)
	}
	s.change(t, url.Values{"main.busy": {"time"}, "main.z": {"count"}}, http.StatusOK)
	s.becomes(t, "time")
	s.post(t, "trace", http.StatusOK)
	s.becomes(t, "trace")
}

// part takes a trace of a fifth of a second.
func (s served) part(t *testing.T) {
	t.Helper()
	start := time.Now()
	data := s.get(t, "/trace?seconds=0.2", http.StatusOK)
	took := trace.Time(time.Since(start))
	tr, err := trace.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if tr.Wall() < 200e6 || tr.Wall() > took+took/1000 {
		t.Errorf("a part of %d ns, expected 0.2 s to the %d ns that the request took", tr.Wall(), took)
	}
	events := 0
	losses, err := tr.Events(func(batch []trace.Event) error {
		for i := range batch {
			if e := &batch[i]; e.Kind == trace.Enter && tr.Points[e.Point()].Name == "main.busy" {
				events++
			}
		}
		return nil
	})
	if err != nil || losses.Any() || events < 10 {
		t.Errorf("%d calls, %v, %v", events, losses.List(), err)
	}
}
