package view

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes"
)

// A page in a file has the answers that the server would give, as far as they are known before
// anybody asks: of a number of tracks, at one resolution.
const (
	mostKeptSpans    = 100_000
	mostKeptSources  = 20 // procedures, those first that work most themselves
	mostKeptRequests = 10
	keptPixels       = 4000
	keptParts        = 600
	mostCompared     = 10 // conclusions whose subjects are drawn in both traces
)

// keptTracks is how many tracks of each group are in a file, besides those of conclusions.
var keptTracks = [lanes.NumGroups]int{lanes.Processors: 64, lanes.Goroutines: 60, lanes.Locks: 16, lanes.Queues: 16,
	lanes.Regions: 16, lanes.Collector: 1}

// File is how much of a trace is in a file.
type File struct {
	Tracks int   `json:"tracks"` // of all
	Of     int   `json:"of"`
	Fine   int64 `json:"fine_ns"` // shorter slices are drawn together
}

// book collects answers by question.
type book struct {
	s       *Server
	answers map[string]any
}

// ask keeps an answer. A question that cannot be answered is one that the page will not answer
// either.
func (b *book) ask(name string, q url.Values) {
	f := b.s.api[name]
	if f == nil {
		return
	}
	x, err := f(q)
	if err != nil {
		return
	}
	key := name
	if text := strings.ReplaceAll(q.Encode(), "+", "%20"); text != "" {
		key += "?" + text
	}
	b.answers[key] = x
}

// WriteHTML writes the page as one file that needs no server.
func WriteHTML(w io.Writer, v *View) error {
	if err := v.Wait(); err != nil {
		return err
	}
	b := &book{s: NewServer(v), answers: map[string]any{}}
	for _, name := range []string{"trace", "experiment"} {
		b.ask(name, nil)
	}
	if v.t != nil {
		b.trace()
	}
	answers, err := json.Marshal(b.answers)
	if err != nil {
		return err
	}
	modules, err := modules()
	if err != nil {
		return err
	}
	style, err := page.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	return file.Execute(w, map[string]any{"Style": template.CSS(style), "Answers": template.JS(answers),
		"Modules": template.HTML(modules)})
}

// trace asks for all that is kept of a trace.
func (b *book) trace() {
	for _, name := range []string{"items", "names", "table", "flame", "objects", "requests", "records"} {
		b.ask(name, nil)
	}
	b.pictures()
	b.details()
	b.before()
	b.answers["file"] = b.timeline()
}

// window is the whole run on some pixels.
func (b *book) window(px int) url.Values {
	return url.Values{"from": {"0"}, "to": {fmt.Sprint(int64(b.s.view.tracks.end))}, "px": {fmt.Sprint(px)}}
}

// pictures asks for those of the run and of conclusions. The page finds them by their items.
func (b *book) pictures() {
	for i := -1; i < len(b.s.view.items()); i++ {
		q, key := b.window(keptParts), "bands"
		if i >= 0 {
			q.Set("item", fmt.Sprint(i))
			key += "?item=" + fmt.Sprint(i)
		}
		if x, err := b.s.bands(q); err == nil {
			b.answers[key] = x
		}
	}
	if x, err := b.s.path(b.window(keptPixels)); err == nil {
		b.answers["path"] = x
	}
}

// before asks for the comparison.
func (b *book) before() {
	v := b.s.view.Before
	if v == nil {
		return
	}
	b.ask("compared", nil)
	if v.Wait() != nil {
		return
	}
	was := &book{s: NewServer(v)}
	if x, err := was.s.bands(was.window(keptParts)); err == nil {
		b.answers["before/bands"] = x
	}
	left := mostCompared
	for _, c := range conclusions(v.items(), b.s.view.items()) {
		subject := cmp.Or(c.Now, c.Was).Subject
		if left--; left < 0 {
			break
		}
		for below, of := range map[string]*book{"": b, "before/": was} {
			q := of.window(keptParts)
			q.Set("kind", subject.Kind)
			q.Set("name", subject.Name)
			if x, err := of.s.bands(q); err == nil {
				b.answers[below+"bands?name="+shown(subject.Name)] = x
			}
		}
	}
}

