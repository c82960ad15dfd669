// Starts begins goroutines in a procedure that does so seldom, and only after it was hot for long.
// With a number it takes 80 locks instead, each in its own line, that many times. With "fan" a hot
// procedure has three go statements, of which each starts 400 goroutines.
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

//go:noinline
func fan(i int) {
	total += i & 1
	switch i % 200_000 {
	case 50_000:
		go even()
	case 100_000:
		go func(
			n int,
		) {
			if n < 0 {
				done.Done()
			}
		}(
			i - i - 1,
		)
	case 150_000:
		go odd(i)
	}
}

//go:noinline
func even() { done.Done() }

//go:noinline
func odd(int) { done.Done() }

func main() {
	if len(os.Args) > 1 && os.Args[1] == "fan" {
		done.Add(1200)
		for i := range 80_000_000 {
			fan(i)
		}
		done.Wait()
		println(total)
		return
	}
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
