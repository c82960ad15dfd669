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
func literal(list []int) { // want proc
	f := func(i int) int { return list[i] } // want proc "p.literal.func1"
	sink = f
}

//go:noinline
func start() { // want proc
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
func captures(n int) { // want proc // once "a literal holds an assigned parameter"
	n++
	go func() { sink = n }() // want go, proc
}

//go:noinline
func shares(n int) { // want proc
	n++
	go func() { sink = n }() // want go, proc
	n++
}

//go:noinline
func pair(n int) (int, error) { return n, nil } // want proc

//go:noinline
func defers(c chan int) { // want proc deferexit // once "many defers"
	defer close(c) // want skip sync "no room for a defer", site close weak unseen
	defer close(c) // want skip sync "no room for a defer", site close weak unseen
	defer close(c) // want skip sync "no room for a defer", site close weak unseen
	defer close(c) // want skip sync "no room for a defer", site close weak unseen
	defer close(c) // want skip sync "no room for a defer", site close weak unseen
}

func init() { // want proc // once "runs once"
	time.Sleep(1) // want call
	time.Sleep(2) // want call
}

func init() { // want proc
	for twice(1) == 2 { // want call, loop "for twice(1) == 2"
		time.Sleep(1) // want call
	}
}

//go:noinline
func nested(n int) { // want proc
	sink = func() { // want proc
		sink = func() { // want proc
			go twice(n) // want go
		}
		go twice(n) // want go
	}
}

//go:noinline
func generic[T any](x T) { // want proc // once "holds a literal"
	sink = func() T { // want proc // once "starts a goroutine"
		go twice(1) // want go
		return x
	}
}

// Where brings is inlined, it brings its literal along.
func brings() { // want skip proc "inlinable"
	sink = func() { // want proc deferexit // once "holds a literal"
		sink = func() int { // want proc deferexit
			defer twice(1)  // want call deferred
			return twice(1) // want call
		}
		defer twice(1) // want call deferred
	}
}

//go:noinline
func localInLiteral() { // want proc // once "declares a type"
	sink = func() { // want proc deferexit // once "declares a type"
		type pair struct{ a, b int }
		defer twice(1) // want call deferred
		sink = pair{1, 2}
	}
}
