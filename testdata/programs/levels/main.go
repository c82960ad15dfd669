// Command levels reaches procedures, a loop and a lock at rates that rise and fall. It
// prints how often it reached each, and how long it ran.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var hots, bursts, rares, loops, locks atomic.Int64

//go:noinline
func hot(n int) int { return n*7 + 1 }

//go:noinline
func burst(n int) int { return n*5 + 1 }

//go:noinline
func rare(n int) int { return n*3 + 1 }

var mu sync.Mutex

//go:noinline
func locked(n *int) {
	mu.Lock()
	*n++
	mu.Unlock()
}

//go:noinline
func looped(n int) (sum int) {
	for i := 0; i < 3; i++ {
		sum += hot(n)
	}
	return sum
}

func main() {
	var wg sync.WaitGroup
	start := time.Now()
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work(g)
		}()
	}
	wg.Wait()
	fmt.Println("main.hot", hots.Load())
	fmt.Println("main.burst", bursts.Load())
	fmt.Println("main.rare", rares.Load())
	fmt.Println("main.looped", loops.Load())
	fmt.Println("main.locked", locks.Load())
	fmt.Println("ms", time.Since(start).Milliseconds())
}

// work runs three rounds: a fifth of a second at full speed, then a third with few
// calls. Full speed also means many calls, which take longer beside other programs.
func work(g int) {
	x := g
	for range 3 {
		n, k, l := 0, 0, 0
		for end := time.Now().Add(200 * time.Millisecond); n < 20000 || time.Now().Before(end); {
			for range 100 {
				x += burst(x)
				x += looped(x)
				locked(&x)
				n++
				k++
				l++
			}
		}
		bursts.Add(int64(n))
		loops.Add(int64(k))
		hots.Add(int64(3 * k))
		locks.Add(int64(l))
		for end := time.Now().Add(350 * time.Millisecond); time.Now().Before(end); {
			x += rare(x)
			x += burst(x)
			rares.Add(1)
			bursts.Add(1)
			time.Sleep(5 * time.Millisecond)
		}
	}
}
