// Command imbalance has P workers with work w each, of which one has x times as
// much, and a barrier after them.
//
// T = x*w. NPT: heavy w/P + (x-1)*w, the others together (P-1)*w/P. An equal
// split would give (P-1+x)/P*w.
package main

import (
	"flag"
	"sync"
	"time"

	"workloads/cpu"
)

var m *cpu.CPU

//go:noinline
func light(units float64) { m.Run(units) }

//go:noinline
func heavy(units float64) { m.Run(units) }

func main() {
	flags := cpu.DefineFlags(100 * time.Millisecond)
	w := flag.Float64("w", 3, "units of work of a worker")
	x := flag.Float64("x", 2.5, "how much more one of them has")
	flag.Parse()
	m = cpu.New(flags)
	m.Report(*x**w, "", func() {
		var wg sync.WaitGroup
		wg.Go(func() { heavy(*x * *w) })
		for range m.Procs() - 1 {
			wg.Go(func() { light(*w) })
		}
		wg.Wait()
	})
}
