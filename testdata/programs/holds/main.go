// Command holds takes a lock and emits records, while a small procedure is hot. It measures for
// itself how long it holds the lock, and prints
//
//	hold ns
//	uses locks
//	records n
//
// With the argument "often" it takes a lock so often that this takes much of its time. It prints the same
// two first lines; the hold is what the same work takes without the lock.
package main

import (
	"fmt"
	"os"
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

//go:noinline
func work(sum int) int {
	for i := range 300 {
		sum = sum*7 + i
	}
	return sum
}

// often does as much work with the lock as without it, by turns.
func often() {
	r, alone := &registry{}, time.Duration(0)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); r.uses += 1000 {
		for range 1000 {
			r.mu.Lock()
			r.sum = work(r.sum)
			r.mu.Unlock()
		}
		began := time.Now()
		for range 1000 {
			r.sum = work(r.sum)
		}
		alone += time.Since(began)
	}
	fmt.Printf("hold %d\nuses %d\n", alone, r.uses)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "often" {
		often()
		return
	}
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
