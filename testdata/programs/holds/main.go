// Command holds takes a lock and emits records, while a small procedure is hot. It measures for
// itself how long it holds the lock, and prints
//
//	hold ns
//	uses locks
//	records n
package main

import (
	"fmt"
	"sync"
	"time"

	"qinst.dev/sddf"
)

type tick struct {
	Number int `sddf:"number"`
}

var ticks = sddf.Define[tick]("tick")

type registry struct {
	mu   sync.Mutex
	sum  int
	uses int
	held time.Duration
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func (r *registry) update() {
	r.mu.Lock()
	began := time.Now()
	r.sum += fib(21)
	r.uses++
	r.held += time.Since(began)
	r.mu.Unlock()
}

func main() {
	r := &registry{}
	records := make([]int, 3)
	end := time.Now().Add(1500 * time.Millisecond)
	var group sync.WaitGroup
	for w := range records {
		group.Go(func() {
			for time.Now().Before(end) {
				fib(24)
				r.update()
				ticks.Emit(tick{records[w]})
				records[w]++
			}
		})
	}
	group.Wait()
	fmt.Printf("hold %d\nuses %d\nrecords %d\n", r.held, r.uses, records[0]+records[1]+records[2])
}
