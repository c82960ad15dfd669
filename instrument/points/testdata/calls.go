// Package p: calls, where they are counted, and which stand for others.
package p

//go:noinline
func work(n int) int { return n } // want proc

//go:noinline
func positive(n int) bool { return n > 0 } // want proc

type worker interface{ work() }

type lazy struct{}

//go:noinline
func (lazy) work() {} // want proc

//go:noinline
func plain(n int) { // want proc deferexit
	work(n) // want call
	if n > 0 {
		work(1) // want call
	}
	go work(2)    // want go
	defer work(3) // want call deferred
	lazy{}.work() // want call "p.lazy.work"
	_ = len("not a call")
	_ = float64(n)
}

//go:noinline
func dynamic(f func(int) int, w worker) { // want proc
	f(1)     // want call dynamic
	w.work() // want call dynamic
	g := work
	g(2)                 // want call dynamic
	func() { work(3) }() // want call "p.dynamic.func1", func derived "p.dynamic.func1", call derived, skip proc "inlinable"
}

// Calls in loops are counted in memory of the activation: an increment each.
//
//go:noinline
func loops(n int, w worker) { // want proc
	for i := range n { // want loop "range n"
		work(i)  // want call
		w.work() // want call dynamic
	}
	work(n)                        // want call
	for i := 0; i < work(n); i++ { // want loop "for i < work(n)", call
		if i > 3 {
			work(3) // want call
		}
	}
}

// So are many that are always made, and then all others. The first is made whenever the
// procedure is called, whose count is its own.
//
//go:noinline
func many(n int) { // want proc
	work(1) // want call
	work(2) // want call
	work(3) // want call
	work(4) // want call
	work(5) // want call
	if n > 3 {
		work(6) // want call
	}
	work(7) // want call
}

// Four are too few.
//
//go:noinline
func few(n int) { // want proc
	work(1) // want call
	work(2) // want call
	work(3) // want call
	work(4) // want call
	if n > 3 {
		work(5) // want call
	}
	work(6) // want call
}

//go:noinline
func conditions(n int) bool { // want proc
	for ; n < 10; n += work(n) { // want loop "for n < 10", call chained
	}
	switch {
	case positive(n): // want call
		return positive(1) && positive(2) // want call, call
	}
	switch n {
	case work(1), work(2): // want call, call
		return true
	}
	return false
}

type truth bool

//go:noinline
func compares(n int, tag truth) bool { // want proc
	switch tag {
	case work(1) == n: // want skip call "case value"
		return true
	}
	return false
}

//go:noinline
func labels(n int) { // want proc
	if n > 3 {
		goto out
	}
out: // want skip loop "head of a goto's target"
	switch work(n) { // want skip call "head of a goto's target"
	case 1:
		goto out
	case 2:
		break out
	}
out2: // want skip loop "head of a goto's target"
	for n = work(1); n < 10; n += work(n) { // want skip call "head of a goto's target", skip loop "head of a goto's target", skip call "post statement"
		if n == 5 {
			break out2
		}
		if n == 7 {
			goto out2
		}
	}
}

// What is inlined has no counter of its own. A call that it always makes is counted with
// the calls of it, another is not counted.
func always(n int) int { return work(n) } // want func derived "p.always", call derived, skip proc "inlinable"

func perhaps(n int) int { // want func derived "p.perhaps", skip proc "inlinable"
	if n > 0 {
		return n
	}
	return work(n) // want skip call "inline"
}

const never = false

//go:noinline
func dead() { // want proc
	if never {
		func() { work(1) }() // want skip call "dead code", skip proc "dead code"
	}
	work(2) // want call
}

//go:noinline
func caller(n int) int { return always(n) + perhaps(n) } // want proc, call, call
