package profile

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"qinst.dev/internal/trace"
)

// Version is the version of the JSON form. It changes when a field is removed or changes its
// meaning. New fields do not change it.
const Version = 1

// Kinds of entries.
const (
	KindProc      = "proc"
	KindLoop      = "loop"      // its self time is its procedure's too
	KindRegion    = "region"    // usage of goroutines themselves in regions of that name
	KindLabels    = "labels"    // or with labels of package runtime/pprof
	KindGoroutine = "goroutine" // all goroutines of one start function created in one procedure
	KindSync      = "sync"      // synchronization objects of one name; a lock's times are its holders'
)

// NoProcedure is the id of the entry for time under an empty profile stack.
const NoProcedure = "no-procedure"

// Profile is the profile of one run. Durations are in ns. Its sums are exact up
// to the rounding of each number: self NPT of the procedures + idle = wall =
// NPT of the roots + idle.
type Profile struct {
	Version int    `json:"version"`
	Program string `json:"program,omitempty"`

	Ran  int64 `json:"ran_ns"` // more than wall after a limit: the rest was only counted
	Wall int64 `json:"wall_ns"`
	Busy int64 `json:"busy_ns"` // processor time of all goroutines
	Spin int64 `json:"spin_ns"` // processor time in loops that only wait; not busy
	// processors held without a goroutine: the scheduler looked for work, or switched
	Searched  int64 `json:"searched_ns"`
	Idle      int64 `json:"idle_ns"`        // no goroutine was busy
	IdleAtEnd int64 `json:"idle_at_end_ns"` // of that, the idle time at the end, which no goroutine ended
	// not in Idle: goroutines ran as far as the scheduler knows, and the operating system had taken
	// all their processors
	IdleOff int64 `json:"idle_off_ns"`
	// of Idle: a goroutine of the program was ready, and its thread had yet to wake up, or another
	// program had its processor
	IdleReady int64 `json:"idle_ready_ns"`
	NPTSum    int64 `json:"npt_sum_ns"` // wall - idle
	Procs     int   `json:"procs"`      // GOMAXPROCS, as it was for most of the run
	// how long GOMAXPROCS had each value, if it had several
	ProcsFor map[int]int64 `json:"procs_ns,omitempty"`
	Virtual  int           `json:"-"` // processors of the program's own, 0: none

	// Notes are statements that the profile cannot make because data is missing.
	Notes []string `json:"notes,omitempty"`

	Timeline *Timeline `json:"timeline,omitempty"` // nil: of several traces

	Events     int64  `json:"events"`         // read
	Goroutines int64  `json:"goroutines"`     // created
	Degraded   uint64 `json:"degraded"`       // procedure calls that were counted but not traced
	Lost       int64  `json:"lost"`           // events known to be missing
	Part       bool   `json:"part,omitempty"` // it is of a part of a run
	// not in Busy, as far as no record says when: the operating system kept running threads of
	// goroutines waiting
	OffCPU  int64     `json:"offcpu_ns"`
	OffCPUs *Interval `json:"offcpu_interval,omitempty"` // bounds of OffCPU
	// times when it took the processors of running goroutines; nil: it did not say when
	Off *Off `json:"off,omitempty"`

	// Effective and Nominal are the parallelism, on average over the run (Quartz, 3.1):
	// goroutines on a processor that do not spin; goroutines that could be, spinning or not.
	Effective float64 `json:"effective_parallelism"`
	Nominal   float64 `json:"nominal_parallelism"`
	Alone     int64   `json:"alone_ns"` // of the run, while one goroutine of the program alone was runnable
	// AlonePath are procedures, from outside in, that each have most of that time on their behalf.
	AlonePath []string `json:"alone_path,omitempty"`

	Parallelism []int64 `json:"parallelism"` // ns with 0, 1, 2 ... processors busy
	Roots       []Part  `json:"roots"`
	BlockedBy   []Wait  `json:"blocked_by"` // waits of the program's goroutines by reason
	// IdleFor divides the idle time that is not IdleReady, as far as the goroutines that ended it
	// tell.
	IdleFor []IdleFor `json:"idle_for,omitempty"`
	Entries []Entry   `json:"entries"`
	Objects []Object  `json:"objects"` // of synchronization, longest waits first
	Left    []Left    `json:"left,omitempty"`
	Endless []Endless `json:"endless,omitempty"`
	Chains  []Chain   `json:"chains,omitempty"`
	Calls   []Call    `json:"calls,omitempty"`

	Sampling *Sampling `json:"sampling,omitempty"` // nil: no time is divided by samples
	// Doing is what procedures do by functions without probes, and atomic operations, of the
	// normalized processor time of all samples that tell what text ran; most first
	Doing []DoneIn `json:"doing,omitempty"`

	GC     GC           `json:"gc"`
	Memory *Memory      `json:"memory,omitempty"` // nil: nothing is known of it
	CPU    CPU          `json:"cpu"`
	Tool   Tool         `json:"tool"`
	Losses trace.Losses `json:"losses"`

	// Stackless are hits of goroutines that had no room for a profile stack. Their time is that of
	// the procedures that started them.
	Stackless uint64 `json:"stackless,omitempty"`

	built *builder
	parts []*Profile // of a merged one
}

