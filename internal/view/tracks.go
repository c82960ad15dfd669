package view

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// mostSlices bounds the slices and numbers that are kept, at 40 and 16 bytes each.
const mostSlices = 2_000_000

// mostWakes bounds the wake-ups that are kept, at 24 bytes each.
const mostWakes = 1_000_000

// track is a lane with all its slices. Those of one depth are in order and do not overlap.
type track struct {
	lane   lanes.Lane
	depths [][]slice
	wide   [][]slice // the same for windows of much of the run; see [track.level]
	values []value   // of a lane of numbers
	open   []open
	since  trace.Time // from when on there was the lane
	ns     int64      // in slices of depth 0 other than waits; of a queue the time of all in it
	start  uint32     // of a goroutine, the name of the function it was started for
}

// slice is one of a lane, or several that follow each other: see [tracks.compact].
type slice struct {
	from, to trace.Time
	ns       trace.Time // in slices, between from and to
	name     uint32     // of the one that lasts longest, as kind is
	count    uint32
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
	mu    sync.Mutex // held while lanes are read, except for a moment now and then
	calls int
	now   trace.Time   // how far they are read
	marks []trace.Time // where that was after so many calls

	list  []*track // in the order in which they began
	by    map[lanes.ID]*track
	names []string
	index map[string]uint32
	end   trace.Time // of the run
	capacity

	titled  map[uint32]lanes.ID // goroutines, by all names that their lanes had
	holders map[int64]lanes.ID  // the lane of a lock's first holders, by the lock's number
	wakes   []wake
	doing   [lanes.NumKinds]uint32 // names of what goroutines do
	nobody  uint32
}

// wake is when a goroutine made another one ready.
type wake struct {
	at       trace.Time
	from, to lanes.ID // to is 0 until it is known
}

func newTracks(end trace.Time) *tracks {
	ts := &tracks{end: end, capacity: capacity{most: mostSlices}, by: map[lanes.ID]*track{},
		index: map[string]uint32{}, titled: map[uint32]lanes.ID{}, holders: map[int64]lanes.ID{}}
	for k := range lanes.NumKinds {
		ts.doing[k] = ts.name(k.String())
	}
	running := ts.name("running")
	ts.doing[lanes.Procedure], ts.doing[lanes.Loop] = running, running
	ts.nobody = ts.name("nobody")
	return ts
}

// often is after how many calls the tracks are shown to those that wait for them.
const often = 4096

// reads says how far the lanes are read.
func (ts *tracks) reads(at trace.Time) {
	ts.now = at
	if ts.calls%markEvery == 0 {
		ts.marks = append(ts.marks, at)
	}
	if ts.calls++; ts.calls%often == 0 {
		ts.mu.Unlock()
		ts.mu.Lock()
	}
}

// Lane adds a lane, or renames one.
func (ts *tracks) Lane(l lanes.Lane) {
	t := ts.by[l.ID]
	if t == nil {
		t = &track{since: ts.now}
		ts.by[l.ID], ts.list = t, append(ts.list, t)
	}
	t.lane = l
	switch l.Group {
	case lanes.Goroutines:
		_, function, _ := strings.Cut(l.Name, " ")
		t.start = ts.name(function)
		ts.titled[ts.name(l.Name)] = l.ID
	case lanes.Locks:
		if _, ok := ts.holders[l.Number]; !ok {
			ts.holders[l.Number] = l.ID
		}
	}
}

// has reports whether there is a lane.
func (ts *tracks) has(id lanes.ID) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.by[id] != nil
}

// name is the number of a name.
func (ts *tracks) name(name string) uint32 {
	n, ok := ts.index[name]
	if !ok {
		n = uint32(len(ts.names))
		ts.index[name], ts.names = n, append(ts.names, name)
	}
	return n
}

// Begin begins a slice.
func (ts *tracks) Begin(lane lanes.ID, at trace.Time, kind lanes.Kind, name string, flow uint64) {
	ts.reads(at)
	t := ts.by[lane]
	t.open = append(t.open, open{at, ts.name(name), kind})
	if n := len(ts.wakes); flow != 0 && n > 0 && ts.wakes[n-1].to == 0 {
		ts.wakes[n-1].to = lane
	}
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
	if !ts.room() {
		ts.left++
		return
	}
	for len(t.depths) <= depth {
		t.depths = append(t.depths, nil)
	}
	t.depths[depth] = append(t.depths[depth], slice{o.from, at, at - o.from, o.name, 1, o.kind})
}

