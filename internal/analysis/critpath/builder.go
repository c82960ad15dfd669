package critpath

import (
	"cmp"
	"slices"
	"sync"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

type builder struct {
	p       *steps.Program
	r       *replay.Replay
	res     *Result
	run     *sim.Run
	options sim.Options
	entries
	aside
	told    map[steps.StepID]steps.G // goroutines by [steps.Goroutine.Told]
	path    pieces
	visits  []visit   // of goroutines, by the path
	visited []steps.G // those that it was in

	other, tail bool // what the piece at hand is of; see NewRequest
	known
}

// aside is what is found in goroutines of its own, while the run is computed.
type aside struct {
	holds  *holds
	walker *walker        // nil: the run is a computed one
	waited []int64        // ns for each object, in the recorded run
	ready  sync.WaitGroup // of all that is found aside
}

// known is what is looked up about waits. nil: it has not been asked for.
type known struct {
	hides map[trace.PointID]bool     // procedures whose waits may be in their callees
	loops map[string][]trace.PointID // by function
	last  map[steps.StepID]bool      // ends of helpers' waits for ticks
}

// entries are the lines of the result, before they are made.
type entries struct {
	index   map[line]int
	lines   []line
	sums    []sums
	regions []string    // names of those that are regions
	views   [][]int     // entries of loops and goroutines that a context is in, by context
	dealt   [][]portion // by context
}

// piece is one of the path.
type piece struct {
	from, to trace.Time
	g        trace.GoID
	entry    int
}

// pieces are those of the path, the last one first: all, or the longest ones.
type pieces struct {
	list  []piece
	all   int
	least trace.Time // longer than this
	none  bool       // they are not asked for
}

func (p *pieces) add(x piece) {
	if p.none {
		return
	}
	if p.all++; x.to-x.from > p.least || p.least == 0 {
		p.list = append(p.list, x)
	}
	if len(p.list) == 2*mostPieces {
		p.shorten()
	}
}

// shorten keeps the longest ones.
func (p *pieces) shorten() {
	if len(p.list) > mostPieces {
		byLength := slices.Clone(p.list)
		slices.SortFunc(byLength, func(a, b piece) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
		p.least = byLength[mostPieces].to - byLength[mostPieces].from
	}
	p.list = slices.DeleteFunc(p.list, func(x piece) bool { return x.to-x.from <= p.least })
}

// allTraced reports whether all entries of a loop have events.
func (b *builder) allTraced(loop trace.PointID) bool {
	return b.r.T.Points[loop].Degraded() == 0 && b.r.T.Hits(loop).Exact()
}

// onPath is how much of an entry is on the path.
type onPath struct{ self, within, other, tail float64 }

// sums are the weights of an entry, before they are rounded.
type sums struct {
	weighted, right, inclusive float64
	onPath
	work, delays, npt float64 // on it or off it
	doubt             map[replay.ContextID]dealt
	marked            float64
	guessed           bool // some of it is sampled, on the path or off it
	// ns for which a lock was held at most, if what was done meanwhile is an estimate; 0: it is not
	most  float64
	slack *[2]float64
	in    map[waitPlace]*inPlace // of waits
}

// waitPlace is where goroutines waited, in a call of what, and for what of a library. Of a
// goroutine that a timer started it is where that was set, and where another one waited meanwhile.
type waitPlace struct {
	trace.Frame
	calls  string
	waiter trace.Frame
	what   string
}

// inPlace is how long, and how often, goroutines waited in one place.
type inPlace struct {
	ns      float64
	n       int64
	g       steps.G                   // one of them
	several bool                      // and there are others
	loops   map[trace.PointID]float64 // that the waits were in
	locks   map[int]float64           // entries of locks that were held
	paced   int64                     // waits until a time of the clock, after which something was done
	stopped int64                     // waits for a deadline that stopped a helper, which got its ticks before
	acks    float64                   // ns, of those as long as the system delays acknowledgments
}

// visit is where the path was in a goroutine, as far as it has gone back.
type visit struct {
	step steps.StepID
	open []int // entries of procedures whose activation, on the path, was open there: few
}

func (v *visit) isOpen(i int) bool { return slices.Contains(v.open, i) }

func (v *visit) opens(i int) {
	if !v.isOpen(i) {
		v.open = append(v.open, i)
	}
}

// portion is a share of a context's work; see [steps.Share].
type portion struct {
	share float64
	n     int   // samples for it, 0: it is known
	self  int   // entry
	in    []int // entries of procedures
	loops []int // entries of loops, besides those of [builder.seen]

	told map[int]float64 // sampled shares of entries, in all portions of the context
}

// dealt is time that samples gave to an entry, of the work in one context.
type dealt struct {
	ns, share float64
	n         int
}

// line identifies an entry: by the point of a procedure or loop, the cause of waits, the point that
// has a lock's name, the group of goroutines.
type line struct {
	kind string
	of   int64
}

// holds are the locks and regions in which the work of steps was done.
type holds struct {
	sets  [][]int // of entries; the first one is empty
	steps []int32 // the set of each step; nil if there are neither locks nor regions
}

// mostPieces bounds Result.Path.
const mostPieces = 100_000
