package view_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/internal/view"
)

// start serves a trace, and returns a browser that has been at the printed address.
func start(t testing.TB, source *trace.Trace) (*http.Client, *httptest.Server, *view.Server) {
	t.Helper()
	s := serve(t, source)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	if status, body := get(t, client, srv.URL+"/?token="+s.Token); status != http.StatusOK || !strings.Contains(body, "app.mjs") {
		t.Fatalf("found %d %s", status, body)
	}
	return client, srv, s
}

func get(t testing.TB, c *http.Client, address string) (int, string) {
	t.Helper()
	answer, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func locks() *trace.Trace {
	var threads []tracetest.Thread
	for _, name := range []string{"main.a", "main.b"} {
		var ops []tracetest.Op
		for range 100 {
			ops = append(ops, tracetest.Lock("main.mu"), tracetest.Do("main.f", 1000), tracetest.Unlock("main.mu"),
				tracetest.Do("main.g", 500))
		}
		threads = append(threads, tracetest.Thread{Name: name, Ops: ops})
	}
	return tracetest.Simulate(2, threads).Trace()
}

// Only a page of this machine that has the token is answered.
func TestGuards(t *testing.T) {
	_, srv, s := start(t, locks())
	status, body := get(t, http.DefaultClient, srv.URL+"/api/v1/trace")
	if status != http.StatusForbidden || !strings.Contains(body, "token") {
		t.Errorf("without a token: %d %s", status, body)
	}
	if status, _ := get(t, http.DefaultClient, srv.URL+"/?token=wrong"); status != http.StatusForbidden {
		t.Errorf("with a wrong token: %d", status)
	}
	for _, c := range []struct {
		method, host, origin string
		want                 int
	}{
		{"GET", "", "", 200},
		{"GET", "localhost:80", "", 200},
		{"GET", "evil.example", "", 403},
		{"GET", "evil.example:80", "", 403},
		{"GET", "", "http://evil.example", 403},
		{"GET", "", "null", 403},
		{"GET", "", srv.URL, 200},
		{"POST", "", "", 405},
	} {
		r, err := http.NewRequest(c.method, srv.URL+"/api/v1/trace", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: s.Cookie, Value: s.Token})
		if r.Host = c.host; c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%+v: found %d", c, answer.StatusCode)
		}
		if csp := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'self'") {
			t.Errorf("%+v: policy %q", c, csp)
		}
	}
}

// Nonsense is answered with 400, an unknown path with 404, and nothing with a panic.
func TestParameters(t *testing.T) {
	client, srv, _ := start(t, locks())
	const id = "1152921504606846976" // processor 0
	for path, want := range map[string]int{
		"timeline?from=0&to=1000&px=100&tracks=" + id: 200,
		"timeline": 400,
		"timeline?from=x&to=1000&px=100&tracks=" + id:                        400,
		"timeline?from=-1&to=1000&px=100&tracks=" + id:                       400,
		"timeline?from=1000&to=10&px=100&tracks=" + id:                       400,
		"timeline?from=0&to=99999999999999999999&px=1&tracks=1":              400,
		"timeline?from=0&to=1000&px=0&tracks=" + id:                          400,
		"timeline?from=0&to=1000&px=100000&tracks=" + id:                     400,
		"timeline?from=0&to=1000&px=100&tracks=77777":                        400,
		"timeline?from=0&to=1000&px=100&tracks=":                             400,
		"timeline?from=0&to=1000&px=9&tracks=" + strings.Repeat(id+",", 300): 400,
		"nothing": 404,
		"":        404,
		"trace":   200, "items": 200, "tracks": 200, "table": 200, "flame": 200, "objects": 200,
		"bands?from=0&to=1000&px=100":                             200,
		"bands?from=0&to=1000&px=100&item=99":                     400,
		"bands?from=0&to=1000&px=9999":                            400,
		"path?from=5&to=5&px=100":                                 400,
		"requests":                                                200,
		"requests?name=nothing":                                   400,
		"source?name=nothing":                                     400,
		"whatif?change=main.f%3D-50%25":                           200,
		"whatif?change=main.f%3D-50%25+%2B+hold:main.mu%3D-50%25": 200,
		"whatif?change=main.f%3D-150%25":                          400,
		"whatif?change=":                                          400,
		"whatif?procs=1,2,4":                                      200,
		"whatif?procs=1,0":                                        400,
		"whatif?procs=1000":                                       400,
	} {
		if status, body := get(t, client, srv.URL+"/api/v1/"+path); status != want {
			t.Errorf("%.80s: found %d %s, expected %d", path, status, body, want)
		}
	}
	for path, want := range map[string]int{"/app.mjs": 200, "/vendor/preact.mjs": 200, "/../server.go": 404, "/none": 404} {
		if status, _ := get(t, client, srv.URL+path); status != want {
			t.Errorf("%s: found %d, expected %d", path, status, want)
		}
	}
}

