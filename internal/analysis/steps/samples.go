package steps

import (
	"qinst.dev/internal/analysis/price"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Procedures whose calls were only counted have no events: their work is in their callers'
// contexts. It is divided among the procedures in which samples found it, as in profiles. A context
// with few samples uses those of all contexts of the same goroutines in the same procedure.

// Share is one procedure's share of the work in a context.
type Share struct {
	Share float64
	Proc  trace.PointID   // that does it, NoPoint: none
	In    []trace.PointID // procedures on whose behalf, Proc too
	Loops []trace.PointID // loops that it is in, besides those of the context
	N     int             // samples by which the work is divided, 0: it is not, and all of it is Proc's
	Looks int             // in which they were taken: those of one look are not independent
	By    int             // which samples these are: the same ones have the same number
}

// found are the samples of the work in a context, or in a stratum.
type found struct {
	n      int
	looks  int // in which they were taken
	last   int // of these
	number int // see [Share.By]; 0: it has none yet
	weight float64
	in     map[beyond]float64
}

// stratum are contexts of one kind of goroutines in one procedure.
type stratum struct {
	group replay.GroupID
	proc  trace.PointID
}

// beyond is the position of a sample beyond a context: the innermost procedure, and the procedures
// and loops between.
type beyond struct {
	top trace.PointID // NoPoint: the context's own
	in  string        // numbers of four bytes, so that this is a key
}

// samples divide work.
type samples struct {
	contexts map[replay.ContextID]*found
	strata   map[stratum]*found
	dealt    [][]Share  // by context
	numbers  int        // of found, so far
	looks    int        // so far
	whole    bool       // the trace has all events, see [price.Whole]
	seen     price.Seen // of whole traces
	event    float64    // ns that the event of a call costs
}

// note adds a sample of some weight to its context and its stratum.
func (x *samples) note(at replay.ContextID, in stratum, where beyond, weight float64) {
	if x.contexts == nil {
		x.contexts, x.strata = map[replay.ContextID]*found{}, map[stratum]*found{}
	}
	note(x.contexts, at, where, weight, x.looks)
	note(x.strata, in, where, weight, x.looks)
}

func note[K comparable](all map[K]*found, key K, where beyond, weight float64, look int) {
	s := all[key]
	if s == nil {
		s = &found{in: map[beyond]float64{}}
		all[key] = s
	}
	s.n, s.weight = s.n+1, s.weight+weight
	s.in[where] += weight
	if s.looks == 0 || look != s.last {
		s.looks, s.last = s.looks+1, look
	}
}
