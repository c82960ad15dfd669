// Command workers joins a slow worker and a fast one after each of many rounds.
//
// T = rounds * slow: the fast one has slack in each round.
package main

import (
	"flag"
	"sync"
	"time"

	"workloads/cpu"
)

var (
	m      *cpu.CPU
	rounds = flag.Int("n", 100, "rounds")
	slowT  = flag.Float64("slow", 2, "units of the slow worker")
	fastT  = flag.Float64("fast", 1, "units of the fast one")
)

//go:noinline
func slow() { m.Run(*slowT) }

//go:noinline
func fast() { m.Run(*fastT) }

func main() {
	flags := cpu.DefineFlags(3 * time.Millisecond)
	flag.Parse()
	m = cpu.New(flags)
	m.Report(float64(*rounds)*max(*slowT, *fastT), "", func() {
		for range *rounds {
			var wg sync.WaitGroup
			wg.Go(slow)
			wg.Go(fast)
			wg.Wait()
		}
	})
}
