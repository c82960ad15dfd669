package view

import (
	"fmt"
	"net/url"
	"slices"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report"
)

// source answers with the lines of a procedure and their costs.
func (s *Server) source(q url.Values) (any, error) {
	p := s.view.facts.Profile
	name := q.Get("name")
	i := slices.IndexFunc(p.Entries, func(e profile.Entry) bool {
		return e.Kind == profile.KindProc && shown(e.Name) == name && e.File != ""
	})
	if i < 0 {
		return nil, fmt.Errorf("found name=%s, expected a procedure of /api/v1/table that has a file", name)
	}
	e := &p.Entries[i]
	text := Source{File: e.File, Lines: []report.SourceLine{}}
	if lines, err := report.Source(p, e, s.view.Sources()); err != nil {
		text.Missing = err.Error()
	} else {
		text.Lines = append(text.Lines, lines...)
	}
	return text, nil
}

// Source is the text of a procedure.
type Source struct {
	File    string              `json:"file"`
	Lines   []report.SourceLine `json:"lines"`
	Missing string              `json:"missing,omitempty"` // why there is no text
}

// shown is a name as JSON has it: each byte that is no text is replaced.
func shown(name string) string { return string([]rune(name)) }
