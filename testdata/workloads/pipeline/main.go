// Command pipeline passes items through stages, each a goroutine of its own.
//
// T = n * max(s) + the sum of the others, with ample buffers: only the slowest stage
// matters, and the second slowest has slack.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"

	"workloads/cpu"
)

var (
	m      *cpu.CPU
	n      = flag.Int("n", 20, "items")
	s1     = flag.Float64("s1", 2, "units of the first stage")
	s2     = flag.Float64("s2", 5, "units of the second")
	s3     = flag.Float64("s3", 3, "units of the third")
	buffer = flag.Int("buffer", 100, "items between stages")
)

//go:noinline
func first() { m.Run(*s1) }

//go:noinline
func second() { m.Run(*s2) }

//go:noinline
func third() { m.Run(*s3) }

func stage(work func(), in <-chan int, out chan<- int) {
	defer close(out)
	for i := range in {
		work()
		out <- i
	}
}

func main() {
	flags := cpu.DefineFlags(20 * time.Millisecond)
	flag.Parse()
	m = cpu.New(flags)
	sum := *s1 + *s2 + *s3
	most := max(*s1, *s2, *s3)
	note := ""
	if m.Procs() < 3 {
		note = fmt.Sprintf(", but %d processors are fewer than 3", m.Procs())
	}
	m.Report(float64(*n)*most+sum-most, note, func() {
		var chans [4]chan int
		for i := range chans {
			chans[i] = make(chan int, *buffer)
		}
		var wg sync.WaitGroup
		for i, work := range []func(){first, second, third} {
			wg.Go(func() { stage(work, chans[i], chans[i+1]) })
		}
		wg.Go(func() {
			for range chans[3] {
			}
		})
		for i := range *n {
			chans[0] <- i
		}
		close(chans[0])
		wg.Wait()
	})
}
