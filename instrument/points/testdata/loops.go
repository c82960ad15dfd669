// Package p: loops are natural loops.
package p

import "iter"

//go:noinline
func work(n int) int { return n } // want proc

//go:noinline
func heads(n int, list []string, set map[string]int, c chan int) (sum int) { // want proc
	for i := 0; i < n; i++ { // want loop "for i < n"
		work(i) // want call
	}
	for sum < n { // want loop "for sum < n"
		sum += work(n) // want call
	}
	for i := range list { // want loop "range list"
		work(i) // want call
	}
	for range n { // want loop "range n"
		work(n) // want call
	}
	for _, v := range set { // want loop "range set"
		work(v) // want call
	}
	for v := range c { // want loop "range c", sync receive weak "p.heads.c"
		work(v) // want call
	}
	return sum
}

//go:noinline
func endless(n int) { // want proc
	for { // want loop "for"
		if work(n) > 3 { // want call
			break
		}
	}
}

//go:noinline
func nested(n int) { // want proc
	for range n { // want loop "range n"
		for range n { // want loop "range n"
			work(n) // want call
		}
	}
}

//go:noinline
func short(list []int) (sum int) { // want proc
	for _, v := range list { // want skip loop "short body"
		sum += v
	}
	//qinst:probe
	for _, v := range list { // want loop "range list"
		sum += v
	}
	//qinst:ignore
	for _, v := range list { // want skip loop "ignored by directive"
		work(v) // want call
	}
	//qinst:name the long one
	for _, v := range list { // want loop "the long one"
		work(v) // want call
	}
	return sum
}

func square(n int) int { return n * n } // want skip proc "inlinable"

func wrapped(n int) int { // want skip proc "inlinable", func derived
	nested(n) // want call derived
	return n
}

func seldom(n int) int { // want skip proc "inlinable", func derived
	if n == 0 {
		nested(n) // want skip call "inline"
	}
	return n
}

// What is inlined takes as long as what it always calls.
//
//go:noinline
func inlines(list []int) (sum int) { // want proc
	for _, v := range list { // want skip loop "short body"
		sum += square(v) // want call
	}
	for _, v := range list { // want skip loop "short body"
		sum += seldom(v) // want call
	}
	for _, v := range list { // want loop "range list"
		sum += wrapped(v) // want call
	}
	return sum
}

//go:noinline
func once(n int) { // want proc
	for { // want skip loop "never repeats"
		work(n) // want call
		return
	}
}

//go:noinline
func gotoLoop(n int) { // want proc
again: // want loop "goto again"
	if n = work(n); n < 10 { // want call chained
		goto again
	}
}

//go:noinline
func forwardGoto(n int) { // want proc
	if work(n) > 0 { // want call
		goto out
	}
	work(1) // want call
out:
	work(2) // want call
}

//go:noinline
func shortGoto(n int) int { // want proc
again: // want skip loop "short body"
	if n++; n < 10 {
		goto again
	}
	return n
}

// A goto from outside into the loop leaves no place for an entry.
//
//go:noinline
func jumpsIn(n int) { // want proc
	if n > 3 {
		goto again
	}
	work(1) // want call
again: // want skip loop "head of a goto's target"
	if n = work(n); n < 10 { // want call chained
		goto again
	}
}

//go:noinline
func overFunc(seq iter.Seq[int]) (sum int) { // want proc deferexit
	for n := range seq { // want loop "range seq"
		sum += work(n) // want call
	}
	return sum
}

//go:noinline
func overFuncAndGoto(seq iter.Seq[int]) (sum int) { // want proc deferexit
	for n := range seq { // want skip loop "head of a goto's target"
		sum += work(n) // want call
	}
	if sum > 10 {
		goto out
	}
	work(sum) // want call
out:
	return sum
}

//go:noinline
func labeledLoop(n int) { // want proc
outer:
	for range n { // want skip loop "head of a goto's target"
		if work(n) > 3 { // want call
			goto outer
		}
		if work(n) > 4 { // want call
			break outer
		}
	}
}

// A goto that leads to a loop statement makes a loop around it.
//
//go:noinline
func aroundLoop(n int) { // want proc
again: // want skip loop "head of a goto's target"
	for range n { // want loop "range n"
		work(n) // want call
	}
	if work(n) > 3 { // want call
		goto again
	}
}
