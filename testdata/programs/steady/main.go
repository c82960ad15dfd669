// Command steady does the same work whatever else the machine does: goroutines call heavy and light by turns, whose work is
// as 3 to 1. With "locked" they do it in turns, in a lock that one of them holds at a time.
package main

import (
	"flag"
	"sync"
)

var sink [16]uint64

//go:noinline
func heavy(k int) {
	x := sink[k]
	for range 300_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink[k] = x
}

//go:noinline
func light(k int) {
	x := sink[k]
	for range 100_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink[k] = x
}

var guard sync.Mutex

//go:noinline
func locked(k int) {
	guard.Lock()
	light(k)
	guard.Unlock()
}

func main() {
	rounds := flag.Int("rounds", 2000, "how often")
	workers := flag.Int("workers", 1, "goroutines")
	lock := flag.Bool("locked", false, "do light work in a lock")
	flag.Parse()
	var all sync.WaitGroup
	for k := range *workers {
		all.Go(func() {
			for range *rounds {
				if heavy(k); *lock {
					locked(k)
				} else {
					light(k)
				}
			}
		})
	}
	all.Wait()
}
