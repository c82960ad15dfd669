// Program storm makes calls, as many as it says, while it is stopped asynchronously as often as
// can be: by collections and by other reasons to stop the world. Arguments: goroutines, and calls
// that each of them makes at each site. It prints how often each function was called.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

type caller interface{ call(n uint64) uint64 }

type one struct{}
type two struct{}

//go:noinline
func (one) call(n uint64) uint64 { return n + 1 }

//go:noinline
func (two) call(n uint64) uint64 { return n + 2 }

//go:noinline
func first(n uint64) uint64 { return n + 1 }

//go:noinline
func second(n uint64) uint64 { return n ^ 1 }

//go:noinline
func third(n uint64) bool { return n != 0 }

// counts has no room for anything but calls: a goroutine that is stopped in it is mostly about to
// count.
//
//go:noinline
func counts(n int, x caller) (sum uint64) {
	for range n {
		sum = first(sum)
		sum = second(sum)
		if sum != 1 && third(sum) {
			sum++
		}
		sum = x.call(sum)
	}
	return sum
}

// conditions is left by a condition that is always true at the end.
//
//go:noinline
func conditions(n int) {
	for i := uint64(0); third(i) || i == 0; i++ {
		if i == uint64(n)-1 {
			return
		}
	}
}

func main() {
	goroutines, _ := strconv.Atoi(os.Args[1])
	n, _ := strconv.Atoi(os.Args[2])
	var done sync.WaitGroup
	var left atomic.Int32
	left.Store(int32(goroutines))
	for i := range goroutines {
		done.Go(func() {
			defer left.Add(-1)
			x := caller(one{})
			if i%2 == 1 {
				x = two{}
			}
			counts(n, x)
			conditions(n)
		})
	}
	var stats runtime.MemStats
	stops := 0
	for ; left.Load() > 0; stops++ {
		if stops%20 == 0 {
			runtime.GC()
		}
		runtime.ReadMemStats(&stats)
	}
	done.Wait()
	fmt.Println("#", stops, "stops,", stats.NumGC, "collections")
	all := uint64(goroutines) * uint64(n)
	fmt.Println("first", all)
	fmt.Println("second", all)
	fmt.Println("counts", goroutines)
	fmt.Println("one.call", uint64((goroutines+1)/2)*uint64(n))
	fmt.Println("two.call", uint64(goroutines/2)*uint64(n))
}
