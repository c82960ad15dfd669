package report

import (
	"encoding/json"
	"io"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report/doc"
)

// answer is the JSON form of a report: the profile, the advice, and for a page its sections.
type answer struct {
	*profile.Profile
	Advice   []advice.Item  `json:"advice"`
	Sections []*doc.Section `json:"sections,omitempty"`
}

// ProfileJSON writes the part of a profile that a view selects as one JSON object, with the
// advice on the whole profile.
func ProfileJSON(w io.Writer, p *profile.Profile, v View) error {
	return writeJSON(w, answer{Profile: v.Of(p), Advice: advised(p)})
}

// PageJSON writes a page as one JSON object, with the whole profile.
func PageJSON(w io.Writer, p *profile.Profile, d *doc.Doc) error {
	return writeJSON(w, answer{p, advised(p), d.Sections})
}

// advised is never nil: that there is no advice is an empty list.
func advised(p *profile.Profile) []advice.Item { return append([]advice.Item{}, advice.Of(p)...) }

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}
