// Package p: operations on synchronization objects, and what those are called.
package p

import "sync"

var (
	mu    sync.Mutex
	locks []sync.Mutex
	jobs  = make(chan int)
	once  sync.Once
)

type server struct {
	mu sync.Mutex
	sync.RWMutex
	inner struct{ wg sync.WaitGroup }
	cond  *sync.Cond
	done  chan bool
}

//go:noinline
func variables() { // want proc
	var local sync.Mutex
	mu.Lock()          // want call, sync lock "p.mu"
	mu.Unlock()        // want call, sync unlock "p.mu"
	local.Lock()       // want call, sync lock "p.variables.local"
	local.Unlock()     // want call, sync unlock "p.variables.local"
	once.Do(func() {}) // want call, sync once "p.once", proc "p.variables.func1"
}

//go:noinline
func fields(s *server) { // want proc
	s.mu.Lock()        // want call "sync.(*Mutex).Lock", sync lock "p.(*server).mu"
	s.mu.Unlock()      // want call, sync unlock "p.(*server).mu"
	s.RLock()          // want call, sync rlock "p.(*server).RWMutex"
	s.RUnlock()        // want call, sync runlock "p.(*server).RWMutex"
	s.Lock()           // want call, sync lock "p.(*server).RWMutex"
	s.Unlock()         // want call, sync unlock "p.(*server).RWMutex"
	s.inner.wg.Add(1)  // want call, sync add "p.(*server).inner.wg"
	s.inner.wg.Done()  // want call, sync done "p.(*server).inner.wg"
	s.inner.wg.Wait()  // want call, sync wait "p.(*server).inner.wg"
	s.cond.Signal()    // want call, sync signal weak "p.(*server).cond"
	s.cond.Broadcast() // want call, sync broadcast weak "p.(*server).cond"
	s.cond.Wait()      // want call, sync cond wait weak "p.(*server).cond"
}

//go:noinline
func elements(i int, list []*server) { // want proc
	locks[i].Lock()     // want call, sync lock "p.locks[...]"
	locks[i].Unlock()   // want call, sync unlock "p.locks[...]"
	list[i].mu.Lock()   // want call, sync lock "p.(*server).mu"
	list[i].mu.Unlock() // want call, sync unlock "p.(*server).mu"
}

//go:noinline
func parameters(m *sync.Mutex, l sync.Locker, wg *sync.WaitGroup, c chan int) { // want proc
	m.Lock()   // want call, sync lock weak "p.parameters.m"
	m.Unlock() // want call, sync unlock weak "p.parameters.m"
	l.Lock()   // want call dynamic, sync lock weak "p.parameters.l"
	l.Unlock() // want call dynamic, sync unlock weak "p.parameters.l"
	wg.Wait()  // want call, sync wait weak "p.parameters.wg"
	c <- 1     // want sync send weak "p.parameters.c"
	<-c        // want sync receive weak "p.parameters.c"
}

//go:noinline
func results() { // want proc
	find(1).mu.Lock()   // want call, call, sync lock "p.(*server).mu"
	find(1).mu.Unlock() // want call, call, sync unlock "p.(*server).mu"
}

//go:noinline
func find(n int) *server { return nil } // want proc

func (s *server) lock() { s.mu.Lock() } // want site lock "p.(*server).mu", func derived "p.(*server).lock", call derived, skip proc "inlinable"

// A method that others may call, and what is no method of what has the lock, are no longer inlined.
func (s *server) Take() { s.mu.Lock() } // want sync lock "p.(*server).mu", func derived "p.(*server).Take", call derived, skip proc "inlinable"

func grab() { mu.Lock() } // want sync lock "p.mu", func derived "p.grab", call derived, skip proc "inlinable"

func drop() { mu.Unlock() } // want sync unlock "p.mu", func derived "p.drop", call derived, skip proc "inlinable"

//go:noinline
func wrapperValue(s *server) { // want proc
	use(s.unlock) // want call
}

// A method that is a value somewhere is no longer inlined.
func (s *server) unlock() { s.mu.Unlock() } // want sync unlock "p.(*server).mu", func derived "p.(*server).unlock", call derived, skip proc "inlinable"

// The compiler inlines lock: a call of it is the operation.
//
//go:noinline
func wrapped(s *server) { // want proc
	s.lock()   // want call "p.(*server).lock", sync lock "p.(*server).mu"
	s.unlock() // want call
}

//go:noinline
func deferred(s *server) { // want proc deferexit
	s.mu.Lock()         // want call, sync lock "p.(*server).mu"
	defer s.mu.Unlock() // want call deferred, sync unlock "p.(*server).mu"
	mu.Lock()           // want call, sync lock "p.mu"
	defer mu.Unlock()   // want call deferred, sync unlock "p.mu"
}

//go:noinline
func tried(s *server) { // want proc
	if s.mu.TryLock() { // want sync trylock "p.(*server).mu", call
		s.mu.Unlock() // want call, sync unlock "p.(*server).mu"
	}
	if find(2).mu.TryLock() { // want call, call, skip sync "part of an expression", site trylock unseen
		mu.Lock() // want call, sync lock "p.mu"
	}
}

//go:noinline
func inHead(s *server) { // want proc
	for mu.Lock(); ; mu.Unlock() { // want call, call, skip sync "in the head of a statement", skip loop "never repeats", skip sync "in the head of a statement", site lock unseen, site unlock unseen
		break
	}
}

//go:noinline
func values(s *server) (unlock func()) { // want proc
	s.mu.Lock() // want call, sync lock "p.(*server).mu"
	f := mu.Unlock
	f()                // want call dynamic, sync unlock "p.mu"
	return s.mu.Unlock // want sync unlock "p.(*server).mu"
}