// details asks for requests and source.
func (b *book) details() {
	if list, ok := b.answers["requests"].([]critpath.Requests); ok {
		for _, r := range list[:min(len(list), mostKeptRequests)] {
			b.ask("requests", url.Values{"name": {shown(r.Name)}})
		}
	}
	if list, ok := b.answers["records"].([]Kind); ok {
		for _, k := range list[:min(len(list), mostKeptRequests)] {
			b.ask("records", url.Values{"name": {shown(k.Name)}})
		}
	}
	procs := slices.DeleteFunc(b.s.view.procedures(), func(e profile.Entry) bool { return e.File == "" })
	for _, e := range procs[:min(len(procs), mostKeptSources)] {
		b.ask("source", url.Values{"name": {shown(e.Name)}})
	}
}

// timeline asks for tracks with their slices, at the best resolution for which there is room.
func (b *book) timeline() File {
	ts := b.s.view.tracks
	all, more := ts.shown()
	var count [lanes.NumGroups]int
	list := slices.DeleteFunc(slices.Clone(all), func(t Track) bool {
		g := ts.by[t.ID].lane.Group
		count[g]++
		return count[g] > keptTracks[g] && !b.concluded(t.Name)
	})
	var ids []string
	for _, t := range list {
		ids = append(ids, fmt.Sprint(uint64(t.ID)))
	}
	f := File{Tracks: len(list), Of: len(ts.list)}
	for g, n := range count {
		if left := n - keptTracks[g]; left > 0 {
			more[lanes.Group(g).String()] += left
		}
	}
	folds := ts.folds()
	b.answers["tracks"] = List{list, more, folds}
	for _, f := range folds {
		q := b.window(keptParts)
		q.Set("name", f.Name)
		if x, err := b.s.fold(q); err == nil {
			b.answers["fold?name="+f.Name] = x
		}
	}
	for px := keptPixels; px > 1 && len(ids) > 0; px /= 2 {
		x := b.s.onPixels(0, ts.end+1, px, ids[:min(len(ids), mostTracks)], nil)
		n := 0
		for _, l := range x.Tracks {
			n += len(l.Spans) + len(l.Values)
		}
		f.Fine = int64(ts.end) / int64(px)
		if b.answers["timeline"] = x; n <= mostKeptSpans {
			break
		}
	}
	return f
}

// concluded reports whether a track is of the subject of a conclusion.
func (b *book) concluded(name string) bool {
	for _, it := range b.s.view.items() {
		if n := it.Subject.Name; n != "" && (strings.HasPrefix(name, n) || strings.HasSuffix(name, " "+n)) {
			return true
		}
	}
	return false
}

// imports are those of a module of the page.
var imports = regexp.MustCompile(`from "\./(?:vendor/)?([-\w]+\.mjs)"`)

// modules is an import map with all modules of the page: those in a file cannot import others by
// their place.
func modules() ([]byte, error) {
	list := map[string]string{}
	err := fs.WalkDir(page, "page", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".mjs" {
			return err
		}
		text, err := page.ReadFile(name)
		text = imports.ReplaceAll(text, []byte(`from "qinst/$1"`))
		list["qinst/"+path.Base(name)] = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"imports": list})
}

var file = template.Must(template.New("file").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:">
<title>qinst</title>
<link rel="icon" href="data:,">
<style>{{.Style}}</style>
<script type="application/json" id="answers">{{.Answers}}</script>
<script type="importmap">{{.Modules}}</script>
<script type="module">import "qinst/app.mjs";</script>
</head>
<body><main id="app" aria-busy="true"><p>Reading the trace</p></main></body>
</html>
`))
