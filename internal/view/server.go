package view

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/report"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

//go:embed page
var page embed.FS

// Server serves a view to browsers of this machine. Other sites can neither read it nor ask it
// anything: requests need the token, which a browser gets with the address, as a cookie.
type Server struct {
	Token  string
	Cookie string // its name: browsers have one jar for all ports of a machine
	view   *View
	mux    *http.ServeMux
	api    map[string]answer
	live   *LiveState // of a program that runs, or did; nil: of a file
}

// NewServer makes a server with a token of its own.
func NewServer(v *View) *Server {
	s := &Server{Token: rand.Text(), Cookie: "qinst-view-" + rand.Text(), view: v, mux: http.NewServeMux()}
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	s.mux.Handle("/", http.FileServerFS(files))
	s.api = s.questions()
	if v.Before != nil {
		s.api["compared"] = s.whole(s.compared)
		NewServer(v.Before).answers(s.mux, "/api/v1/before/")
	}
	s.answers(s.mux, "/api/v1/")
	s.mux.HandleFunc("/api/", http.NotFound)
	return s
}

// questions are those that can be answered.
func (s *Server) questions() map[string]answer {
	if s.view.t == nil {
		return map[string]answer{"trace": s.alone, "experiment": s.experiment}
	}
	api := map[string]answer{
		"trace": s.trace, "tracks": s.tracks, "timeline": s.timeline, "bands": s.bands, "fold": s.fold,
		"items": s.whole(s.conclusions), "table": s.whole(s.table), "flame": s.whole(s.flame), "path": s.whole(s.path),
		"source": s.whole(s.source), "names": s.whole(s.names), "whatif": s.whole(s.whatIf), "requests": s.whole(s.requests),
		"objects": s.whole(s.objects), "records": s.whole(s.records),
	}
	if s.view.tried != nil {
		api["experiment"] = s.experiment
	}
	return api
}

// answers lets the server answer below a path.
func (s *Server) answers(mux *http.ServeMux, below string) {
	for path, answer := range s.api {
		mux.HandleFunc(below+path, func(w http.ResponseWriter, r *http.Request) { reply(w, r, answer) })
	}
	mux.HandleFunc(below+"events", s.events)
}

// ServeHTTP answers a request, if it comes from the page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.guards(w, r) {
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "found "+r.Method+", expected GET", http.StatusMethodNotAllowed)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// guards reports whether a request comes from the page, and answers others.
func (s *Server) guards(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if why := refused(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return false
	}
	if token := r.URL.Query().Get("token"); token != "" && r.URL.Path == "/" && s.knows(token) {
		http.SetCookie(w, &http.Cookie{Name: s.Cookie, Value: token, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return false
	}
	if c, err := r.Cookie(s.Cookie); err != nil || !s.knows(c.Value) {
		http.Error(w, "found no token, expected the address that qinst view printed", http.StatusForbidden)
		return false
	}
	return true
}

func (s *Server) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) == 1
}

// refused is why a request is not answered: another site chose the name that leads here, or it
// comes from a page of another site.
func refused(r *http.Request) string {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && ip == nil {
		return "found Host: " + r.Host + ", expected localhost or an address"
	}
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
		return "found Origin: " + o + ", expected http://" + r.Host
	}
	return ""
}

// answer answers to the parameters of a request.
type answer func(url.Values) (any, error)

// whole waits until the trace has been read.
func (s *Server) whole(f answer) answer {
	return func(q url.Values) (any, error) {
		if err := s.view.Wait(); err != nil {
			return nil, unread{err}
		}
		return f(q)
	}
}

// unread is why a trace cannot be read.
type unread struct{ error }

