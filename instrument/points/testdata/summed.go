// limits: small=40

// Package p: small procedures of which all calls have counters need none.
package p

import _ "unsafe"

//go:noinline
func leaf(n int) int { return n*n + 1 } // want proc small summed

// Its calls are counted by those of it.
//
//go:noinline
func calls(n int) int { // want proc small summed
	return leaf(n) + 1 // want call
}

type T struct{ n int }

//go:noinline
func (t *T) add(n int) { t.n += n } // want proc small summed

//go:noinline
func (t *T) Add(n int) { t.n += n } // want proc small

//go:noinline
func Exported(n int) int { return n } // want proc small

//go:noinline
func value(n int) int { return n } // want proc small

//go:noinline
func unused(n int) int { return n } // want proc small

//go:noinline
func deferred(n int) int { return n } // want proc small

//go:noinline
func started(n int) int { return n } // want proc small

//go:noinline
func inInlined(n int) int { return n } // want proc small

func inlined(n int) int { // want func derived, skip proc "inlinable"
	if n > 3 {
		return inInlined(n) // want skip call "inline"
	}
	return n
}

//go:noinline
func generic[E any](e E) E { return e } // want proc small

//go:linkname linked
//go:noinline
func linked(n int) int { return n } // want proc small

//go:noinline
func behind(n int) int { return n } // want proc small

type shape interface{ area() int }

//go:noinline
func (t *T) area() int { return t.n } // want proc small

func all(t *T, s shape, n int) { // want proc deferexit
	for range n { // want loop "range n"
		calls(n) // want call
		leaf(n)  // want call
	}
	f := value
	f(value(n))         // want call dynamic, call
	defer deferred(n)   // want call deferred
	deferred(n)         // want call
	go started(n)       // want go
	started(n)          // want call
	inInlined(n)        // want call
	inlined(n)          // want call
	generic(n)          // want call
	linked(n)           // want call
	t.add(n)            // want call
	t.Add(n)            // want call
	t.area()            // want call
	s.area()            // want call dynamic
	Exported(n)         // want call
	behind(Exported(n)) // want call, call
}
