package report

import (
	"encoding/json"
	"io"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report/doc"
)

// ProfileJSON writes the part of a profile that a view selects as one JSON object.
func ProfileJSON(w io.Writer, p *profile.Profile, v View) error { return writeJSON(w, v.Of(p)) }

// PageObject is a page as JSON, with the whole profile.
type PageObject struct {
	*profile.Profile
	Advice   []advice.Item  `json:"advice"`             // the conclusions, the most important one first
	Sections []*doc.Section `json:"sections,omitempty"` // of the page, as people see it
}

// PageJSON writes a page as one JSON object.
func PageJSON(w io.Writer, f *advice.Facts, d *doc.Doc) error {
	return writeJSON(w, PageObject{f.Profile, advice.Of(f), d.Sections})
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}
