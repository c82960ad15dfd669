// Package p: procedures whose text stands twice, and why that of others stands once.
package p

import "time"

var sink any

//go:noinline
func twice(n int) (sum int) { // want proc
	for i := range n { // want loop "range n"
		sum += twice(i) // want call
	}
	return sum
}

//go:noinline
func literal(list []int) { // want proc // once "holds a literal"
	f := func(i int) int { return list[i] } // want skip proc "inlinable"
	sink = f
}

//go:noinline
func start() { // want proc // once "starts a goroutine"
	go twice(1) // want go
}

//go:noinline
func local() { // want proc // once "declares a type"
	type pair struct{ a, b int }
	sink = pair{1, 2}
}

//go:noinline
func iterate(seq func(yield func(int) bool)) (n int) { // want proc deferexit // once "ranges over a function"
	for i := range seq { // want skip loop "inline"
		n += i
	}
	return n
}

//go:noinline
func lines() { // want proc // once "holds a line directive"
	/*line :43:17*/ sink = 1
}

//go:noinline
func redeclares(n int) (r int, err error) { // want proc
	r, other := pair(n) // want call
	sink = other
	return r, err
}

//go:noinline
func untyped(n int) (r float64) { // want proc // once "assigns to a parameter and declares"
	r, m := 1, n
	sink = m
	return r
}

//go:noinline
func pair(n int) (int, error) { return n, nil } // want proc

//go:noinline
func defers(c chan int) { // want proc deferexit // once "many defers"
	defer close(c) // want skip sync "no room for a defer"
	defer close(c) // want skip sync "no room for a defer"
	defer close(c) // want skip sync "no room for a defer"
	defer close(c) // want skip sync "no room for a defer"
	defer close(c) // want skip sync "no room for a defer"
}

func init() { // want proc // once "runs once"
	for twice(1) == 2 { // want call, loop "for twice(1) == 2"
		time.Sleep(1) // want call
	}
}