// Wakes begins a wake-up. The slice in which it ends is the next one that begins.
func (ts *tracks) Wakes(lane lanes.ID, at trace.Time, _ string, _ uint64) {
	if len(ts.wakes) < mostWakes {
		ts.wakes = append(ts.wakes, wake{at: at, from: lane})
	}
}

// Value adds a number.
func (ts *tracks) Value(lane lanes.ID, at trace.Time, n int64) {
	t := ts.by[lane]
	if k := len(t.values); k > 0 {
		t.ns += t.values[k-1].n * int64(at-t.values[k-1].at)
	}
	if ts.room() {
		t.values = append(t.values, value{at, n})
	}
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

// Fold are all goroutines that were started for a function. They are one track until one wants to
// see each.
type Fold struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Ns    int64  `json:"ns"` // of all of them, other than waits
}

// foldFrom is from how many goroutines on a function has a track of its own, and mostFolds how many
// functions have: those with most time.
const foldFrom, mostFolds = 8, 40

// folds are the functions that many goroutines were started for.
func (ts *tracks) folds() []Fold {
	by := map[uint32]*Fold{}
	for _, t := range ts.list {
		if t.lane.Group != lanes.Goroutines {
			continue
		}
		f := by[t.start]
		if f == nil {
			f = &Fold{Name: shown(ts.names[t.start])}
			by[t.start] = f
		}
		f.Count++
		f.Ns += t.ns
	}
	list := []Fold{}
	for _, f := range by {
		if f.Count >= foldFrom {
			list = append(list, *f)
		}
	}
	slices.SortFunc(list, func(a, b Fold) int {
		return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), mostFolds)]
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

// spans are the slices of a track between two times, on so many pixels. wide, if it is not 0, is
// the length below which slices may be taken together once and for all.
func (t *track) spans(from, to trace.Time, px int, wide trace.Time) (list []Span) {
	narrow := max((to-from)/trace.Time(px), 1)
	for depth := range t.depths {
		all := t.depths[depth]
		if wide > 0 && narrow >= wide {
			all = t.level(depth, wide)
		}
		i := sort.Search(len(all), func(i int) bool { return all[i].to > from })
		var last *Span
		longest := trace.Time(0)
		for ; i < len(all) && all[i].from < to; i++ {
			s := &all[i]
			if s.to-s.from < narrow && last != nil && s.to-last.From < narrow {
				last.To, last.Count, last.Ns = s.to, last.Count+int(s.count), last.Ns+int64(s.ns)
				if s.ns > longest {
					longest, last.Name, last.Kind = s.ns, s.name, s.kind
				}
				continue
			}
			list = append(list, Span{depth, s.from, s.to, s.name, s.kind, int(s.count), int64(s.ns)})
			last, longest = nil, s.ns
			if s.to-s.from < narrow {
				last = &list[len(list)-1]
			}
		}
	}
	return list
}

// steps are the numbers of a track between two times, on so many pixels: the largest of each pixel,
// and the last one.
func (t *track) steps(from, to trace.Time, px int) (list [][2]int64) {
	i := sort.Search(len(t.values), func(i int) bool { return t.values[i].at > from })
	if i > 0 {
		list = append(list, [2]int64{int64(from), t.values[i-1].n})
	}
	end := i + sort.Search(len(t.values)-i, func(k int) bool { return t.values[i+k].at >= to })
	for _, v := range largest(slices.Clone(t.values[i:end]), max((to-from)/trace.Time(px), 1)) {
		list = append(list, [2]int64{int64(v.at), v.n})
	}
	return list
}

// mostArrows is how many wake-ups are drawn. If there are more none is: one could not tell them
// apart.
const mostArrows = 400

// wakesBetween are the wake-ups between two times of and by tracks that are shown; more is how many
// there are if these are too many.
func (ts *tracks) wakesBetween(from, to trace.Time, shown map[lanes.ID]bool) (list [][3]int64, more int) {
	list = [][3]int64{}
	i := sort.Search(len(ts.wakes), func(i int) bool { return ts.wakes[i].at >= from })
	for ; i < len(ts.wakes) && ts.wakes[i].at < to; i++ {
		w := ts.wakes[i]
		if !shown[w.from] || !shown[w.to] || w.from == w.to {
			continue
		}
		if more++; more <= mostArrows {
			list = append(list, [3]int64{int64(w.at), int64(w.from), int64(w.to)})
		}
	}
	if more > mostArrows {
		return [][3]int64{}, more
	}
	return list, 0
}
