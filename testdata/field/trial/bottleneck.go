//go:build go1.26

package trial

import (
	"log"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	calls  atomic.Int64 // of Here
	held   atomic.Int64 // ns
	thrown atomic.Int64 // bytes
)

// hold is for how long a lock is held at each call of the place.
var hold = func() time.Duration {
	ns, _ := strconv.Atoi(os.Getenv("TRIAL_HOLD"))
	return time.Duration(ns)
}()

// Here is called at the place in the module.
func Here() Kind {
	calls.Add(1)
	return Is
}

// Held computes for as long as a lock is to be held, and keeps the time.
func Held() { compute(hold) }

// Pieces is in how many short holds the time is divided.
func Pieces() int { return int(hold/time.Microsecond) + 1 }

// HeldShort computes for a part of the time.
func HeldShort() { compute(time.Microsecond) }

func compute(d time.Duration) {
	start := time.Now()
	for time.Since(start) < d {
		spin()
	}
	held.Add(int64(time.Since(start)))
}

var spun [64]int

func spin() {
	for i := range spun {
		spun[i] += i
	}
}

// Words is how much garbage there is at each call of the place.
var Words = func() int {
	n, _ := strconv.Atoi(os.Getenv("TRIAL_WORDS"))
	return n
}()

// Thrown counts it.
func Thrown() { thrown.Add(8 * int64(Words)) }

// slowly is what package log writes to while it holds its lock.
type slowly struct{}

func (slowly) Write(p []byte) (int, error) {
	compute(hold)
	return len(p), nil
}

// logged is the time that calls of the dependency took.
var logged atomic.Int64

// Before and After are around a call of it.
func Before() time.Time { return time.Now() }

// After notes how long it took.
func After(start time.Time) { logged.Add(int64(time.Since(start))) }

// Logger is a dependency with a lock.
var Logger = log.New(slowly{}, "", 0)

// run does the work.
func run(items int, work func(item int), t *truth) {
	switch Is {
	case Serial:
		start := time.Now()
		prepare(2*items/5, work)
		t.Serial = int64(time.Since(start))
		pool(items-2*items/5, work)
	case Channel:
		pipeline(items, work, t)
	case Slow:
		t.Ratio = parts(items, work)
	case Garbage:
		live = tree(18)
		pool(items, work)
	case Idle:
		stop := service()
		pool(items, work)
		stop()
	default:
		pool(items, work)
	}
}

// pool has four workers.
func pool(items int, work func(item int)) {
	jobs := make(chan int, 64)
	var group sync.WaitGroup
	for w := 0; w < 4; w++ {
		group.Go(func() {
			for item := range jobs {
				work(item)
				sum.Add(int64(item))
			}
		})
	}
	for i := 0; i < items; i++ {
		jobs <- i
	}
	close(jobs)
	group.Wait()
}

// prepare is a part of the work that one goroutine does. It checks what it did.
func prepare(items int, work func(item int)) {
	seen := map[int]bool{}
	for i := 0; i < items; i++ {
		if seen[i] {
			panic("an item comes twice")
		}
		seen[i] = true
		work(i)
		sum.Add(int64(i))
	}
	total := 0
	for i := range seen {
		total += i
	}
	if total != items*(items-1)/2 || len(seen) != items {
		panic("items are missing")
	}
}

// stage is an end of a pipeline.
type stage struct{ out chan int }

// pipeline has two goroutines. Each does the work of eight items while the other has none.
func pipeline(items int, work func(item int), t *truth) {
	handed := make(chan int)
	done := make(chan bool)
	go func() {
		for {
			start := time.Now()
			item, ok := <-handed
			t.Received += int64(time.Since(start))
			if !ok {
				break
			}
			if item/8%2 == 0 {
				work(item)
			}
			sum.Add(int64(item))
		}
		close(done)
	}()
	s := stage{handed}
	for i := 0; i < items; i++ {
		if i/8%2 == 1 {
			work(i)
		}
		s.send(i, t)
	}
	close(handed)
	<-done
}

func (s *stage) send(item int, t *truth) {
	start := time.Now()
	s.out <- item
	t.Sent += int64(time.Since(start))
}

// parts gives each worker its part before it starts: the third has as much as four others. It returns the ratio of
// their processor times, which depends on how fast processors are that work at the same time.
func parts(items int, work func(item int)) (ratio float64) {
	one := items / 7
	sizes := []int{one, one, 4 * one, one}
	times := make([]float64, len(sizes))
	var group sync.WaitGroup
	for i, size := range sizes {
		group.Add(1)
		go func() {
			defer group.Done()
			runtime.LockOSThread() // whose time is measured
			defer runtime.UnlockOSThread()
			before := threadTime()
			share(size, work)
			times[i] = threadTime() - before
		}()
	}
	group.Wait()
	return times[2] / ((times[0] + times[1] + times[3]) / 3)
}

// threadTime is the processor time of the thread, in seconds.
func threadTime() float64 {
	const self = 1 // the thread
	var u syscall.Rusage
	if err := syscall.Getrusage(self, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func share(items int, work func(item int)) {
	for i := 0; i < items; i++ {
		work(i)
		sum.Add(int64(i))
	}
}

// node makes a heap that the collector has to look at.
type node struct{ left, right *node }

var live *node

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

// service has goroutines that wait by design: for a signal, for the time, for the end.
func service() (stop func()) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	end := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		select {
		case <-interrupts:
		case <-end:
		}
	})
	group.Go(func() {
		ticks := time.NewTicker(50 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
			case <-end:
				return
			}
		}
	})
	return func() {
		close(end)
		group.Wait()
		signal.Stop(interrupts)
	}
}