// Part is the share of one [Root], with everything on its behalf.
type Part struct {
	Name string `json:"name"`
	NPT  int64  `json:"npt_ns"`
	Busy int64  `json:"busy_ns"`
}

// Entry is one line of the profile. Self times are those of the section's own code. The others
// are on its behalf: with everything that it called and every goroutine that was started in it,
// recursion counted once.
type Entry struct {
	ID   string `json:"id"` // the same in every run of the same source
	Kind string `json:"kind"`
	Name string `json:"name"`
	File string `json:"file"`
	Line int    `json:"line"`
	// exact unless there is a CallsLo, 0 if not counted; loops: times entered; goroutines: number
	Calls uint64 `json:"calls"`
	// CallsLo and CallsHi are the interval of an estimate. Without a CallsHi there are CallsLo or
	// more.
	CallsLo uint64 `json:"calls_lo,omitempty"`
	CallsHi uint64 `json:"calls_hi,omitempty"`

	Trips   uint64 `json:"trips,omitempty"`    // loops: iterations of the TripsOf entries that were traced and left
	TripsOf uint64 `json:"trips_of,omitempty"` // of other entries they are not known
	// loops: it only waits, so that its busy time, which samples found, is spinning too
	Spins bool `json:"spins,omitempty"`

	SelfNPT  int64 `json:"self_npt_ns"`
	NPT      int64 `json:"npt_ns"`
	SelfBusy int64 `json:"self_busy_ns"`
	Busy     int64 `json:"busy_ns"`
	Spin     int64 `json:"spin_ns"`
	Blocked  int64 `json:"blocked_ns"`
	Ready    int64 `json:"ready_ns"`
	Alone    int64 `json:"alone_ns"`   // of Busy, Spin and Ready: no other goroutine of the program was runnable
	Syscall  int64 `json:"syscall_ns"` // in system calls without a processor
	// running on threads whose processor the operating system had taken; see [Profile.Off]
	Off int64 `json:"off_ns"`

	SelfSpin    int64 `json:"self_spin_ns"`
	SelfBlocked int64 `json:"self_blocked_ns"`
	SelfReady   int64 `json:"self_ready_ns"`
	SelfAlone   int64 `json:"self_alone_ns"`
	SelfSyscall int64 `json:"self_syscall_ns"`
	SelfOff     int64 `json:"self_off_ns"`

	// Runnable are how many goroutines were runnable, on a processor or not, on average
	// while the section was in each state.
	Runnable RunnableWhile `json:"runnable_while"`
	// RunnableHists are the times in each state by how many goroutines were runnable.
	RunnableHists RunnableHists `json:"runnable_times"`
	// SelfIdle and IdleEnded are the times with no processor busy that the section ended.
	SelfIdle  int64 `json:"self_idle_ended_ns,omitempty"`
	IdleEnded int64 `json:"idle_ended_ns,omitempty"`

	// BusyAt[i] is the part of Busy during which i processors were busy: the
	// histogram of Quartz's Figure 1 after a division of each term by i.
	BusyAt []int64 `json:"busy_at_ns"`
	// SelfBusyAt is the same of SelfBusy.
	SelfBusyAt []int64 `json:"self_busy_at_ns"`
	// CallBusy is the part of Busy without goroutines that it started: of its activations and of
	// what they called. Of procedures and loops.
	CallBusy int64 `json:"call_busy_ns,omitempty"`
	// Started is the part of SelfBusy in goroutines that were started in the
	// procedure and had not entered one of their own.
	Started int64 `json:"self_started_ns,omitempty"`
	// Degraded calls were counted, or timed, but not traced. Their time is their caller's,
	// unless samples were taken: then the times are estimates, with these intervals.
	Degraded uint64 `json:"degraded,omitempty"`
	// only counted: without samples that show the text that runs its time is in its callers'
	// entries
	Small    bool      `json:"small,omitempty"`
	SelfNPTs *Interval `json:"self_npt_interval,omitempty"`
	NPTs     *Interval `json:"npt_interval,omitempty"`
	// Lines divide SelfNPT by lines of the procedure's text, where samples show which line ran.
	Lines []LineTime `json:"self_lines,omitempty"`
	// Callees are what a procedure called that has no probes, such as packages without any and the
	// runtime, and has most of its own time; and Doing is what these do, as far as that is known.
	Callees []Callee `json:"callees,omitempty"`
	Doing   []Doing  `json:"doing,omitempty"`
	// BlockedOn divides SelfBlocked by object, as far as the waits began in the trace.
	BlockedOn []Waited `json:"self_blocked_on,omitempty"`
	// Blame is the time that others waited: for an object that the procedure held, or until the
	// procedure ended their wait.
	Blame int64 `json:"blame_ns,omitempty"`
	// For synchronization objects. Their Calls are acquisitions, sends, or waits; see [Object].
	// Queue[n] is the time with n waiting.
	Wait  int64   `json:"wait_ns,omitempty"`
	Hold  int64   `json:"hold_ns,omitempty"`
	Queue []int64 `json:"queue,omitempty"`
	// Latency is the distribution of the durations of the regions that ended.
	Latency *Latency `json:"latency,omitempty"`
	// goroutines: most processor time of one of them, without times in which the system kept its
	// thread waiting
	Longest int64  `json:"longest_busy_ns,omitempty"`
	Got     int64  `json:"got_ns,omitempty"`  // goroutines: the same of all
	Creator string `json:"creator,omitempty"` // goroutines: the procedure that started them
	Site    string `json:"site,omitempty"`    // goroutines: file and line of their go statement
}

