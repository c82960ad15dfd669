// Command states measures the cost of a change of a goroutine's state: a round
// trip over two channels, a goroutine's whole life, a short system call, and a
// step of a pull iterator. It prints "NAME NS" a line, the median of several
// rounds. Compare a plain build of it with an instrumented one.
package main

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"time"
)

func pingpong(n int) {
	to, from := make(chan int), make(chan int)
	go func() {
		for x := range to {
			from <- x
		}
		close(from)
	}()
	for i := range n {
		to <- i
		<-from
	}
	close(to)
}

func create(n int) {
	const batch = 100
	var wg sync.WaitGroup
	for range n / batch {
		wg.Add(batch)
		for range batch {
			go wg.Done()
		}
		wg.Wait()
	}
}

func write(n int) {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	b := []byte{0}
	for range n {
		f.Write(b)
	}
}

func pull(n int) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for yield(1) {
		}
	})
	defer stop()
	for range n {
		next()
	}
}

func main() {
	const rounds = 9
	for _, b := range []struct {
		name string
		n    int
		run  func(n int)
	}{
		{"pingpong", 50_000, pingpong},
		{"create", 200_000, create},
		{"write", 100_000, write},
		{"pull", 200_000, pull},
	} {
		var ns []float64
		for range rounds {
			start := time.Now()
			b.run(b.n)
			ns = append(ns, float64(time.Since(start).Nanoseconds())/float64(b.n))
		}
		slices.Sort(ns)
		fmt.Printf("%s %.1f\n", b.name, ns[rounds/2])
	}
}
