// Package p: which functions are procedures, and what they are called.
package p

var total int

//go:noinline
func long(n int) int { return n } // want proc

//go:noinline
func function() { total++ } // want proc "p.function"

type box struct{ n int }

//go:noinline
func (b *box) pointer() { b.n++ } // want proc "p.(*box).pointer"

//go:noinline
func (b box) value() int { return b.n } // want proc "p.box.value"

type list[T any] struct{ items []T }

//go:noinline
func (l *list[T]) push(x T) { l.items = append(l.items, x) } // want proc "p.(*list[...]).push"

//go:noinline
func generic[T any](x T) T { return x } // want proc "p.generic[...]"

var ints list[int]

func init() { // want proc "p.init.0"
	long(generic(1)) // want call "p.generic[...]", call "p.long"
	ints.push(1)     // want call
}

func init() { // want proc "p.init.1"
	long(2) // want call
	long(3) // want call
}

var literal = func() int { // want proc "p.init.func1"
	long(1)        // want call
	long(2)        // want call
	return long(3) // want call
}

//go:noinline
func literals() func() { // want proc
	go func() {}()  // want go "p.literals.func1", proc "p.literals.func1"
	return func() { // want proc deferexit "p.literals.func2"
		long(1)        // want call
		defer func() { // want proc "p.literals.func2.1"
			recover()
		}() // want call deferred
	}
}

//go:noinline
func defers() { // want proc deferexit
	defer long(1) // want call deferred
}

//go:noinline
func loopedDefers() { // want proc deferexit
	for range total { // want loop "range total"
		defer long(1) // want call deferred
	}
}

// With one defer more all would be slow ones: the exit stands before the return instead,
// and deferred calls are charged to the caller.
//
//go:noinline
func eightDefers() { // want proc latedefer
	defer long(1) // want call deferred
	defer long(2) // want call deferred
	defer long(3) // want call deferred
	defer long(4) // want call deferred
	defer long(5) // want call deferred
	defer long(6) // want call deferred
	defer long(7) // want call deferred
	defer long(8) // want call deferred
}

//qinst:name the work
//go:noinline
func renamed() {} // want proc "the work"

//qinst:probe
func forced() {} // want proc forced

func inlined() {} // want skip proc "inlinable"

func noBody(n int) // want skip proc "no body"

//go:nosplit
func pragma() {} // want skip proc "compiler directive"

func _() { long(1) } // want skip proc "blank function"

//qinst:ignore
func ignored() { long(1) } // want skip proc "ignored by directive"

const never = false

//go:noinline
func dead() { // want proc
	if never {
		func() { long(1) }() // want skip call "dead code", skip proc "dead code"
	}
	return
	func() { long(2) }() // want skip call "dead code", skip proc "dead code"
}
