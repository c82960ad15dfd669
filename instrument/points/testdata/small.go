// limits: small=40

// Package p: procedures that take as long as a pair of probes are only counted.
package p

import "time"

var sink int

//go:noinline
func leaf(n int) int { return n*n + 1 } // want proc small

// What it calls always is counted with it, the rest by counters in line.
//
//go:noinline
func calls(n int) int { // want proc small
	n = leaf(n) // want call
	if n > 3 {
		n = long(n) // want call
	}
	return n
}

//go:noinline
func long(n int) (sum int) { // want proc
	for i := range n { // want loop "range n"
		sum += leaf(i) // want call
	}
	return sum
}

//go:noinline
func fib(n int) int { // want proc
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2) // want call, call
}

//go:noinline
func away() { // want proc
	time.Sleep(1) // want call
}

//go:noinline
func dynamic(f func()) { // want proc
	f() // want call dynamic
}

//go:noinline
func waits(c chan int) int { // want proc
	return <-c // want sync receive weak
}

//go:noinline
func defers() { // want proc deferexit
	defer leaf(1) // want call deferred
}

//qinst:probe
//go:noinline
func wanted(n int) int { return n } // want proc

func start() { // want proc
	go func() { // want proc
		sink++
	}() // want go
}
