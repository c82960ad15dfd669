// Command reduced calls, recurses, panics, waits and starts goroutines, and prints how
// often, so that the results of extensions can be compared with these numbers.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	_ "qinst.dev/extensions"
	"qinst.dev/extensions/qinst"
)

//go:noinline
func leaf(x int) int {
	for i := range 20 {
		x = x*31 + i
	}
	return x
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return leaf(n) & 1
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func fails(depth int) int {
	if depth == 0 {
		panic("over")
	}
	return fails(depth-1) + leaf(depth)
}

//go:noinline
func recovers(depth int) (err any) {
	defer func() { err = recover() }()
	fails(depth)
	return nil
}

//go:noinline
func leaves() {
	leaf(1)
	runtime.Goexit()
}

//go:noinline
func loops(n int) (sum int) {
	for i := range n {
		sum += leaf(i)
	}
	return sum
}

var (
	mu    sync.Mutex
	total int
)

func worker(n int, in <-chan int, out chan<- int) {
	for range n {
		x := fib(5) + loops(3)
		out <- <-in + x&1
		mu.Lock()
		total += leaf(x)
		mu.Unlock()
		recovers(3)
		if mu.TryLock() {
			mu.Unlock()
		}
		runtime.Gosched()
	}
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	var wg sync.WaitGroup
	for range 8 {
		a, b := make(chan int, 1), make(chan int, 1)
		a <- 1
		wg.Go(func() { worker(n, a, b) })
		wg.Go(func() { worker(n, b, a) })
	}
	for range n {
		wg.Go(leaves)
	}
	wg.Wait()
	fmt.Println(n)
	switch {
	case len(os.Args) < 3:
	case os.Args[2] == "snapshot":
		fmt.Println(qinst.Snapshot())
	case os.Args[2] == "signal":
		syscall.Kill(os.Getpid(), syscall.SIGUSR2)
		for range 100 {
			loops(3)
			time.Sleep(time.Millisecond)
		}
	case os.Args[2] == "panic":
		panic("the end")
	case os.Args[2] == "exit":
		os.Exit(3)
	case os.Args[2] == "exec":
		fmt.Println(syscall.Exec("/bin/true", []string{"true"}, os.Environ()))
	case os.Args[2] == "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case os.Args[2] == "deadlock":
		select {}
	}
}
