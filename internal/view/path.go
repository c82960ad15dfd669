package view

import (
	"net/url"
	"sort"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/trace"
)

// newWhole computes the path of the run with its pieces, after all else has been computed from the
// same steps.
func (v *View) newWhole() *critpath.Result {
	if v.err != nil {
		return nil
	}
	v.items()
	if v.facts.Program == nil || v.facts.Path == nil {
		return nil
	}
	v.asking.Lock()
	defer v.asking.Unlock()
	options := advice.AsRun(v.facts.Profile)
	options.Brief = false
	return critpath.New(v.facts.Program, options)
}

// pieces are those of the path between two times.
func (v *View) pieces(from, to trace.Time) []critpath.Piece {
	r := v.whole()
	if r == nil {
		return nil
	}
	first := sort.Search(len(r.Path), func(i int) bool { return trace.Time(r.Path[i].To) > from })
	end := sort.Search(len(r.Path), func(i int) bool { return trace.Time(r.Path[i].From) >= to })
	return r.Path[first:max(first, end)]
}

// pathBand is the path by the names of its pieces.
func (v *View) pathBand(from, to trace.Time, parts int) *Band {
	a := newArea(from, to, parts)
	var names []string
	index := map[string]uint32{}
	for _, p := range v.pieces(from, to) {
		n, ok := index[p.Name]
		if !ok {
			n = uint32(len(names))
			index[p.Name], names = n, append(names, p.Name)
		}
		a.add(n, trace.Time(p.From), trace.Time(p.To), 1)
	}
	return a.band("path", "what the end of the run waits for", names)
}

// PathPiece is a piece of the path, or several that are too narrow to be drawn apart.
type PathPiece struct {
	From  int64      `json:"from"`
	To    int64      `json:"to"`
	G     trace.GoID `json:"g,string"` // its track; 0: none
	Kind  string     `json:"kind"`
	Name  string     `json:"name"` // of the one that lasts longest
	Count int        `json:"count"`
}

// path answers with pieces of the path. It has none if the path is not known.
func (s *Server) path(q url.Values) (any, error) {
	from, to, px, err := s.window(q, mostPixels)
	if err != nil {
		return nil, err
	}
	narrow, longest := max(int64(to-from)/int64(px), 1), int64(0)
	list := []PathPiece{}
	for _, p := range s.view.pieces(from, to) {
		if n := len(list); n > 0 && p.To-list[n-1].From < narrow {
			last := &list[n-1]
			last.To, last.Count = p.To, last.Count+1
			if p.To-p.From > longest {
				longest, last.G, last.Kind, last.Name = p.To-p.From, p.G, p.Kind, strings.ToValidUTF8(p.Name, "\uFFFD")
			}
			continue
		}
		longest = p.To - p.From
		list = append(list, PathPiece{p.From, p.To, p.G, p.Kind, strings.ToValidUTF8(p.Name, "\uFFFD"), 1})
	}
	return struct {
		Known  bool        `json:"known"`
		Pieces []PathPiece `json:"pieces"`
	}{s.view.whole() != nil, list}, nil
}
