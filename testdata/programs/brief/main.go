// Command brief runs goroutines on threads that live for a millisecond or two.
package main

import (
	"runtime"
	"sync"
)

var sink uint64

//go:noinline
func burn(n int) (x uint64) {
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func main() {
	for range 200 {
		var some sync.WaitGroup
		for range 3 {
			some.Add(1)
			go func() {
				defer some.Done()
				runtime.LockOSThread() // the thread ends with the goroutine
				if burn(1_000_000) == 0 {
					sink++
				}
			}()
		}
		some.Wait()
	}
}
