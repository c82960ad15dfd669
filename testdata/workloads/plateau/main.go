// Command plateau runs two procedures in parallel.
//
// T = max(foo, bar): making the longer one faster gains until both are equal, and then
// nothing.
package main

import (
	"flag"
	"sync"
	"time"

	"workloads/cpu"
)

var (
	m    *cpu.CPU
	fooT = flag.Float64("foo", 7, "units of foo")
	barT = flag.Float64("bar", 10, "units of bar")
)

//go:noinline
func foo() { m.Run(*fooT) }

//go:noinline
func bar() { m.Run(*barT) }

func main() {
	flags := cpu.DefineFlags(50 * time.Millisecond)
	flag.Parse()
	m = cpu.New(flags)
	m.Report(max(*fooT, *barT), "", func() {
		var wg sync.WaitGroup
		wg.Go(foo)
		wg.Go(bar)
		wg.Wait()
	})
}