// The stream of events ends when the trace has been read. Until then tracks are those so far.
func TestEvents(t *testing.T) {
	source := locks()
	s := view.NewServer(view.New(source))
	srv := httptest.NewServer(s)
	defer srv.Close()
	r, err := http.NewRequest(http.MethodGet, srv.URL+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: s.Cookie, Value: s.Token})
	answered, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answered.Body.Close()
	body, err := io.ReadAll(answered.Body)
	if err != nil {
		t.Fatal(err)
	}
	var last view.Progress
	for line := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n\n") {
		if last.Done {
			t.Errorf("found %s after the end", line)
		}
		text, ok := strings.CutPrefix(line, "data: ")
		if err := json.Unmarshal([]byte(text), &last); !ok || err != nil {
			t.Errorf("found %q: %v", line, err)
		}
	}
	if last.Wall != source.Wall() || last.Read <= last.Wall/2 || !last.Done {
		t.Errorf("found %+v at the end", last)
	}
	var run view.Run
	if answer(t, s, "trace", &run); !run.Read || run.Program == "" && len(run.Said["summary"]) == 0 {
		t.Errorf("found %+v", run)
	}
}

// What others wrote is in the page as they published it.
func TestVendored(t *testing.T) {
	sums, err := os.ReadFile("page/vendor/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("page/vendor/*.mjs")
	if err != nil || len(files) != strings.Count(string(sums), "\n") {
		t.Errorf("found %d files, error %v, and sums\n%s", len(files), err, sums)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(text), filepath.Base(file)); !strings.Contains(string(sums), sum) {
			t.Errorf("found %s", sum)
		}
	}
}

// The page has the statements and warnings of the report, and the table its numbers.
func TestNumbers(t *testing.T) {
	source := locks()
	s := serve(t, source)
	var run struct {
		Wall int64 `json:"wall_ns"`
		Said map[string][]struct{ Text string }
	}
	answer(t, s, "trace", &run)
	if run.Wall != int64(source.Wall()) || len(run.Said["run"]) == 0 ||
		!strings.Contains(run.Said["summary"][1].Text, "2 processors") {
		t.Errorf("found %+v", run)
	}
	p, err := profile.New(source)
	if err != nil {
		t.Fatal(err)
	}
	var table []profile.Entry
	answer(t, s, "table", &table)
	for i := range p.Entries {
		if x, want := &table[i], &p.Entries[i]; x.ID != want.ID || x.NPT != want.NPT || x.Calls != want.Calls {
			t.Errorf("found %s %d, expected %s %d", x.Name, x.NPT, want.Name, want.NPT)
		}
	}
	var flame view.Flame
	answer(t, s, "flame", &flame)
	sum := int64(0)
	for st := range p.Stacks() {
		sum += st.NPT
	}
	if flame.NPT != sum || len(flame.Children) == 0 {
		t.Errorf("found %d, expected %d", flame.NPT, sum)
	}
}

// On any number of pixels a track has all its slices, and all their time, once.
func TestTimeline(t *testing.T) {
	lanestest.Each(t, "../..", func(t rapid.TB, source trace.Source) {
		s := serve(t, source.(*trace.Trace))
		type sum struct{ slices, ns int64 }
		sums := map[int]map[string]sum{}
		var tracks struct{ Tracks []view.Track }
		answer(t, s, "tracks", &tracks)
		var run struct {
			Wall int64 `json:"wall_ns"`
		}
		answer(t, s, "trace", &run)
		for _, px := range []int{1, 10, 1000, 8192} {
			sums[px] = map[string]sum{}
			for _, track := range tracks.Tracks {
				var line struct {
					Tracks []struct{ Spans [][7]int64 }
					Names  map[int64]string
				}
				answer(t, s, fmt.Sprintf("timeline?from=0&to=%d&px=%d&tracks=%d", run.Wall+1, px, track.ID), &line)
				last := map[int64]int64{}
				for _, x := range line.Tracks[0].Spans {
					key := fmt.Sprint(track.Name, " ", x[0])
					sums[px][key] = sum{sums[px][key].slices + x[5], sums[px][key].ns + x[6]}
					if x[1] < last[x[0]] || x[2] < x[1] || x[6] > x[2]-x[1] || line.Names[x[3]] == "" {
						t.Errorf("%s: span %v after %d", track.Name, x, last[x[0]])
					}
					last[x[0]] = x[2]
				}
			}
		}
		for px, of := range sums {
			for key, x := range of {
				if x != sums[8192][key] {
					t.Errorf("%s on %d pixels: %+v, expected %+v", key, px, x, sums[8192][key])
				}
			}
		}
	})
}

// serve is a server of a trace.
func serve(t rapid.TB, source *trace.Trace) *view.Server {
	v := view.New(source)
	if err := v.Wait(); err != nil {
		t.Fatal(err)
	}
	return view.NewServer(v)
}

func answer(t rapid.TB, s *view.Server, path string, to any) {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/"+path, nil)
	r.Host = "localhost"
	r.AddCookie(&http.Cookie{Name: s.Cookie, Value: s.Token})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), to); err != nil {
		t.Fatal(err)
	}
}
