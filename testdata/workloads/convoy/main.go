// Command convoy lets goroutines work outside a lock and inside it, by turns.
//
// Saturated (N > (u+c)/c): T = K*N*c + u, so that only the inside matters, while
// normalized processor time gives most to the outside.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"

	"workloads/cpu"
)

var (
	m        *cpu.CPU
	n        = flag.Int("n", 8, "goroutines")
	k        = flag.Int("k", 50, "rounds")
	outsideT = flag.Float64("u", 4, "units outside the lock")
	insideT  = flag.Float64("c", 1, "units inside it")
)

//go:noinline
func outside() { m.Run(*outsideT) }

//go:noinline
func inside() { m.Run(*insideT) }

func main() {
	flags := cpu.DefineFlags(5 * time.Millisecond)
	flag.Parse()
	m = cpu.New(flags)
	u, c := *outsideT, *insideT
	expected := float64(*k) * (u + c)
	if float64(*n)*c > u+c {
		expected = float64(*k)*float64(*n)*c + u
	}
	note := ""
	if m.Procs() < *n {
		note = fmt.Sprintf(", but %d processors are fewer than %d", m.Procs(), *n)
	}
	m.Report(expected, note, func() {
		var lock sync.Mutex
		var wg sync.WaitGroup
		for range *n {
			wg.Go(func() {
				for range *k {
					outside()
					lock.Lock()
					inside()
					lock.Unlock()
				}
			})
		}
		wg.Wait()
	})
}
