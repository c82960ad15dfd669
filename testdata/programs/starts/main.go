// Starts begins goroutines in a procedure that does so seldom, and only after it was hot for long.
// With an argument it takes 80 locks instead, each in its own line, that many times.
package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

var (
	mu    sync.Mutex
	total int
	done  sync.WaitGroup
)

//go:noinline
func work() {
	mu.Lock()
	total++
	mu.Unlock()
	done.Done()
}

//go:noinline
func hot(start bool) {
	mu.Lock()
	total++
	mu.Unlock()
	for i := range 4 {
		total += i & 1
	}
	if start {
		done.Add(1)
		go work()
	}
}

func main() {
	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if err != nil {
			panic(err)
		}
		for range n {
			locks()
		}
		println(total)
		return
	}
	for range 8_000_000 {
		hot(false)
	}
	for range 200 {
		hot(true)
		time.Sleep(time.Millisecond)
	}
	done.Wait()
	println(total)
}