// RunnableWhile has a mean number of goroutines for each state, 0 for one that was not
// entered.
type RunnableWhile struct {
	Busy    float64 `json:"busy"`
	Spin    float64 `json:"spin"`
	Ready   float64 `json:"ready"`
	Blocked float64 `json:"blocked"`
	Syscall float64 `json:"syscall"`
	Off     float64 `json:"off"`
}

// RunnableHists are the distributions of [RunnableWhile]; nil for a state that was not entered.
type RunnableHists struct {
	Busy    *RunnableHist `json:"busy,omitempty"`
	Spin    *RunnableHist `json:"spin,omitempty"`
	Ready   *RunnableHist `json:"ready,omitempty"`
	Blocked *RunnableHist `json:"blocked,omitempty"`
	Syscall *RunnableHist `json:"syscall,omitempty"`
	Off     *RunnableHist `json:"off,omitempty"`
}

func (u *Usage) runnableWhile() RunnableWhile {
	mean := func(use int, ns int64) float64 {
		if ns == 0 {
			return 0
		}
		return thousandths(float64(u.Runnable[use]) / float64(ns))
	}
	return RunnableWhile{mean(useBusy, u.Busy()), mean(useSpin, u.Spin), mean(useReady, u.Ready),
		mean(useBlocked, u.Blocked), mean(useSyscall, u.Syscall), mean(useOff, u.Off)}
}

// Call counts the calls of one procedure by another from the same place.
type Call struct {
	Caller string `json:"caller"`
	Callee string `json:"callee"` // "": known at run time only
	File   string `json:"file"`
	Line   int    `json:"line"`
	Count  uint64 `json:"count"`
	Via    string `json:"via,omitempty"` // the inlined function that makes the call on the caller's behalf
	// CountLo and CountHi are like CallsLo and CallsHi of an [Entry].
	CountLo uint64 `json:"count_lo,omitempty"`
	CountHi uint64 `json:"count_hi,omitempty"`
	Fills   bool   `json:"fills,omitempty"` // see [spec.FlagFills]
}

// Number is the number of calls.
func (c *Call) Number() trace.Estimate {
	return trace.Estimate{Value: c.Count, Lo: c.CountLo, Hi: c.CountHi}
}

func (c *Call) setNumber(n trace.Estimate) { c.Count, c.CountLo, c.CountHi = n.Value, n.Lo, n.Hi }

