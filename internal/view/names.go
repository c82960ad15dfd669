package view

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
)

// mostNamed is how many procedures of a trace have a rank.
const mostNamed = 200

// names answers with the procedures in the order of their own time, those of the trace before
// alternately with those of this one. The page gives them colours in that order, so that a
// procedure has the same one in all pictures of both traces, whichever is drawn first.
func (s *Server) names(url.Values) (any, error) {
	var ranks [][]profile.Entry
	for v := s.view; v != nil && v.Wait() == nil; v = v.Before {
		ranks = append(ranks, v.procedures())
	}
	list, seen := []string{}, map[string]bool{}
	for i := range mostNamed {
		for _, all := range ranks {
			if i >= len(all) {
				continue
			}
			if name := shown(all[i].Name); !seen[name] && len(name) < longestName {
				seen[name], list = true, append(list, name)
			}
		}
	}
	return list, nil
}

// longestName bounds the answer. A longer name, which no person wrote, has no rank.
const longestName = 1000

// procedures are those of the profile, by their own time.
func (v *View) procedures() []profile.Entry {
	list := slices.DeleteFunc(slices.Clone(v.facts.Entries), func(e profile.Entry) bool {
		return e.Kind != profile.KindProc
	})
	slices.SortStableFunc(list, func(a, b profile.Entry) int {
		return cmp.Or(cmp.Compare(b.SelfNPT, a.SelfNPT), strings.Compare(a.Name, b.Name))
	})
	return list
}
