// Command workload is the program that qinst verify records. Its arguments set the amount of work
// of each procedure and the number of rounds. So the right figures of an analysis follow from a
// formula, or from the clock that the program reads itself:
//
//	workload KIND n a,b,c
//
// It prints the time of its work and another one, which depends on the kind, in ns.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// amounts are the work of a, b and c, in turns of burn's loop.
var amounts [3]int

//go:noinline
func burn(n int) {
	x := uint64(n) | 1
	for ; n > 0; n-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		panic("a shift register became zero") // it cannot; without a use of x there would be no work
	}
}

//go:noinline
func a() { burn(amounts[0]) }

//go:noinline
func b() { burn(amounts[1]) }

//go:noinline
func c() { burn(amounts[2]) }

var kinds = map[string]func(n int) time.Duration{
	"speed": speed, "phases": phases, "shares": shares, "lock": lock, "calls": calls,
}

func main() {
	for i, s := range strings.Split(os.Args[3], ",") {
		amounts[i] = number(s)
	}
	began := time.Now()
	more := kinds[os.Args[1]](number(os.Args[2]))
	fmt.Println(time.Since(began).Nanoseconds(), more.Nanoseconds())
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// speed does a alone, and then a and b at the same time. It returns the time of the second part.
func speed(n int) time.Duration {
	for range n {
		a()
	}
	began := time.Now()
	both(n)
	return time.Since(began)
}

// both has two goroutines, which do a and b.
func both(n int) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for range n {
			a()
		}
	})
	wg.Go(func() {
		for range n {
			b()
		}
	})
	wg.Wait()
}

// phases does a and b at the same time, and then c. It returns the time of c.
func phases(n int) (alone time.Duration) {
	for range n {
		both(1)
		began := time.Now()
		c()
		alone += time.Since(began)
	}
	return alone
}

// shares has two goroutines, each of which does a, b and c.
func shares(n int) time.Duration {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range n {
				a()
				b()
				c()
			}
		})
	}
	wg.Wait()
	return 0
}

var mu sync.Mutex

// lock has two goroutines, which do a, and b under a lock. It returns the time for which both
// waited for it.
func lock(n int) time.Duration {
	var waited [2]time.Duration
	var wg sync.WaitGroup
	for g := range waited {
		wg.Go(func() {
			for range n {
				a()
				began := time.Now()
				mu.Lock()
				waited[g] += time.Since(began)
				b()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return waited[0] + waited[1]
}

// calls makes trees of calls: a leaf, or two trees and then a node.
func calls(n int) time.Duration {
	for range n {
		tree(levels)
	}
	return 0
}

// levels is the height of a tree.
const levels = 9

func tree(level int) {
	if level == 0 {
		leaf()
		return
	}
	tree(level - 1)
	tree(level - 1)
	node()
}

// leaf and node have probes that trace, although they are small.
//
//go:noinline
//qinst:probe
func leaf() { burn(amounts[0]) }

//go:noinline
//qinst:probe
func node() { burn(amounts[1]) }