// reply writes an answer.
func reply(w http.ResponseWriter, r *http.Request, f answer) {
	x, err := f(r.URL.Query())
	if err != nil {
		status := http.StatusBadRequest
		if errors.As(err, &unread{}) {
			status = http.StatusInternalServerError
		}
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(x) // the browser may have gone
}

// Progress is how far a trace has been read.
type Progress struct {
	Read  trace.Time `json:"read_ns"`
	Wall  trace.Time `json:"wall_ns"`
	Done  bool       `json:"done"`
	Error string     `json:"error,omitempty"`
}

func (s *Server) progress() (p Progress) {
	select {
	case <-s.view.done:
		p.Done = true
		if s.view.err != nil {
			p.Error = s.view.err.Error()
		}
	default:
	}
	s.view.tracks.mu.Lock()
	defer s.view.tracks.mu.Unlock()
	p.Read, p.Wall = s.view.tracks.now, s.view.tracks.end
	return p
}

// events sends how far the trace has been read, four times a second, until it has.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	for {
		p := s.progress()
		text, err := json.Marshal(p)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		if p.Done {
			return
		}
		select {
		case <-s.view.done:
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// trace answers with what is known of the run so far.
func (s *Server) trace(url.Values) (any, error) {
	v := s.view
	run := Run{File: v.File, Wall: int64(v.t.Wall()), Procs: int(v.t.Int("gomaxprocs")), Said: map[string][]*doc.Text{}}
	run.Program, _ = v.t.Attr("program").(string)
	run.Live, run.Tried = s.live, v.tried != nil
	if v.Before != nil {
		run.Before = v.Before.File
	}
	if p := s.progress(); p.Error != "" {
		return nil, unread{errors.New(p.Error)}
	} else if !p.Done {
		return run, nil
	}
	p := v.facts.Profile
	run.Read, run.Wall, run.Procs, run.Events = true, p.Wall, p.Procs, p.Events
	run.Left, run.Locks, run.Kinds = v.tracks.left, v.lanes.Locks, len(v.records.kinds)
	run.Unread = v.records.left
	for _, section := range report.Page(v.t, v.facts).Sections {
		for _, b := range section.Blocks {
			if b.Text != nil && slices.Contains([]string{"summary", "run", "notes"}, section.ID) {
				run.Said[section.ID] = append(run.Said[section.ID], b.Text)
			}
		}
	}
	return run, nil
}

// Run is what the page says of a run.
type Run struct {
	File    string                 `json:"file"`
	Read    bool                   `json:"read"` // all of it: what follows is complete
	Program string                 `json:"program"`
	Wall    int64                  `json:"wall_ns"`
	Procs   int                    `json:"procs"`
	Before  string                 `json:"before,omitempty"` // file of the trace before
	Live    *LiveState             `json:"live,omitempty"`
	Events  int64                  `json:"events"`
	Said    map[string][]*doc.Text `json:"said"`       // by section of the report
	Tried   bool                   `json:"experiment"` // there is one, too
	Alone   bool                   `json:"alone"`      // there is nothing else
	Left    int64                  `json:"slices_left"`
	Locks   int64                  `json:"locks_left"`
	Kinds   int                    `json:"record_kinds"` // of the program's own
	Unread  int64                  `json:"records_left"` // of these, that cannot be read
}

// alone answers with the run of an experiment without a trace.
func (s *Server) alone(url.Values) (any, error) {
	x := s.view.tried
	return Run{File: x.File, Program: x.Program, Read: true, Tried: true, Alone: true,
		Said: map[string][]*doc.Text{}}, nil
}

// Conclusion is a conclusion, with the command that checks its gain.
type Conclusion struct {
	advice.Item
	Check string `json:"check,omitempty"`
}

func (s *Server) conclusions(url.Values) (any, error) {
	list := []Conclusion{}
	for _, it := range s.view.items() {
		c := Conclusion{Item: it}
		if it.WhatIf != "" && !it.Remark {
			c.Check = report.Command("predict", "-what-if", it.WhatIf, s.view.File)
		}
		list = append(list, c)
	}
	absent := ""
	if items := s.view.items(); len(advice.Texts(items)) == 0 && !advice.Inconclusive(items) {
		absent = advice.Absent(s.view.facts.Profile)
	}
	return struct {
		Items  []Conclusion `json:"items"`
		Absent string       `json:"absent,omitempty"` // why there are none
	}{list, absent}, nil
}

func (s *Server) tracks(url.Values) (any, error) {
	s.view.tracks.mu.Lock()
	defer s.view.tracks.mu.Unlock()
	list, more := s.view.tracks.shown()
	return List{list, more, s.view.tracks.folds()}, nil
}

// List are the tracks of a trace.
type List struct {
	Tracks []Track        `json:"tracks"`
	More   map[string]int `json:"more"` // of each group, that are not listed
	Folds  []Fold         `json:"folds"`
}

// fold answers with how many goroutines of a function there are, by their states.
func (s *Server) fold(q url.Values) (any, error) {
	from, to, px, err := s.window(q, mostParts)
	if err != nil {
		return nil, err
	}
	ts := s.view.tracks
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, f := range ts.folds() {
		if f.Name == q.Get("name") {
			return ts.started(f.Name, from, to, px), nil
		}
	}
	return nil, fmt.Errorf("found the name %q, expected that of a fold of /api/v1/tracks", q.Get("name"))
}

func (s *Server) table(url.Values) (any, error) { return s.view.facts.Entries, nil }

func (s *Server) objects(url.Values) (any, error) {
	return append([]profile.Object{}, s.view.facts.Objects...), nil
}

func (s *Server) flame(url.Values) (any, error) { return s.view.flame(), nil }

// mostPixels and mostTracks bound what is asked for at a time.
const mostPixels, mostTracks = 8192, 256

// timeline answers with the slices of tracks. Each is a list of numbers: depth, from, to, index of
// the name, kind, count, ns; or of a track of numbers: from, number.
func (s *Server) timeline(q url.Values) (any, error) {
	from, to, px, err := s.window(q, mostPixels)
	if err != nil {
		return nil, err
	}
	ids := strings.Split(q.Get("tracks"), ",")
	if len(ids) > mostTracks {
		return nil, fmt.Errorf("found %d tracks, expected %d at most", len(ids), mostTracks)
	}
	for _, id := range ids {
		if n, err := strconv.ParseUint(id, 10, 64); err != nil || !s.view.tracks.has(lanes.ID(n)) {
			return nil, fmt.Errorf("found track %q, expected one of /api/v1/tracks", id)
		}
	}
	near, err := s.near(from, to, q.Get("exact"))
	if err != nil {
		return nil, err
	}
	return s.slices(from, to, px, ids, near), nil
}

// near is the part between two times with all its slices, if it was asked for and can be.
func (s *Server) near(from, to trace.Time, exact string) (*closeup, error) {
	switch exact {
	case "", "0":
		return nil, nil
	case "1":
		near, err := s.view.closeTo(from, to)
		if err != nil {
			err = unread{err}
		}
		return near, err
	}
	return nil, fmt.Errorf("found exact=%s, expected 0 or 1", exact)
}

// line are the slices of a track, or its numbers.
type line struct {
	ID     string     `json:"id"`
	Spans  [][7]int64 `json:"spans,omitempty"`
	Values [][2]int64 `json:"values,omitempty"`
}

// part is a part of the time axis.
type part struct {
	Tracks []line            `json:"tracks"`
	Names  map[uint32]string `json:"names"`
	Wakes  [][3]int64        `json:"wakes"` // time, goroutine, the one that it made ready
	More   int               `json:"more_wakes"`
	Fine   trace.Time        `json:"fine_ns,omitempty"` // shorter slices may be together; 0: none is seen to be
}

// widest is how many pixels a picture of the whole run has at most for which slices are taken
// together once and for all.
const widest = 1 << 13

// mostAnswered bounds the slices in an answer. If there are more, they are drawn as on fewer
// pixels.
const mostAnswered = 8000

// slices are those of tracks between two times, in an answer that is not too long.
func (s *Server) slices(from, to trace.Time, px int, ids []string, near *closeup) part {
	for {
		out := s.onPixels(from, to, px, ids, near)
		n := 0
		for _, l := range out.Tracks {
			n += len(l.Spans) + len(l.Values)
		}
		if n <= mostAnswered || px < 64 {
			return out
		}
		px = min(px/2, int(float64(px)*1.2*mostAnswered/float64(n)))
	}
}

// onPixels are slices on so many pixels.
func (s *Server) onPixels(from, to trace.Time, px int, ids []string, near *closeup) part {
	out := part{Tracks: []line{}, Names: map[uint32]string{}}
	shown := map[lanes.ID]bool{}
	ts := s.view.tracks
	ts.mu.Lock()
	defer ts.mu.Unlock()
	wide := trace.Time(0)
	select {
	case <-s.view.done: // more slices would not be in it
		wide = ts.end / widest
	default:
	}
	if (to-from)/trace.Time(px) < ts.fine && near == nil {
		out.Fine = ts.fine
	}
	for _, id := range ids {
		n, _ := strconv.ParseUint(id, 10, 64)
		t := ts.by[lanes.ID(n)]
		if near != nil {
			t = near.track(ts, t)
		}
		shown[lanes.ID(n)] = true
		l := line{ID: id, Values: t.steps(from, to, px)}
		for _, x := range t.spans(from, to, px, wide) {
			l.Spans = append(l.Spans, [7]int64{int64(x.Depth), int64(x.From), int64(x.To), int64(x.Name), int64(x.Kind),
				int64(x.Count), x.Ns})
			out.Names[x.Name] = strings.ToValidUTF8(ts.names[x.Name], "\uFFFD")
		}
		out.Tracks = append(out.Tracks, l)
	}
	if near != nil {
		out.Wakes, out.More = near.wakes(from, to, shown)
	} else {
		out.Wakes, out.More = ts.wakesBetween(from, to, shown)
	}
	return out
}

// window is a part of the run, and how many pixels it has.
func (s *Server) window(q url.Values, most int64) (from, to trace.Time, px int, err error) {
	end := int64(s.view.tracks.end)
	f, err := number(q, "from", 0, end)
	t, err2 := number(q, "to", f+1, end+1)
	p, err3 := number(q, "px", 1, most)
	return trace.Time(f), trace.Time(t), int(p), errors.Join(err, err2, err3)
}

// number is a parameter, from least to most.
func number(q url.Values, name string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("found %s=%s, expected a number from %d to %d", name, q.Get(name), least, most)
	}
	return n, nil
}
