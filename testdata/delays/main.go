// Command delays has points that are reached a given number of times, all together, by so many goroutines.
//
//	delays KIND NUMBER WORKERS
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// kinds reach a point n times each.
var kinds = map[string]func(n int) uint64{"calls": calls, "turns": turns, "loop": loop, "lock": lock}

func main() {
	if len(os.Args) != 4 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: delays calls|turns|loop|lock NUMBER WORKERS")
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[2])
	workers, err2 := strconv.Atoi(os.Args[3])
	if err != nil || err2 != nil || workers < 1 {
		fmt.Fprintln(os.Stderr, "delays: found no numbers")
		os.Exit(2)
	}
	sums := make([]uint64, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { sums[w] = kinds[os.Args[1]](n / workers) })
	}
	all.Wait()
	sum := uint64(0)
	for _, s := range sums {
		sum += s
	}
	fmt.Println(sum)
}

// called is a procedure that is not small, because it has a loop.
//
//go:noinline
func called(i uint64) uint64 {
	for range i & 3 {
		i ^= i << 7
	}
	return i
}

func calls(n int) (s uint64) {
	for i := range n {
		s += called(uint64(i))
	}
	return s
}

// turns has a loop that calls, and so may wait.
//
//go:noinline
func turns(n int) (s uint64) {
	for i := range uint64(n) {
		s ^= called(i)
	}
	return s
}

// loop has one that does not.
//
//go:noinline
func loop(n int) (s uint64) {
	for i := range uint64(n) {
		s ^= s<<7 ^ i
		s += s>>3 ^ i*i
		s ^= s<<5 ^ i
		s += s>>7 ^ i*3
		s ^= s<<9 ^ i
		s += s>>2 ^ i*5
		s ^= s<<4 ^ i
		s += s>>6 ^ i*7
		s ^= s<<3 ^ i
		s += s>>5 ^ i*9
		s ^= s<<11 ^ i
		s += s>>4 ^ i*11
		s ^= s<<6 ^ i
	}
	return s
}

var mu sync.Mutex

func lock(n int) (s uint64) {
	for i := range uint64(n) {
		mu.Lock()
		s += i
		mu.Unlock()
	}
	return s
}
