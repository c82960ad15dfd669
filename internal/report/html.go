package report

import (
	_ "embed"
	"html/template"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

//go:embed figures.html
var figuresHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// Look is that of [HTML]'s figures.
func Look() doc.Look { return doc.Look{Style: template.CSS(pageCSS), Script: template.JS(pageJS)} }

var figures = template.Must(template.New("figures").Funcs(template.FuncMap{"dur": measure.Time[int64],
	"percent":   measure.Percent,
	"estimated": estimated, "between": between, "hits": hits, "hitsBetween": hitsBetween, "local": measure.Local,
	"count": countAny}).Parse(figuresHTML))

// HTML builds the report for the browser: possible changes first, the ranking with its states,
// synchronization, the work on behalf of each procedure, and the other sections of the page for a
// terminal. A view narrows the figures, not the advice, which is about the whole run. t is nil
// for a profile of several traces.
func HTML(t *trace.Trace, f *advice.Facts, v View) (*doc.Doc, error) {
	whole := t != nil
	if !whole {
		t = &trace.Trace{}
	}
	pg := newPage(t, f)
	pg.first()
	if v.narrow() {
		pg.Section("summary").Note("%s is shown below; sums, and what to change, are of the whole run", v.String())
	}
	if err := pg.figures(v); err != nil {
		return nil, err
	}
	if whole {
		pg.rankings()
		pg.lost()
		pg.data()
		pg.cost()
	} else {
		pg.losses()
	}
	return pg.Doc, nil
}

// figures adds the sections that are pictures.
func (pg *page) figures(v View) error {
	h := &htmlPage{P: v.Of(pg.p), view: v, Least: measure.Percent(1, int64(1/htmlLeast))}
	for i, ns := range pg.p.Parallelism {
		h.Busy = append(h.Busy, htmlBusy{i, measure.Time(ns), measure.Percent(ns, pg.p.Wall), width(ns, pg.p.Wall)})
	}
	h.charts()
	h.lines()
	h.objects()
	h.flame()
	for _, f := range []struct {
		id, title string
		any       bool
	}{
		{"processors", "Processors busy", true},
		{"timeline", "Over time", len(h.Charts) > 0},
		{"entries", "Where the run time is", true},
		{"synchronization", "Synchronization", len(h.Objects) > 0},
		{"behalf", "On whose behalf", true},
	} {
		if !f.any {
			continue
		}
		var out strings.Builder
		if err := figures.ExecuteTemplate(&out, f.id, h); err != nil {
			return err
		}
		pg.Add(f.id, f.title).Figure(template.HTML(out.String()))
	}
	return nil
}
