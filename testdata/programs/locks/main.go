// Command locks uses every kind of synchronization a known number of times. For each
// object it prints the expected name and the numbers of operations and waits, as
//
//	name operations waits
//
// The number of waits is a lower bound: before a goroutine gives a lock back, it waits
// until another one has asked for the lock.
package main

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"
)

type server struct {
	mu    sync.Mutex
	state sync.RWMutex
	sync.Locker
	inner
	done chan struct{}
	once sync.Once
	cond *sync.Cond
}

type inner struct{ sync.Mutex }

var (
	jobs   = make(chan int, 3)
	global sync.Mutex
	table  [4]sync.Mutex
)

// asleep gives another goroutine the time to block, also on a busy machine.
func asleep() { time.Sleep(10 * time.Millisecond) }

func (s *server) hold(n int) {
	for range n {
		s.mu.Lock()
		runtime.Gosched()
		s.mu.Unlock()
	}
}

func (s *server) deferred() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 1
}

func (s *server) promoted() {
	s.inner.Lock()
	s.inner.Unlock()
	s.inner.Mutex.Lock()
	s.inner.Mutex.Unlock()
}

func (s *server) iface() {
	s.Locker.Lock()
	defer s.Locker.Unlock()
}

func (s *server) try() {
	if s.mu.TryLock() {
		if ok := s.mu.TryLock(); ok {
			panic("locked twice")
		}
		s.mu.Unlock()
	}
}

func contend() {
	var local sync.Mutex
	local.Lock()
	go func() {
		asleep()
		local.Unlock()
	}()
	local.Lock()
	local.Unlock()
}

func (s *server) readers() {
	s.state.RLock()
	go func() {
		asleep()
		s.state.RUnlock()
	}()
	s.state.Lock()
	go func() {
		asleep()
		s.state.Unlock()
	}()
	s.state.RLock()
	s.state.RUnlock()
}

func worker(in <-chan int, wg *sync.WaitGroup) {
	defer wg.Done()
	for range in {
		asleep()
	}
}

func channels() {
	var group sync.WaitGroup
	group.Add(1)
	go worker(jobs, &group)
	for i := range 8 {
		jobs <- i
	}
	close(jobs)
	group.Wait()
}

func (s *server) selects(ctx context.Context) {
	unbuffered := make(chan int)
	go func() {
		asleep()
		unbuffered <- 1
		asleep()
		close(s.done)
	}()
	var never chan int
	for n := 0; n < 2; {
		select {
		case x, ok := <-unbuffered:
			if ok {
				n += x
			}
		case <-s.done:
			n = 2
		case never <- 1:
		case <-ctx.Done():
			panic("canceled")
		}
	}
	select {
	case <-never:
	default:
	}
}

func (s *server) waits() {
	ready := false
	go func() {
		asleep()
		s.mu.Lock()
		ready = true
		s.cond.Broadcast()
		s.mu.Unlock()
	}()
	s.mu.Lock()
	for !ready {
		s.cond.Wait()
	}
	s.mu.Unlock()
}

func (s *server) values() {
	lock, unlock := s.mu.Lock, s.inner.Unlock
	lock()
	s.mu.Unlock()
	s.inner.Lock()
	defer unlock()
	for i := range table {
		table[i].Lock()
		table[i].Unlock()
	}
	if x, ok := <-boxed(); ok && x == 1 {
		global.Lock()
		global.Unlock()
	}
}

func boxed() <-chan int {
	c := make(chan int, 1)
	c <- 1
	return c
}

type wrapped struct {
	parts [2]struct{ mu sync.RWMutex }
	first struct{ mu sync.RWMutex }
}

func (w *wrapped) lock()   { w.first.mu.Lock() }
func (w *wrapped) unlock() { w.first.mu.Unlock() }

type outer struct {
	*sync.RWMutex // as a pointer
	wrapped
}

func indirect(o *outer) {
	o.RLock()
	o.RUnlock()
	o.wrapped.lock()
	defer o.wrapped.unlock()
}

// expressions receives 9 values within expressions and leaves c empty.
func expressions(c chan bool) bool {
	for range 9 {
		c <- true
	}
	if <-c && (!<-c || <-c) && len(c) == 6 {
		runtime.Gosched()
	}
	switch <-c {
	case <-c:
		go fmt.Sprint(<-c)
	}
	list := []bool{<-c, <-c}
	defer runtime.KeepAlive(list)
	return <-c
}

func pulls() {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	next()
	stop()
}

func main() {
	s := &server{done: make(chan struct{}), Locker: &sync.Mutex{}}
	s.cond = sync.NewCond(&s.mu)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.hold(10)
	s.deferred()
	s.promoted()
	s.iface()
	s.try()
	contend()
	s.readers()
	channels()
	s.selects(ctx)
	s.waits()
	s.values()
	for range 3 {
		s.once.Do(func() {})
	}
	pulls()
	indirect(&outer{RWMutex: &s.state})
	flags := make(chan bool, 9)
	expressions(flags)
	cancel()
	<-ctx.Done()
	for _, line := range []string{
		"main.(*server).mu 30 0",
		"main.(*server).Locker 2 0",
		"main.(*inner).Mutex 6 0",
		"main.contend.local 4 1",
		"main.(*server).state 8 2",
		"main.jobs 17 4",
		"main.channels.group 3 1",
		"main.(*server).selects.unbuffered 2 1",
		"main.(*server).done 2 1",
		"main.(*server).cond 2 1",
		"main.table[...] 8 0",
		"main.boxed() 1 0",
		"main.global 2 0",
		"main.(*server).once 3 0",
		"context.Context.Done() in main.main 1 0",
		"main.(*wrapped).first.mu 2 0",
		"main.expressions.c 18 0",
		"select 1 0",
	} {
		fmt.Println(line)
	}
}
