// Package p: loops that do nothing but read shared state again until it has changed.
package p

import (
	"runtime"
	"sync/atomic"
	"time"
)

var (
	flag  atomic.Int32
	plain int32
	total int
)

func procyield(cycles uint32) // want skip proc "no body"

func yieldTo(next *int32) // want skip proc "no body"

func yieldNow() bool // want skip proc "no body"

func isSet() bool { return flag.Load() != 0 } // want skip call "compiler intrinsic", skip proc "inlinable"

//go:noinline
func deepSet() bool { return flag.Load() != 0 } // want proc, skip call "compiler intrinsic"

//go:noinline
func counts() bool { total++; return flag.Load() != 0 } // want proc, skip call "compiler intrinsic"

//go:noinline
func waits(p *int32, c chan int) { // want proc polls
	for flag.Load() == 0 { // want loop spins "for flag.Load() == 0", skip call "compiler intrinsic"
	}
	for atomic.LoadInt32(p) == 0 { // want loop spins "for atomic.LoadInt32(p) == 0", skip call "compiler intrinsic"
		runtime.Gosched() // want call
	}
	for !isSet() { // want loop spins "for !isSet()", call
		procyield(10) // want call
	}
	for !deepSet() { // want loop spins "for !deepSet()", call
	}
	for start := time.Now(); flag.Load() == 0 && time.Since(start) < time.Second; { // want skip call "compiler intrinsic", loop spins "for flag.Load() == 0 && time.Since(start) < t...", call, call
	}
	for !flag.CompareAndSwap(0, 1) { // want loop spins "for !flag.CompareAndSwap(0, 1)", skip call "compiler intrinsic"
		runtime.Gosched() // want call
	}
	for flag.Load() == 0 { // want loop spins "for flag.Load() == 0", skip call "compiler intrinsic"
		select {
		case <-c: // want sync receive weak "p.waits.c"
		default: // want sync default "select"
		}
	}
}

//go:noinline
func works(p *int32, list []*atomic.Int32, c chan int) { // want proc polls
	for flag.Load() == 0 { // want skip call "compiler intrinsic", skip loop "short body"
		total++
	}
	for flag.Load() == 0 { // want loop "for flag.Load() == 0", skip call "compiler intrinsic"
		yieldTo(p) // want call
	}
	for flag.Load() == 0 { // want loop "for flag.Load() == 0", skip call "compiler intrinsic"
		yieldNow() // want call
	}
	for flag.Load() == 0 { // want loop "for flag.Load() == 0", skip call "compiler intrinsic"
		time.Sleep(1) // want call
	}
	for flag.Load() == 0 { // want loop "for flag.Load() == 0", skip call "compiler intrinsic"
		<-c // want sync receive weak "p.works.c"
	}
	for !counts() { // want loop "for !counts()", call
	}
	for i := 0; list[i].Load() == 0; i++ { // want skip call "compiler intrinsic", skip loop "short body"
	}
}

type pauses interface{ until(ready func() bool) }

type hot struct{ rounds int }

func (h *hot) until(ready func() bool) { // want proc forced polls "p.(*hot).until"
	for !ready() { // want loop spins "for !ready()", call dynamic ""
		h.rounds++
	}
}

//go:noinline
func until(ready func() bool) { // want proc polls "p.until"
	for !ready() { // want loop spins "for !ready()", call dynamic ""
		runtime.Gosched() // want call "runtime.Gosched"
	}
}

//go:noinline
func drain(next func() bool) { // want proc "p.drain"
	for next() { // want loop "for next()", call dynamic ""
	}
}

//go:noinline
func gives(p pauses, seen int32) { // want proc "p.gives"
	p.until(func() bool { return flag.Load() > seen }) // want call dynamic "", proc "p.gives.func1", skip call "compiler intrinsic"
	until(func() bool { return flag.Load() > seen })   // want call "p.until", proc "p.gives.func2", skip call "compiler intrinsic"
	drain(func() bool { total++; return total < 100 }) // want call "p.drain", proc "p.gives.func3"
}

// An update without a lock turns only if another was faster: its function stays inlined.
func adds(n int32) { // want skip proc "inlinable"
	for {
		old := flag.Load()                   // want skip call "compiler intrinsic"
		if flag.CompareAndSwap(old, old+n) { // want skip call "compiler intrinsic"
			return
		}
	}
}

// A function that waits is probed though the compiler would inline it.
func spins() { // want proc forced polls
	for flag.Load() == 0 { // want loop spins "for flag.Load() == 0", skip call "compiler intrinsic"
	}
}
