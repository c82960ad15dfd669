package critpath

import (
	"math"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// Version of the JSON form.
const Version = 1

// Result is the path of a run, and the worth of each part of the program. Times are in ns.
type Result struct {
	Version    int    `json:"version"`
	T          int64  `json:"t_ns"`      // of the run that the path is of
	Replay     int64  `json:"replay_ns"` // of the computed run that weights are of
	Procs      int    `json:"procs"`     // of that
	Policy     string `json:"policy"`
	Events     int64  `json:"events"`
	Operations int    `json:"operations"`  // on objects of synchronization
	Untraced   int64  `json:"untraced_ns"` // of the path, about which the trace says nothing
	// running threads of the recorded run had no processor, all together
	Off     int64   `json:"off_ns"`
	Path    []Piece `json:"path"` // all of it, or the longest pieces, in order
	Entries []Entry `json:"entries"`
	// of all names, those first that took most; or of the one that the result is of
	Requests  []Requests    `json:"requests,omitempty"`
	Agreement *Agreement    `json:"agreement,omitempty"`
	Tied      bool          `json:"tied"`      // some weights differ with the direction of the change
	Anomalies int           `json:"anomalies"` // entries whose worth is not known
	Remarks   steps.Remarks `json:"notes"`
	Computed  bool          `json:"-"` // the path is that of the computed run
	Recorded
	Crowds []predict.Crowd `json:"-"` // what goroutines waited for longest, together
	// nil: the computed run takes as long as the recorded one, or no policy explains it better
	Nearer *Nearer  `json:"-"`
	Run    *sim.Run `json:"-"` // the computed one
}

// Nearer is a policy under which the computed run takes nearly as long as the recorded one.
type Nearer struct {
	Policy sim.Policy
	T      int64
}

// Piece is a piece of the path.
type Piece struct {
	From int64      `json:"from_ns"`
	To   int64      `json:"to_ns"`
	G    trace.GoID `json:"g"` // 0: none
	Kind string     `json:"kind"`
	Name string     `json:"name"`
}

// Entry is a procedure, or a kind of waits. Entries of these two kinds partition the run: their
// self times add up to it, and their weights, if there are no ties, to the computed run.
type Entry struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`

	Activations int   `json:"activations"`  // traced ones of a procedure with some part on the path
	Entries     int   `json:"entries"`      // those of them that began on it; of other kinds, pieces of the path
	Self        int64 `json:"self_ns"`      // on the path
	Inclusive   int64 `json:"inclusive_ns"` // with callees and started goroutines
	// Interval is that of Self, if samples divided it: 95 of 100 times it is right.
	Interval *[2]int64 `json:"interval,omitempty"`
	// Estimated: some of its work is sampled. Least: of a loop, entries of it have no event, and
	// no sample found them, so that its work may be more.
	Estimated bool  `json:"estimated,omitempty"`
	Least     bool  `json:"least,omitempty"`
	NPT       int64 `json:"npt_ns"`  // its own, of the run as it was; of procedures
	Work      int64 `json:"work_ns"` // of processors, on the path and off it
	// sleeps and the like while it was held, on the path and off it; of locks
	Delays int64 `json:"delays_ns,omitempty"`

	// The gain if the entry took no time, by linear extrapolation: dT/dx of all its work, times its
	// length. How far it goes on at that rate depends on other goroutines: see what-if.
	Weighted          int64 `json:"weighted_ns"`       // if it becomes shorter
	WeightedRight     int64 `json:"weighted_right_ns"` // if it becomes longer
	WeightedInclusive int64 `json:"weighted_incl_ns"`
	// by the computed run it would be less than nothing, or more than the run
	Unknown bool `json:"worth_unknown,omitempty"`

	Marked int64 `json:"marked_ns"` // work that VPPB's section 3.3 marks for this number of processors
	// Slack is by how much one piece of its work may become longer without making the run longer,
	// on as many processors as goroutines: the least and the most of all pieces. null: it has none,
	// or the run is too long.
	Slack *[2]int64 `json:"slack_ns"`

	// of waits: the procedures that waited so on the path, longest first, MostIn of them
	In []WaitedIn `json:"in,omitempty"`

	// Held is how long a lock was held at most, if its times are estimates because not all of its
	// operations were events.
	Held int64 `json:"held_most_ns,omitempty"`

	Waited int64 `json:"waited_ns,omitempty"` // goroutines waited for it, all together; of locks

	// Of requests: the time of other requests' goroutines on their paths, and the part on the paths
	// of the slowest hundredth.
	Other int64 `json:"other_ns,omitempty"`
	Tail  int64 `json:"tail_ns,omitempty"`
}

// WaitedIn is how long a procedure's goroutines waited on the path.
type WaitedIn struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // of the wait
	Self int64  `json:"self_ns"`
	// how many waits these are, or pieces of them
	Count   int64  `json:"count"`
	Several bool   `json:"several_goroutines,omitempty"` // that waited there
	Calls   string `json:"calls,omitempty"`              // the function in which it waited for the system or the network
	What    string `json:"what,omitempty"`               // of a well-known library they waited for
	// Acks is the time of those as long as the system delays acknowledgments.
	Acks int64 `json:"acks_ns,omitempty"`
	// Paced: most of these waits are for ticks, or until another time of the clock, and work
	// follows.
	Paced bool `json:"paced,omitempty"`
	// Stopped: most of these waits ended helpers that had done something at ticks before.
	Stopped bool `json:"stopped,omitempty"`
	// Loop is the innermost loop around most of these waits.
	Loop *Place `json:"loop,omitempty"`
	// Under is a lock that was held in most of these waits.
	Under string `json:"under,omitempty"`
	// Waiter is where another goroutine waited until the timer started one that ended that: the
	// timer was a deadline, which was set in the place above.
	Waiter *Place `json:"waiter,omitempty"`
}

// Recorded are facts of the run as it was, which are found when they are asked for. nil: the path
// is not that of this run.
type Recorded struct {
	// Delayed are the waits that others prolong, longest first.
	Delayed func() []Delayed `json:"-"`
	// Spares is the most that the run can gain without the waits for objects of a name, in ns.
	// others: objects without a name may be some of them.
	Spares func(object string, others bool) int64 `json:"-"`
	// Pauses are the sleeps by place.
	Pauses func() map[Place]Pauses `json:"-"`
}

// Pauses are how many sleeps there are in a place, and how many of these follow the answer of
// another goroutine that was asked.
type Pauses struct{ All, Answered int }

// Delayed is how long goroutines waited for an object while the goroutine that later ended their
// waits waited itself, for the outside or for another object.
type Delayed struct {
	Object string // for which they waited
	By     string // a procedure of theirs
	Kind   string // the entry of the other waits: "wait:timer"; empty: they were for Next
	Place         // of those for the outside
	Next   string // the object of the others
	Ns     int64
}

// Place is a place in the source.
type Place struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Options are what is asked for.
type Options struct {
	Procs  int  // 0: those of the run
	Max    bool // as many processors as goroutines
	Policy sim.Policy
	AsRun  bool           // the path is that of the run as it was, not that of the computed one
	Held   []predict.Held // locks whose operations were not all events
	Brief  bool           // without the path's pieces, slack and VPPB's marks, which take long
	// Beside is called, in a goroutine of its own, as soon as it is decided which operations
	// determine the waits; nil: nothing is.
	Beside func()
}

func round(x float64) int64 { return int64(math.Round(x)) }

// Agreement is how far four answers to "where is the time?" agree about procedures.
type Agreement struct {
	Tau   float64 `json:"tau"`    // Kendall's, of the orders by processor time and by worth
	First int     `json:"first"`  // number of procedures that are first in both orders,
	OfTop int     `json:"of_top"` // out of this number
	Rows  []Ranks `json:"rows"`   // those about which they differ most
}

// Ranks are the shares of a procedure in the sums over all procedures.
type Ranks struct {
	Name  string  `json:"name"`
	Work  float64 `json:"work"` // processor time
	NPT   float64 `json:"npt"`
	Path  float64 `json:"path"`
	Worth float64 `json:"worth"`
	OfRun float64 `json:"worth_of_run"` // worth, as a share of the computed run
	Why   string  `json:"why"`

	Estimated bool `json:"estimated,omitempty"` // by samples
	entry     int
}

// Requests are all requests of one name.
type Requests struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Count int    `json:"count"` // of a benchmark whose loop was traced: of its iterations, and so are the two below
	// of handlers and tests: with those that were only counted; else Count
	Number int64 `json:"number"`
	Total  int64 `json:"total_ns"`
	P50    int64 `json:"p50_ns"`
	P99    int64 `json:"p99_ns"`

	proc trace.PointID // that was called, of handlers and tests; else NoPoint
}

// Kinds of entries. Procedures and waits partition the run; the others are views of the same time.
const (
	KindProc      = "proc"
	KindWait      = "wait"
	KindLoop      = "loop"
	KindSync      = "sync" // work and delays while a lock was held
	KindGoroutine = "goroutine"
	KindRegion    = "region"
)

// noProcedure is the id of work in no procedure with a probe, as in profiles.
const noProcedure = "no-procedure"
