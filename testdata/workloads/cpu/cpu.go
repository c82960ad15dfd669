// Package cpu lets a workload compute for a given time, in two forms.
//
// In the real form a segment burns processor time. In the token form (-vcpu P) it
// takes one of P tokens, sleeps, and gives the token back, so that a program for
// any number of processors can run on a small machine. A token is passed on
// after each quantum if anyone waits: the ideal time sharing that the formulas
// of the workloads assume. The segment lies in a runtime/trace region "vcpu",
// the wait for its token in a region "vready".
package cpu

import (
	"context"
	"flag"
	"fmt"
	"math"
	"runtime"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// CPU runs segments. Make it with New after flag.Parse.
type CPU struct {
	unit    time.Duration
	procs   int
	perNs   float64       // steps of burn a ns, real form
	tokens  chan struct{} // nil in the real form
	waiting atomic.Int32  // for a token
	turns   *turns        // nil if turns are not to be printed
}

// turns records which goroutine held a token in the token form, and when.
type turns struct {
	sync.Mutex
	list  []turn
	start time.Time
}

// turn is the time of one segment. It begins between the first two times and ends between
// the last two. The times of the regions themselves are not available.
type turn struct {
	name  string // of the procedure
	times [4]time.Time
}

// Flags are the flags that all workloads share.
type Flags struct {
	unit  *time.Duration
	vcpu  *int
	turns *bool
}

// DefineFlags defines the shared flags; unit is the default length of one unit of time.
func DefineFlags(unit time.Duration) Flags {
	return Flags{
		flag.Duration("unit", unit, "length of one unit of the workload's durations"),
		flag.Int("vcpu", 0, "token form with this many virtual processors; 0: burn real processor time"),
		flag.Bool("turns", false, "in the token form print when who held a token: procedure, and ns from and to which it began and ended"),
	}
}

// New returns a CPU according to the flags.
func New(f Flags) *CPU {
	c := &CPU{unit: *f.unit, procs: *f.vcpu}
	if c.procs == 0 {
		c.procs = runtime.GOMAXPROCS(0)
		c.calibrate()
		return c
	}
	if *f.turns {
		c.turns = &turns{start: time.Now()}
	}
	c.tokens = make(chan struct{}, c.procs)
	for range c.procs {
		c.tokens <- struct{}{}
	}
	return c
}

// Procs is the number of processors that segments can use.
func (c *CPU) Procs() int { return c.procs }

// calibrate finds the speed of burn on this machine. It takes the fastest of some
// rounds, because other programs may use the machine at the same time.
func (c *CPU) calibrate() {
	const steps = 1 << 20
	best := time.Duration(math.MaxInt64)
	for range 20 {
		start := time.Now()
		burn(steps)
		best = min(best, time.Since(start))
	}
	c.perNs = steps / float64(best)
}

// sink keeps the compiler from removing burn.
var sink atomic.Uint64

//go:noinline
func burn(steps uint64) {
	x := uint64(88172645463325252)
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// Run computes for a number of units.
func (c *CPU) Run(units float64) {
	d := time.Duration(units * float64(c.unit))
	if c.tokens == nil {
		burn(uint64(float64(d) * c.perNs))
		return
	}
	name := ""
	if c.turns != nil {
		name = caller()
	}
	for d > 0 {
		d -= c.turn(name, d)
	}
}

// caller returns the name of the procedure that called Run.
func caller() string {
	pcs := make([]uintptr, 1)
	runtime.Callers(3, pcs)
	frame, _ := runtime.CallersFrames(pcs).Next()
	return frame.Function
}

// quantum is the time that a token is kept while others wait for one.
const quantum = 2 * time.Millisecond

// turn holds a token until the time is over, or until the quantum is over and others
// wait. It returns the time slept, which counts as computed, because sleeps overshoot.
func (c *CPU) turn(name string, d time.Duration) (done time.Duration) {
	ctx := context.Background()
	select {
	case <-c.tokens:
	default:
		ready := trace.StartRegion(ctx, "vready")
		c.waiting.Add(1)
		<-c.tokens
		c.waiting.Add(-1)
		ready.End()
	}
	before := time.Now()
	region := trace.StartRegion(ctx, "vcpu")
	start := time.Now()
	for done < d {
		time.Sleep(min(quantum, d-done))
		if done = time.Since(start); c.waiting.Load() > 0 {
			break
		}
	}
	end := time.Now()
	region.End()
	c.turns.add(turn{name, [4]time.Time{before, start, end, time.Now()}})
	c.tokens <- struct{}{}
	return done
}

func (ts *turns) add(t turn) {
	if ts != nil {
		ts.Lock()
		ts.list = append(ts.list, t)
		ts.Unlock()
	}
}

func (ts *turns) print() {
	if ts == nil {
		return
	}
	for _, t := range ts.list {
		fmt.Print("turn ", t.name)
		for _, at := range t.times {
			fmt.Print(" ", at.Sub(ts.start).Nanoseconds())
		}
		fmt.Println()
	}
}

// Report runs the workload and prints its run time beside the one that its
// formula gives, in units and as a time.
func (c *CPU) Report(expected float64, note string, workload func()) {
	start := time.Now()
	workload()
	t := time.Since(start)
	units := float64(t) / float64(c.unit)
	fmt.Printf("expected T = %.4g (%v)%s\n", expected, time.Duration(expected*float64(c.unit)).Round(time.Microsecond), note)
	fmt.Printf("measured T = %.4g (%v), %+.1f %%\n", units, t.Round(time.Microsecond), 100*(units/expected-1))
	c.turns.print()
}
