// Command quicksort is the skeleton of the quicksort of the NIST SPT paper: workers that
// meet at three barriers in each pass. The second one is redundant, and the third one
// waits for the worker with most work.
//
// T is the sum over the passes of max over workers of pos*c + w, where pos is the
// worker's place in the pop section: they enter it in a fixed order.
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
	n      = flag.Int("n", 3, "workers")
	passes = flag.Int("k", 12, "passes")
	popT   = flag.Float64("c", 0.2, "units of the pop section")
	lightT = flag.Float64("light", 1, "units of a light partition")
	heavyT = flag.Float64("heavy", 5, "units of the heavy one, another worker's in each pass")
)

//go:noinline
func pop() { m.Run(*popT) }

//go:noinline
func partition(units float64) { m.Run(units) }

// barrier makes workers wait until all have arrived.
type barrier struct {
	mu      sync.Mutex
	all     *sync.Cond
	here, n int
	round   int
}

func newBarrier(n int) *barrier {
	b := &barrier{n: n}
	b.all = sync.NewCond(&b.mu)
	return b
}

func (b *barrier) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	round := b.round
	if b.here++; b.here == b.n {
		b.here = 0
		b.round++
		b.all.Broadcast()
		return
	}
	for round == b.round {
		b.all.Wait()
	}
}

func work(k, j int) float64 {
	if k%*n == j {
		return *heavyT
	}
	return *lightT
}

func worker(j int, meet [3]*barrier, turn []chan struct{}) {
	for k := range *passes {
		meet[0].wait()
		<-turn[j]
		pop()
		turn[(j+1)%*n] <- struct{}{}
		meet[1].wait()
		partition(work(k, j))
		meet[2].wait()
	}
}

func main() {
	flags := cpu.DefineFlags(20 * time.Millisecond)
	flag.Parse()
	m = cpu.New(flags)
	expected := 0.0
	for range *passes { // the second barrier: all pop before any worker partitions
		expected += float64(*n)**popT + max(*heavyT, *lightT)
	}
	note := ""
	if m.Procs() < *n {
		note = fmt.Sprintf(", but %d processors are fewer than %d", m.Procs(), *n)
	}
	m.Report(expected, note, func() {
		meet := [3]*barrier{newBarrier(*n), newBarrier(*n), newBarrier(*n)}
		turn := make([]chan struct{}, *n)
		for j := range turn {
			turn[j] = make(chan struct{}, 1)
		}
		turn[0] <- struct{}{}
		var wg sync.WaitGroup
		for j := range *n {
			wg.Go(func() { worker(j, meet, turn) })
		}
		wg.Wait()
	})
}
