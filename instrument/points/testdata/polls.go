// Package p: loops that somebody else ends.
package p

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type server struct {
	mu      sync.Mutex
	stopped bool
	done    chan struct{}
	flag    atomic.Bool
	n       int
}

//go:noinline
func crunch() { // want proc
	for range 1000 { // want skip loop "short body"
		total++
	}
}

var total int

//go:noinline
func channel(done chan struct{}) { // want proc polls
	for { // want loop "for"
		select {
		case <-done: // want sync receive weak "p.channel.done"
			return
		default: // want sync default "select"
			crunch() // want call
		}
	}
}

//go:noinline
func contexts(ctx context.Context) { // want proc polls
	for ctx.Err() == nil { // want loop "for ctx.Err() == nil", call dynamic
		crunch() // want call
	}
}

//go:noinline
func doneOf(ctx context.Context) { // want proc polls
	for { // want loop "for"
		select {
		case <-ctx.Done(): // want call dynamic, sync receive weak "context.Context.Done()"
			return
		default: // want sync default "select"
			crunch() // want call
		}
	}
}

// What is left to do is counted.
//
//go:noinline
func left(n *atomic.Int64) { // want proc
	for n.Load() > 0 { // want loop "for n.Load() > 0", skip call "compiler intrinsic"
		crunch()  // want call
		n.Add(-1) // want skip call "compiler intrinsic"
	}
}

//go:noinline
func (s *server) atomics() { // want proc polls
	for !s.flag.Load() { // want loop "for !s.flag.Load()", skip call "compiler intrinsic"
		crunch() // want call
	}
}

//go:noinline
func (s *server) locked() { // want proc polls
	for { // want loop "for"
		s.mu.Lock() // want call, sync lock "p.(*server).mu"
		stopped := s.stopped
		s.mu.Unlock() // want call, sync unlock "p.(*server).mu"
		if stopped {
			return
		}
		crunch() // want call
	}
}

// One that may fail before is no other.

//go:noinline
func (s *server) tries() error { // want proc polls
	for !s.flag.Load() { // want loop "for !s.flag.Load()", skip call "compiler intrinsic"
		if err := try(); err != nil { // want call
			return err
		}
	}
	return nil
}

//go:noinline
func try() error { return nil } // want proc

// The clock ends these.

//go:noinline
func since(d time.Duration) (turns int) { // want proc timed
	for start := time.Now(); time.Since(start) < d; turns++ { // want loop "for time.Since(start) < d", call, call
		crunch() // want call
	}
	return turns
}

//go:noinline
func before(end time.Time) error { // want proc timed
	for { // want loop "for"
		if !time.Now().Before(end) { // want call, call
			return nil
		}
		if err := try(); err != nil { // want call
			return err
		}
	}
}

// This one gives up when it is late, and otherwise ends by what it does.

//go:noinline
func gives(end time.Time) error { // want proc
	for { // want loop "for"
		if try() == nil { // want call
			return nil
		}
		if time.Now().After(end) { // want call, call
			return context.DeadlineExceeded
		}
	}
}

// Those end by what they do themselves, or may.

//go:noinline
func cancelled(ctx context.Context, list []int) { // want proc
	for range list { // want loop "range list"
		if ctx.Err() != nil { // want call dynamic
			return
		}
		crunch() // want call
	}
}

//go:noinline
func both(flag *atomic.Bool, n int) { // want proc
	for i := 0; i < n && !flag.Load(); i++ { // want loop "for i < n && !flag.Load()", skip call "compiler intrinsic"
		crunch() // want call
	}
}

//go:noinline
func blocks(done, more chan struct{}) { // want proc
	for { // want loop "for"
		select { // want site select "select(p.blocks.done, p.blocks.more)"
		case <-done: // want sync receive weak "p.blocks.done"
			return
		case <-more: // want sync receive weak "p.blocks.more"
			crunch() // want call
		}
	}
}

//go:noinline
func (s *server) own() { // want proc
	for !s.stopped { // want loop "for !s.stopped"
		crunch() // want call
		s.n++
		s.stopped = s.n > 10
	}
}

//go:noinline
func counted(list []int, until time.Time) { // want proc
	for range list { // want loop "range list"
		crunch() // want call
	}
}

func small(flag *atomic.Bool) { // want func derived polls "p.small", skip proc "inlinable"
	for !flag.Load() { // want skip call "compiler intrinsic"
		crunch() // want skip call "inline"
	}
}

//go:noinline
func callsSmall(flag *atomic.Bool) { // want proc polls
	small(flag) // want call
}

// What asks is a wait.
//
//go:noinline
func asks(work, more chan int) { // want proc polls
	for { // want loop "for"
		select {
		case n, ok := <-work: // want sync receive weak asks "p.asks.work"
			if !ok {
				return
			}
			total += n
		case <-more: // want sync receive weak asks "p.asks.more"
			crunch() // want call
		default: // want sync default "select"
			runtime.Gosched() // want call
		}
	}
}

// Another loop's work would be taken for a wait.
//
//go:noinline
func asksAndWorks(work chan int) { // want proc polls
	for { // want loop "for"
		select {
		case n, ok := <-work: // want sync receive weak "p.asksAndWorks.work"
			if !ok {
				return
			}
			for range n { // want loop "range n"
				crunch() // want call
			}
		default: // want sync default "select"
			runtime.Gosched() // want call
		}
	}
}

// The default ends the loop.
//
//go:noinline
func asksOnce(work chan int) { // want proc polls
loop:
	for { // want loop "for"
		select {
		case n := <-work: // want sync receive weak "p.asksOnce.work"
			total += n
		default: // want sync default "select"
			break loop
		}
	}
}

// These keep a pace.

type bucket struct {
	next time.Time
	gap  time.Duration
}

//go:noinline
func (b *bucket) reserve(now time.Time) time.Duration { // want proc chained
	b.next = b.next.Add(b.gap) // want call
	return b.next.Sub(now)     // want call
}

//go:noinline
func (b *bucket) take() { // want proc paced
	if wait := b.reserve(time.Now()); wait > 0 { // want call, call
		time.Sleep(wait) // want call
	}
}

//go:noinline
func until(times []time.Time) { // want proc paced
	for _, t := range times { // want loop "range times"
		<-time.After(time.Until(t)) // want call, call, sync receive weak "time.After()"
	}
}

//go:noinline
func (b *bucket) left() time.Duration { // want proc deferexit "p.(*bucket).left"
	defer b.tell()            // want call deferred "p.(*bucket).tell"
	return time.Until(b.next) // want call "time.Until"
}

//go:noinline
func (b *bucket) wait() { time.Sleep(b.left()) } // want proc paced "p.(*bucket).wait", call "p.(*bucket).left", call "time.Sleep"

// These do not.

//go:noinline
func (b *bucket) tell() { b.gap++ } // want proc "p.(*bucket).tell"

//go:noinline
func (b *bucket) rest() { time.Sleep(b.half()) } // want proc "p.(*bucket).rest", call "p.(*bucket).half", call "time.Sleep"

//go:noinline
func (b *bucket) half() time.Duration { // want proc deferexit "p.(*bucket).half"
	defer b.tell() // want call deferred "p.(*bucket).tell"
	return b.gap / 2
}

//go:noinline
func backs(delay time.Duration) { // want proc
	for try() != nil { // want loop "for try() != nil", call
		time.Sleep(delay) // want call
		delay *= 2
	}
}
