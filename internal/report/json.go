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

// PageJSON writes a page as one JSON object, with the whole profile.
func PageJSON(w io.Writer, f *advice.Facts, d *doc.Doc) error {
	return writeJSON(w, struct {
		*profile.Profile
		Advice   []advice.Item  `json:"advice"`
		Sections []*doc.Section `json:"sections,omitempty"`
	}{f.Profile, advice.Of(f), d.Sections})
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}
