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
		return e.Kind == profile.KindProc && e.Name == name && e.File != ""
	})
	if i < 0 {
		return nil, fmt.Errorf("found name=%s, expected a procedure of /api/v1/table that has a file", name)
	}
	e := &p.Entries[i]
	lines, err := report.Source(p, e, s.view.Sources())
	if err != nil {
		return nil, err
	}
	return struct {
		File  string              `json:"file"`
		Lines []report.SourceLine `json:"lines"`
	}{e.File, lines}, nil
}
