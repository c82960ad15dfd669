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
}

// Flags are the flags that all workloads share.
type Flags struct {
	unit *time.Duration
	vcpu *int
}

// DefineFlags defines them; unit is the default length of one unit of time.
func DefineFlags(unit time.Duration) Flags {
	return Flags{
		flag.Duration("unit", unit, "length of one unit of the workload's durations"),
		flag.Int("vcpu", 0, "token form with this many virtual processors; 0: burn real processor time"),
	}
}

// New returns a CPU as the flags say.
func New(f Flags) *CPU {
	c := &CPU{unit: *f.unit, procs: *f.vcpu}
	if c.procs == 0 {
		c.procs = runtime.GOMAXPROCS(0)
		c.calibrate()
		return c
	}
	c.tokens = make(chan struct{}, c.procs)
	for range c.procs {
		c.tokens <- struct{}{}
	}
	return c
}

// Procs is the number of processors that segments can use.
func (c *CPU) Procs() int { return c.procs }

// calibrate finds the speed of burn on this machine: the fastest of some rounds,
// for others may use the machine at the same time.
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
	for d > 0 {
		d -= c.turn(d)
	}
}

// quantum is how long a token is kept while others wait for one.
const quantum = 2 * time.Millisecond

// turn holds a token until the time is over, or others wait and the quantum is. It
// returns the time slept, which counts as time computed: sleeps overshoot.
func (c *CPU) turn(d time.Duration) time.Duration {
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
	defer func() { c.tokens <- struct{}{} }()
	defer trace.StartRegion(ctx, "vcpu").End()
	start := time.Now()
	for {
		time.Sleep(min(quantum, d-time.Since(start)))
		if done := time.Since(start); done >= d || c.waiting.Load() > 0 {
			return done
		}
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
}
