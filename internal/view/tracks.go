package view

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// mostSlices bounds the slices that are kept, at 24 bytes each.
const mostSlices = 8_000_000

// track is a lane with all its slices. Those of one depth are in order and do not overlap.
type track struct {
	lane   lanes.Lane
	depths [][]slice
	values []value // of a lane of numbers
	open   []open
	ns     int64 // in slices of depth 0 other than waits; of a queue the time of all in it
}

type slice struct {
	from, to trace.Time
	name     uint32
	kind     lanes.Kind
}

type open struct {
	from trace.Time
	name uint32
	kind lanes.Kind
}

type value struct {
	at trace.Time
	n  int64
}

// tracks are all lanes of a trace. They are a [lanes.Form].
type tracks struct {
	list  []*track // in the order in which they began
	by    map[lanes.ID]*track
	names []string
	index map[string]uint32
	kept  int
	left  int64      // slices beyond [mostSlices]
	end   trace.Time // of the run
}

func newTracks() *tracks { return &tracks{by: map[lanes.ID]*track{}, index: map[string]uint32{}} }

// Lane adds a lane, or renames one.
func (ts *tracks) Lane(l lanes.Lane) {
	if t := ts.by[l.ID]; t != nil {
		t.lane = l
		return
	}
	t := &track{lane: l}
	ts.by[l.ID], ts.list = t, append(ts.list, t)
}

// Begin begins a slice.
func (ts *tracks) Begin(lane lanes.ID, at trace.Time, kind lanes.Kind, name string, _ uint64) {
	n, ok := ts.index[name]
	if !ok {
		n = uint32(len(ts.names))
		ts.index[name], ts.names = n, append(ts.names, name)
	}
	t := ts.by[lane]
	t.open = append(t.open, open{at, n, kind})
}

// End ends a slice.
func (ts *tracks) End(lane lanes.ID, at trace.Time) {
	t := ts.by[lane]
	depth := len(t.open) - 1
	o := t.open[depth]
	t.open = t.open[:depth]
	if depth == 0 && o.kind != lanes.Wait {
		t.ns += int64(at - o.from)
	}
	if ts.kept == mostSlices {
		ts.left++
		return
	}
	ts.kept++
	for len(t.depths) <= depth {
		t.depths = append(t.depths, nil)
	}
	t.depths[depth] = append(t.depths[depth], slice{o.from, at, o.name, o.kind})
}

// Wakes is not shown yet.
func (ts *tracks) Wakes(lanes.ID, trace.Time, string, uint64) {}

// Value adds a number.
func (ts *tracks) Value(lane lanes.ID, at trace.Time, n int64) {
	t := ts.by[lane]
	if k := len(t.values); k > 0 {
		t.ns += t.values[k-1].n * int64(at-t.values[k-1].at)
	}
	t.values = append(t.values, value{at, n})
}

// Track is a line in the list of tracks.
type Track struct {
	ID    lanes.ID `json:"id,string"`
	Group string   `json:"group"`
	Name  string   `json:"name"`
	Depth int      `json:"depth"` // of its slices, 0: it has numbers
	Ns    int64    `json:"ns"`    // in slices other than waits; of a queue the time of all in it
}

// mostShown is how many tracks of a group are listed: those with most time.
const mostShown = 200

// shown lists the tracks, and counts those of each group that are not listed.
func (ts *tracks) shown() (list []Track, more map[string]int) {
	more = map[string]int{}
	groups := map[lanes.Group][]*track{}
	for _, t := range ts.list {
		groups[t.lane.Group] = append(groups[t.lane.Group], t)
	}
	for g := range lanes.NumGroups {
		of := groups[g]
		if g != lanes.Processors {
			slices.SortStableFunc(of, func(a, b *track) int { return cmp.Compare(b.ns, a.ns) })
		}
		if len(of) > mostShown {
			more[g.String()], of = len(of)-mostShown, of[:mostShown]
		}
		for _, t := range of {
			list = append(list, Track{t.lane.ID, g.String(), strings.ToValidUTF8(t.lane.Name, "\uFFFD"), len(t.depths), t.ns})
		}
	}
	return list, more
}

// Span is a slice as it is drawn, or several that are too narrow to be drawn apart.
type Span struct {
	Depth int
	From  trace.Time
	To    trace.Time
	Name  uint32     // of the one that lasts longest
	Kind  lanes.Kind // of that
	Count int
	Ns    int64 // in slices, between From and To
}

// spans are the slices of a track between two times, on so many pixels.
func (t *track) spans(from, to trace.Time, px int) (list []Span) {
	narrow := max((to-from)/trace.Time(px), 1)
	for depth, all := range t.depths {
		i := sort.Search(len(all), func(i int) bool { return all[i].to > from })
		var last *Span
		longest := trace.Time(0)
		for ; i < len(all) && all[i].from < to; i++ {
			s := &all[i]
			ns := s.to - s.from
			if ns < narrow && last != nil && last.Count > 0 && s.to-last.From < narrow {
				last.To, last.Count, last.Ns = s.to, last.Count+1, last.Ns+int64(ns)
				if ns > longest {
					longest, last.Name, last.Kind = ns, s.name, s.kind
				}
				continue
			}
			list = append(list, Span{depth, s.from, s.to, s.name, s.kind, 1, int64(ns)})
			last, longest = nil, ns
			if ns < narrow {
				last = &list[len(list)-1]
			}
		}
	}
	return list
}

// steps are the numbers of a track between two times, on so many pixels: the largest of each pixel.
func (t *track) steps(from, to trace.Time, px int) (list [][2]int64) {
	i := sort.Search(len(t.values), func(i int) bool { return t.values[i].at > from })
	if i > 0 {
		list = append(list, [2]int64{int64(from), t.values[i-1].n})
	}
	narrow := max((to-from)/trace.Time(px), 1)
	for ; i < len(t.values) && t.values[i].at < to; i++ {
		v := t.values[i]
		if k := len(list); k > 1 && int64(v.at)-list[k-1][0] < int64(narrow) {
			list[k-1][1] = max(list[k-1][1], v.n)
			continue
		}
		list = append(list, [2]int64{int64(v.at), v.n})
	}
	return list
}