//go:noinline
func passed(s *server, l sync.Locker) { // want proc
	f := s.mu.Unlock // want sync unlock "p.(*server).mu"
	f()              // want call dynamic
	use(f)           // want call
	use(s.mu.Lock)   // want call, sync lock "p.(*server).mu"
	use(l.Unlock)    // want call, sync unlock weak "p.passed.l"
	use(l.Lock)      // want call, skip sync "method value", site lock weak unseen
	add := s.inner.wg.Add
	add(1)                    // want call dynamic, sync add "p.(*server).inner.wg"
	_ = []any{s.inner.wg.Add} // want skip sync "method value", site add unseen
}

//go:noinline
func use(f func()) { f() } // want proc, call dynamic

//go:noinline
func literals(s *server) (unlock func()) { // want proc deferexit
	s.mu.Lock()                      // want call, sync lock "p.(*server).mu"
	defer func() { s.mu.Unlock() }() // want call deferred, proc "p.literals.func1", call, sync unlock "p.(*server).mu"
	mu.Lock()                        // want call, sync lock "p.mu"
	return func() { mu.Unlock() }    // want proc "p.literals.func2", call, sync unlock "p.mu"
}

//go:noinline
func loopedDefer(list []*server) { // want proc deferexit
	for _, s := range list { // want loop "range list"
		s.mu.Lock()         // want call, sync lock "p.(*server).mu"
		defer s.mu.Unlock() // want call deferred, sync unlock "p.(*server).mu"
	}
}

// There is no room for one more defer in manyReturns, and none is needed but for a channel, and behind an
// operation.
//
//go:noinline
func manyReturns(s *server, n int) int { // want proc deferexit
	s.mu.Lock()             // want call, sync lock "p.(*server).mu"
	defer s.mu.Unlock()     // want call deferred, sync unlock "p.(*server).mu"
	defer s.inner.wg.Done() // want call deferred, sync done "p.(*server).inner.wg"
	defer s.inner.wg.Add(1) // want call deferred, skip sync "no room for a defer", site add unseen
	defer mu.Lock()         // want call deferred, skip sync "no room for a defer", site lock unseen
	defer close(jobs)       // want skip sync "no room for a defer", site close unseen
	switch n {
	case 0:
		return 0
	case 1:
		return 1
	case 2:
		return 2
	case 3:
		return 3
	case 4:
		return 4
	case 5:
		return 5
	case 6:
		return 6
	case 7:
		return 7
	case 8:
		return 8
	case 9:
		return 9
	case 10:
		return 10
	case 11:
		return 11
	case 12:
		return 12
	case 13:
		return 13
	case 14:
		return 14
	case 15:
		return 15
	}
	return 0
}

//go:noinline
func deferredOthers(s *server, l sync.Locker) { // want proc deferexit
	f := s.mu.Unlock
	defer f()         // want call deferred dynamic, sync unlock "p.(*server).mu"
	defer l.Unlock()  // want call deferred dynamic, sync unlock weak "p.deferredOthers.l"
	defer mu.Lock()   // want call deferred, sync lock "p.mu"
	defer close(jobs) // want sync close "p.jobs"
}

//go:noinline
func spelled() { // want proc deferexit
	(mu.Lock)()        // want call, sync lock "p.mu"
	mu.TryLock()       // want call, skip sync "part of an expression", site trylock unseen
	defer mu.TryLock() // want call deferred, skip sync "part of an expression", site trylock unseen
	go mu.Lock()       // want go, skip sync "method value", site lock unseen
	defer mu.Unlock()  // want call deferred, sync unlock "p.mu"
}

//go:noinline
func channels(s *server, n int) int { // want proc
	jobs <- n               // want sync send "p.jobs"
	n = <-jobs              // want sync receive "p.jobs"
	v, ok := <-jobs         // want sync receive "p.jobs"
	if ok := <-s.done; ok { // want sync receive "p.(*server).done"
		close(s.done) // want sync close "p.(*server).done"
	}
	if v, ok := <-s.done; ok && v { // want sync receive "p.(*server).done"
		n++
	}
	for v := range jobs { // want loop "range jobs", sync receive "p.jobs"
		n += v
	}
	find(<-jobs) // want sync receive "p.jobs", call
	select {     // want site select "select(p.jobs, p.(*server).done)"
	case v := <-jobs: // want sync receive "p.jobs"
		n += v
	case s.done <- ok: // want sync send "p.(*server).done"
	}
	select {
	case n = <-jobs: // want sync receive "p.jobs"
	default: // want sync default "select"
	}
	switch v, ok := <-jobs; { // want skip sync "in the head of a statement"
	case ok:
		n += v
	}
	return n + v
}

func inlined(s *server) bool { return <-s.done } // want sync receive "p.(*server).done", func derived "p.inlined", skip proc "inlinable"

func submits(c chan *server) { c <- &server{} } // want sync send weak "p.submits.c", func derived "p.submits", skip proc "inlinable"

// What is made here may be on the stack of a caller that it is inlined into, and a literal there has
// a name of that caller's: these have no probes. Where they may wait is told all the same.
func makes(s *server) *server { // want skip proc "inlinable"
	<-s.done // want site receive "p.(*server).done"
	return &server{}
}

func defines(s *server) func() { // want skip proc "inlinable"
	<-s.done                   // want site receive "p.(*server).done"
	return func() { use(nil) } // want skip proc "inlinable", func derived, call derived
}

//go:noinline
func defined(s *server) func() { return defines(s) } // want proc, call
