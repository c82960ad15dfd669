package view_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/view"
)

// growing is a file of which there is a part, and a browser that looks at it.
type growing struct {
	*testing.T
	path   string
	data   []byte // all of it
	live   *view.Live
	client *http.Client
	srv    *httptest.Server
}

func grow(t *testing.T) *growing {
	t.Helper()
	data, err := os.ReadFile("../../testdata/kept/levels.sddf")
	if err != nil {
		t.Fatal(err)
	}
	g := &growing{T: t, path: filepath.Join(t.TempDir(), "a.sddf"), data: data}
	g.live = &view.Live{New: view.New, Runs: func() bool { return true },
		Open: func() (*trace.Trace, error) { return trace.OpenNow(g.path) }}
	g.to(0.5)
	if err := g.live.Start(); err != nil {
		t.Fatal(err)
	}
	g.srv = httptest.NewServer(g.live)
	t.Cleanup(g.srv.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	g.client = &http.Client{Jar: jar}
	get(t, g.client, g.srv.URL+"/?token="+g.live.Token())
	return g
}

// to lets the file have a share of what it will have.
func (g *growing) to(share float64) {
	if err := os.WriteFile(g.path, g.data[:int(share*float64(len(g.data)))], 0o666); err != nil {
		g.Fatal(err)
	}
}

func (g *growing) run() (run view.Run) {
	g.Helper()
	status, body := get(g, g.client, g.srv.URL+"/api/v1/trace")
	if err := json.Unmarshal([]byte(body), &run); err != nil || status != http.StatusOK {
		g.Fatalf("%d %s: %v", status, body, err)
	}
	return run
}

func (g *growing) do(command string) (int, string) {
	g.Helper()
	answer, err := g.client.Post(g.srv.URL+"/api/v1/live", "application/json", strings.NewReader(command))
	if err != nil {
		g.Fatal(err)
	}
	defer answer.Body.Close()
	var body bytes.Buffer
	_, _ = body.ReadFrom(answer.Body)
	return answer.StatusCode, body.String()
}

// Each frame is the end of what there is; paused, the view is all of that; at its end, all.
func TestLive(t *testing.T) {
	g := grow(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go g.live.Follow(ctx)

	first := g.run()
	if first.Live == nil || first.Live.State != "running" || first.Wall == 0 {
		t.Fatalf("found %+v", first)
	}
	g.to(0) // as while it is written anew
	time.Sleep(time.Second)
	if r := g.run(); r.Live.State != "running" || end(r) != end(first) {
		t.Errorf("found %+v after %+v", r, first)
	}
	g.to(0.8)
	later := g.until(func(r view.Run) bool { return r.Live.Frame > first.Live.Frame && end(r) > end(first) })
	if status, said := g.do(`{"do": "pause"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	paused := g.until(func(r view.Run) bool { return r.Live.State == "paused" && r.Read })
	if paused.Live.From != 0 || paused.Wall < end(later) {
		t.Errorf("found %+v after %+v", paused, later)
	}
	g.to(1)
	if status, said := g.do(`{"do": "go on"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	ended := g.until(func(r view.Run) bool { return r.Live.State == "ended" && r.Read })
	if ended.Wall <= paused.Wall || ended.Live.From != 0 {
		t.Errorf("found %+v after %+v", ended, paused)
	}
}

// end is the time of the end of a frame.
func end(r view.Run) int64 { return int64(r.Live.From) + r.Wall }

func (g *growing) until(is func(view.Run) bool) view.Run {
	g.Helper()
	for range 200 {
		if r := g.run(); is(r) {
			return r
		}
		time.Sleep(50 * time.Millisecond)
	}
	g.Fatalf("it does not become so: %+v", g.run())
	return view.Run{}
}

// A frame that was begun before the program was paused is not shown after it.
func TestLivePaused(t *testing.T) {
	g := grow(t)
	begun, on := make(chan bool), make(chan bool)
	open := g.live.Open
	g.live.Open = func() (*trace.Trace, error) {
		begun <- true
		<-on
		return open()
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go g.live.Follow(ctx)
	<-begun
	g.live.Open = open
	if status, said := g.do(`{"do": "pause"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	before := g.until(func(r view.Run) bool { return r.Read })
	close(on)
	time.Sleep(time.Second)
	if r := g.run(); r.Wall != before.Wall || r.Live.From != 0 {
		t.Errorf("found %+v, %+v after %+v", r, r.Live, before)
	}
}

// What makes no sense is refused, and what is recorded is the program's to say.
func TestLiveCommands(t *testing.T) {
	g := grow(t)
	for _, command := range []string{"", "{}", `{"do": "stop"}`, `{"do": "go on"}`, `{"set": "main.f=count"}`} {
		status, said := g.do(command)
		if status != http.StatusBadRequest || !strings.Contains(said, "expected") && command != "" {
			t.Errorf("%s: %d %s", command, status, said)
		}
	}
	g.live.Control = func(change string) (string, error) { return "ok " + change, nil }
	if status, said := g.do(`{"set": "main.f=count"}`); status != http.StatusOK || !strings.Contains(said, "ok main.f=count") {
		t.Errorf("%d %s", status, said)
	}
	answer, err := http.Post(g.srv.URL+"/api/v1/live", "application/json", strings.NewReader(`{"do": "pause"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("without a token: %d", answer.StatusCode)
	}
}