// Called is how often the section was called.
func (e *Entry) Called() trace.Estimate {
	return trace.Estimate{Value: e.Calls, Lo: e.CallsLo, Hi: e.CallsHi}
}

func (e *Entry) setCalled(n trace.Estimate) { e.Calls, e.CallsLo, e.CallsHi = n.Value, n.Lo, n.Hi }

// CPU compares the busy time with the operating system's measurements.
type CPU struct {
	Known  bool  `json:"known"`
	User   int64 `json:"user_ns"`
	System int64 `json:"system_ns"`
	Writer int64 `json:"writer_ns"` // of these, the thread that wrote the file
	// Beside is the time of threads that ran no goroutine: the runtime's monitor, this tool's, C's.
	// What threads used between the last reading of their times and their ends is in it.
	Beside int64 `json:"beside_ns"`
	// Waited is how long threads that ran goroutines could have run, but had no processor.
	Waited int64 `json:"waited_ns"`
	// Collector is the time of the garbage collector's mark workers and assists, by the system's
	// switches or their threads' clocks; -1: not known.
	Collector int64 `json:"collector_ns"`
}

// Tool is the cost of the observation itself.
type Tool struct {
	FlushRuns  int64   `json:"flush_runs"`
	FlushWall  int64   `json:"flush_wall_ns"`
	FlushCPU   int64   `json:"flush_cpu_ns"`
	FlushBytes int64   `json:"flush_bytes"`
	Traced     int64   `json:"traced_events"` // enters and exits
	EventCost  float64 `json:"event_cost_ns"` // of one event; 0 if the file does not have it
	Probes     int64   `json:"probes_ns"`     // processor time that probes took, which is in no other line
	ProbesNPT  int64   `json:"probes_npt_ns"`
	Plain      int64   `json:"plain_ns,omitempty"`       // run time of the program without probes, if given
	More       int64   `json:"unaccounted_ns,omitempty"` // run time beyond Plain and ProbesNPT
	Cost       Cost    `json:"cost"`
}

// Compare sets the run time of the program without probes.
func (p *Profile) Compare(plain int64) {
	p.Tool.Plain, p.Tool.More = plain, p.Ran-p.Tool.ProbesNPT-plain
}

// JSON writes the profile as one JSON object.
func (p *Profile) JSON(w io.Writer) error { return writeJSON(w, p) }

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// sortEntries sorts entries, those with the most NPT first.
func sortEntries(list []Entry) {
	slices.SortStableFunc(list, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(y.NPT, x.NPT), cmp.Compare(y.SelfNPT, x.SelfNPT), cmp.Compare(x.Kind, y.Kind),
			cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID))
	})
}

func (e *Entry) fill(self, incl *Usage) {
	e.SelfNPT, e.NPT = round(self.NPT()), round(incl.NPT())
	e.SelfBusy, e.Busy = self.Busy(), incl.Busy()
	e.SelfSpin, e.Spin = self.Spin, incl.Spin
	e.SelfBlocked, e.Blocked = self.Blocked, incl.Blocked
	e.SelfReady, e.Ready = self.Ready, incl.Ready
	e.SelfAlone, e.Alone = self.Alone, incl.Alone
	e.SelfSyscall, e.Syscall = self.Syscall, incl.Syscall
	e.SelfOff, e.Off = self.Off, incl.Off
	e.SelfIdle, e.IdleEnded = self.Idle, incl.Idle
	e.Runnable = incl.runnableWhile()
	c := &incl.RunnableHists
	e.RunnableHists = RunnableHists{c[useBusy], c[useSpin], c[useReady], c[useBlocked], c[useSyscall], c[useOff]}
	e.BusyAt, e.SelfBusyAt = incl.BusyAt, self.BusyAt
}

// entry is the line of the objects of one name.
func (o *Object) entry() Entry {
	e := Entry{ID: "sync:" + o.Name, Kind: KindSync, Name: o.Name, File: o.File, Line: o.Line,
		Calls: cmp.Or(o.acquired, o.received, uint64(o.Waits)), Wait: o.Wait, Hold: o.Hold, Queue: o.Waiting}
	e.fill(&o.use.self, &o.use.all)
	return e
}

// NPT is the normalized processor time, in ns, of the goroutines that held the objects. It is as
// exact as Hold.
func (o *Object) NPT() int64 { return round(o.use.all.NPT()) + o.unseen }
