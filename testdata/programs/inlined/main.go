// Inlined works in functions that the compiler inlines into each other, and that have no probes.
package main

import (
	"fmt"
	"time"
)

func main() {
	fmt.Println(work(200*time.Millisecond) > 0)
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
