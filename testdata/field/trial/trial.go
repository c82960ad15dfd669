//go:build go1.26

// Package trial runs a program's work in parallel, with a bottleneck of which it knows the truth.
// The suite of field trials copies it into modules from elsewhere, whose sources get the places
// where a bottleneck is put in.
//
//	PROGRAM KIND ITEMS
//
// The truth is a line of JSON on standard error.
package trial

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync/atomic"
	"time"
)

// Kind is the bottleneck that is put in.
type Kind int

// The bottlenecks.
const (
	Healthy Kind = iota
	Lock         // a lock that is held while computing
	Short        // the same, in many short holds
	Serial       // a first part of the work by one goroutine
	Channel      // a channel without buffer between two that take turns at being slow
	Slow         // one of several workers has more to do
	Garbage      // garbage in a procedure
	Log          // a lock of a dependency: that of package log, held while it writes
	Idle         // healthy, beside goroutines that wait by design
)

var names = []string{"healthy", "lock", "short", "serial", "channel", "slow", "garbage", "log", "idle"}

// Is is what Main was asked for.
var Is Kind

// truth is what the program knows of itself. Times are in ns.
type truth struct {
	Wall     int64   `json:"wall"`
	Calls    int64   `json:"calls"`    // of the place in the module
	Held     int64   `json:"held"`     // the lock, or that of the dependency
	Waited   int64   `json:"waited"`   // for the lock of the dependency, until it ran again
	Serial   int64   `json:"serial"`   // the serial part
	Sent     int64   `json:"sent"`     // waited while sending
	Received int64   `json:"received"` // waited while receiving
	Ratio    float64 `json:"ratio"`    // the slow worker's work over that of another
	Garbage  float64 `json:"garbage"`  // share of the allocated bytes that is put in
	GC       float64 `json:"gc"`       // the collector's share of the processor time used
	Items    int     `json:"items"`
}

// Main does the work for as many items as the command line says, and tells the truth.
func Main(work func(item int)) {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: PROGRAM KIND ITEMS")
		os.Exit(2)
	}
	items, err := strconv.Atoi(os.Args[2])
	for i, name := range names {
		if name == os.Args[1] {
			Is = Kind(i)
		}
	}
	if err != nil || names[Is] != os.Args[1] {
		fmt.Fprintf(os.Stderr, "trial: found %q, expected one of %q and a number\n", os.Args[1:], names)
		os.Exit(2)
	}
	work(0) // what is done once is no part of it
	calls.Store(0)
	held.Store(0)
	logged.Store(0)
	before := allocated()
	stop := observe()
	start := time.Now()
	var t truth
	run(items, work, &t)
	t.Wall = int64(time.Since(start))
	stop()
	t.Calls, t.Held, t.Items = calls.Load(), held.Load(), items
	t.Waited = max(0, logged.Load()-t.Held)
	t.GC, t.Garbage = collected(), float64(thrown.Load())/float64(allocated()-before)
	if err := json.NewEncoder(os.Stderr).Encode(t); err != nil {
		panic(err)
	}
	fmt.Println(names[Is], items, sum.Load())
}

// observe starts the profilers that the environment asks for.
func observe() (stop func()) {
	var stops []func()
	if name := os.Getenv("TRIAL_CPU"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			panic(err)
		}
		runtime.SetCPUProfileRate(250) // as often as many kernels can; the profiler complains, and keeps it
		if err := pprof.StartCPUProfile(f); err != nil {
			panic(err)
		}
		stops = append(stops, pprof.StopCPUProfile)
	}
	if name := os.Getenv("TRIAL_TRACE"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			panic(err)
		}
		if err := trace.Start(f); err != nil {
			panic(err)
		}
		stops = append(stops, trace.Stop)
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// sum is of something about all items, so that runs can be compared.
var sum atomic.Int64

// collected returns the collector's share of the processor time used.
func collected() float64 {
	runtime.GC() // which brings the times up to date
	samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(samples)
	return samples[0].Value.Float64() / (samples[1].Value.Float64() - samples[2].Value.Float64())
}

// allocated is how many bytes the program has allocated.
func allocated() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}
