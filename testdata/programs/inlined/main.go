// Inlined works in functions that the compiler inlines into each other, and that have no probes, and
// in atomic operations, which have none either.
package main

import (
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"time"
)

func main() {
	fmt.Println(work(200*time.Millisecond) > 0, add(10_000_000) > 0, swap(20_000_000) > 0, hash(200*time.Millisecond) > 0)
}

var total atomic.Uint64

// add is an instruction that the compiler writes in place of a call.
func add(n uint64) uint64 {
	for i := range n {
		total.Add(i)
	}
	return total.Load()
}

var last uint64

// swap has the operation in a function of sync/atomic that is no function of the program's.
func swap(n uint64) (done uint64) {
	for i := range n {
		if atomic.CompareAndSwapUint64(&last, last, i) {
			done++
		}
	}
	return done
}

// work has probes, and everything else is inlined into it.
func work(long time.Duration) (turns int) {
	sum := uint32(1)
	for began := time.Now(); time.Since(began) < long && sum > 0; turns++ {
		sum = outer(sum)
	}
	return turns
}

func outer(x uint32) uint32 { return inner(x+1) | 1 }

func inner(x uint32) uint32 {
	for range 20_000 {
		x = x*1664525 + 1013904223
	}
	return x
}

// hash calls a library by a function that is inlined.
func hash(long time.Duration) (turns int) {
	text := make([]byte, 100_000)
	for began := time.Now(); time.Since(began) < long; turns++ {
		sum := digest(text)
		copy(text, sum[:])
	}
	return turns
}

func digest(text []byte) [32]byte { return sha256.Sum256(text) }
