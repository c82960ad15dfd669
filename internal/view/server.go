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
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/advice"
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
}

// NewServer makes a server with a token of its own.
func NewServer(v *View) *Server {
	s := &Server{Token: rand.Text(), Cookie: "qinst-view-" + rand.Text(), view: v, mux: http.NewServeMux()}
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	s.mux.Handle("/", http.FileServerFS(files))
	for path, answer := range map[string]func(url.Values) (any, error){
		"trace": s.trace, "items": s.conclusions, "tracks": s.tracks, "timeline": s.timeline, "table": s.table,
		"flame": s.flame, "bands": s.bands, "path": s.path,
	} {
		s.mux.HandleFunc("/api/v1/"+path, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, answer) })
	}
	s.mux.HandleFunc("/api/", http.NotFound)
	return s
}

// ServeHTTP answers a request, if it comes from the page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if why := refused(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "found "+r.Method+", expected GET", http.StatusMethodNotAllowed)
		return
	}
	if token := r.URL.Query().Get("token"); token != "" && r.URL.Path == "/" && s.knows(token) {
		http.SetCookie(w, &http.Cookie{Name: s.Cookie, Value: token, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if c, err := r.Cookie(s.Cookie); err != nil || !s.knows(c.Value) {
		http.Error(w, "found no token, expected the address that qinst view printed", http.StatusForbidden)
		return
	}
	s.mux.ServeHTTP(w, r)
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

// answer writes what a function answers to the parameters of a request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, f func(url.Values) (any, error)) {
	x, err := f(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(x) // the browser may have gone
}

func (s *Server) trace(url.Values) (any, error) {
	p := s.view.facts.Profile
	said := map[string][]*doc.Text{"summary": {}, "run": {}, "notes": {}}
	for _, section := range report.Page(s.view.t, s.view.facts).Sections {
		for _, b := range section.Blocks {
			if list, ok := said[section.ID]; ok && b.Text != nil {
				said[section.ID] = append(list, b.Text)
			}
		}
	}
	return struct {
		File    string                 `json:"file"`
		Program string                 `json:"program"`
		Wall    int64                  `json:"wall_ns"`
		Procs   int                    `json:"procs"`
		Events  int64                  `json:"events"`
		Said    map[string][]*doc.Text `json:"said"` // by section of the report
		Left    int64                  `json:"slices_left"`
		Locks   int64                  `json:"locks_left"`
	}{s.view.File, p.Program, p.Wall, p.Procs, p.Events, said, s.view.tracks.left, s.view.lanes.Locks}, nil
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
	list, more := s.view.tracks.shown()
	return struct {
		Tracks []Track        `json:"tracks"`
		More   map[string]int `json:"more"`
	}{list, more}, nil
}

func (s *Server) table(url.Values) (any, error) { return s.view.facts.Entries, nil }

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
	type line struct {
		ID     string     `json:"id"`
		Spans  [][7]int64 `json:"spans,omitempty"`
		Values [][2]int64 `json:"values,omitempty"`
	}
	out := struct {
		Tracks []line            `json:"tracks"`
		Names  map[uint32]string `json:"names"`
		Wakes  [][3]int64        `json:"wakes"` // time, goroutine, the one that it made ready
		More   int               `json:"more_wakes"`
	}{Tracks: []line{}, Names: map[uint32]string{}}
	shown := map[lanes.ID]bool{}
	for _, id := range ids {
		n, err := strconv.ParseUint(id, 10, 64)
		t := s.view.tracks.by[lanes.ID(n)]
		if err != nil || t == nil {
			return nil, fmt.Errorf("found track %q, expected one of /api/v1/tracks", id)
		}
		shown[lanes.ID(n)] = true
		l := line{ID: id, Values: t.steps(from, to, px)}
		for _, x := range t.spans(from, to, px) {
			l.Spans = append(l.Spans, [7]int64{int64(x.Depth), int64(x.From), int64(x.To), int64(x.Name), int64(x.Kind),
				int64(x.Count), x.Ns})
			out.Names[x.Name] = strings.ToValidUTF8(s.view.tracks.names[x.Name], "\uFFFD")
		}
		out.Tracks = append(out.Tracks, l)
	}
	out.Wakes, out.More = s.view.tracks.wakesBetween(from, to, shown)
	return out, nil
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
