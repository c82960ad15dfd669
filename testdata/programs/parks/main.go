// Command parks waits in every way that a program can make the runtime park a goroutine, each in a function of its own, so that a
// test can look for each wait by the name of its function.
package main

import (
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

const long = 3 * time.Millisecond

// after runs f while the caller waits.
func after(f func()) {
	go func() {
		time.Sleep(long)
		f()
	}()
}

//go:noinline
func receive() {
	c := make(chan int)
	after(func() { c <- 1 })
	<-c
}

//go:noinline
func send() {
	c := make(chan int)
	after(func() { <-c })
	c <- 1
}

//go:noinline
func receiveNil() { var c chan int; <-c }

//go:noinline
func sendNil() { var c chan int; c <- 1 }

//go:noinline
func selects() {
	c, d := make(chan int), make(chan int)
	after(func() { c <- 1 })
	select {
	case <-c:
	case <-d:
	}
}

//go:noinline
func selectNone() { select {} }

//go:noinline
func sleeps() { time.Sleep(long) }

//go:noinline
func timer() { <-time.After(long) }

//go:noinline
func lock() {
	var mu sync.Mutex
	mu.Lock()
	after(mu.Unlock)
	mu.Lock()
}

//go:noinline
func readLock() {
	var mu sync.RWMutex
	mu.Lock()
	after(mu.Unlock)
	mu.RLock()
}

//go:noinline
func writeLock() {
	var mu sync.RWMutex
	mu.RLock()
	after(mu.RUnlock)
	mu.Lock()
}

//go:noinline
func waitGroup() {
	var wg sync.WaitGroup
	wg.Add(1)
	after(wg.Done)
	wg.Wait()
}

//go:noinline
func condition() {
	c := sync.NewCond(new(sync.Mutex))
	c.L.Lock()
	after(c.Signal)
	c.Wait()
	c.L.Unlock()
}

//go:noinline
func once() {
	var o sync.Once
	started := make(chan bool)
	go o.Do(func() { close(started); time.Sleep(long) })
	<-started
	o.Do(func() {})
}

//go:noinline
func network() {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	after(func() { w.Write([]byte{1}) })
	r.Read(make([]byte, 1))
}

// file waits for another reader of the same file, by a semaphore of package poll.
//
//go:noinline
func file() {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go r.Read(make([]byte, 1))
	time.Sleep(long)
	after(func() { w.Write([]byte{1, 2}) })
	r.Read(make([]byte, 1))
}

// calls waits in system calls, long ones, in which the processor is taken away, and short ones.
//
//go:noinline
func calls() {
	for _, ns := range []int64{20e6, 200e3} {
		for range 10 {
			t := syscall.NsecToTimespec(ns)
			if err := syscall.Nanosleep(&t, nil); err != nil && err != syscall.EINTR {
				panic(err)
			}
		}
	}
}

// brief makes system calls in which it does not wait.
//
//go:noinline
func brief() {
	var st syscall.Stat_t
	for range 200 {
		if err := syscall.Fstat(1, &st); err != nil {
			panic(err)
		}
	}
}

//go:noinline
func pulls() {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for yield(1) {
		}
	})
	next()
	stop()
}

// yields does so many times in a row, and nobody else wants to run.
//
//go:noinline
func yields() {
	for range 1000 {
		runtime.Gosched()
	}
}

//go:noinline
func collects() { runtime.GC() }

// stopped computes while others collect: the collector stops it to scan its stack. It has waited for a lock before.
//
//go:noinline
func stopped() (n int) {
	lock()
	done := make(chan bool)
	go func() {
		for range 200 {
			runtime.GC()
		}
		close(done)
	}()
	for {
		select {
		case <-done:
			return n
		default:
			n += compute()
		}
	}
}

//go:noinline
func compute() (n int) {
	for i := range 3_000_000 {
		n += i * i
	}
	return n
}

//go:noinline
func traced() {
	if trace.Start(io.Discard) == nil {
		time.Sleep(long)
		trace.Stop()
	}
}

//go:noinline
func heap() { debug.FreeOSMemory() }

//go:noinline
func bubble(t *testing.T) {
	c, wg := make(chan int), new(sync.WaitGroup)
	wg.Go(func() { time.Sleep(time.Second); c <- 1; time.Sleep(time.Second); c <- 2 })
	durableReceive(c)
	durableSelect(c, make(chan int))
	wg.Go(func() { durableSend(c) })
	synctest.Wait()
	<-c
	wg.Go(func() { time.Sleep(time.Second) })
	durableWaitGroup(wg)
}

//go:noinline
func durableReceive(c chan int) { <-c }

//go:noinline
func durableSend(c chan int) { c <- 1 }

//go:noinline
func durableSelect(c, d chan int) {
	select {
	case <-c:
	case <-d:
	}
}

//go:noinline
func durableWaitGroup(wg *sync.WaitGroup) { wg.Wait() }

func main() {
	for _, f := range []func(){receiveNil, sendNil, selectNone} {
		go f()
	}
	for _, f := range []func(){receive, send, selects, sleeps, timer, lock, readLock, writeLock, waitGroup, condition, once, network, file, calls, brief, pulls, yields, collects, traced, heap} {
		f()
	}
	fmt.Fprintln(io.Discard, stopped())
	flag.CommandLine = flag.NewFlagSet("parks", flag.PanicOnError)
	os.Args = os.Args[:1]
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "bubble", F: func(t *testing.T) { synctest.Test(t, bubble) }}}, nil, nil)
}
