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
		n = brief(n) // want call
	}
	return n
}

//go:noinline
func brief(n int) int { // want proc small summed
	return leaf(n) + leaf(n+1) // want call, call
}

// A loop may take any time, and so may all that calls it.
//
//go:noinline
func wraps(n int) int { // want proc
	return long(n) // want call
}

//go:noinline
func wrapsTwice(n int) int { // want proc
	return wraps(n) // want call
}

// What the compiler inlines may have one, too.
//
//go:noinline
func wrapsInlined(n int) int { // want proc
	return inlined(n) // want call
}

func inlined(n int) (s int) { // want skip proc "inlinable", func derived
	for range n {
		s = leaf(s) // want skip call "inline"
	}
	return s
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
	go func() { // want proc, go
		sink++
	}()
}

// A literal that is passed on has no call to be inlined into, so that it has probes if it is not small. One
// in a function that is inlined has none, because the copies may call it.
//
//go:noinline
func passes() { // want proc small
	keep(func() int { return leaf(sink) }) // want call, skip proc "inlinable", func derived, call derived
	keep(func() int {                      // want call, proc "p.passes.func2"
		for i := range sink { // want loop "range sink"
			sink += long(i) // want call
		}
		return sink
	})
	moves() // want call
}

func moves() { // want skip proc "inlinable"
	kept = func() int { // want skip proc "inlinable", func derived
		for i := range sink {
			sink += long(i) // want skip call "inline"
		}
		return sink
	}
}

// So small a function may be only passed on: then it is inlined nowhere, and a literal in it has
// probes.
func stays() { // want skip proc "inlinable"
	kept = func() int { // want proc "p.stays.func1"
		for i := range sink { // want loop "range sink"
			sink += long(i) // want call
		}
		return sink
	}
}

var stayed = stays

var kept func() int

//go:noinline
func keep(f func() int) { kept = f } // want proc small summed
