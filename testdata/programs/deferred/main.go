// Deferred does what people seldom do with deferred operations on locks, and prints what it sees: the order
// of deferred calls, panics, who recovers, and the stacks that code can look at. TestDeferred compares this
// with what the program prints without probes.
package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

func main() {
	for _, f := range []func(){order, many, looped, pointers, lockers, ends, values, later, closures, spelled, failed} {
		f()
	}
}

// stack prints the functions of this package on the stack, and the lines from which they call.
func stack(what string) {
	pc := make([]uintptr, 50)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	var list []string
	for {
		f, more := frames.Next()
		if f.Function != "" {
			list = append(list, fmt.Sprintf("%s:%d", f.Function, f.Line))
		}
		if !more {
			break
		}
	}
	fmt.Println(what, strings.Join(list[:len(list)-3], " ")) // without main, runtime.main and runtime.goexit
}

// free prints whether nobody holds a lock.
func free(what string, mu *sync.Mutex) {
	ok := mu.TryLock()
	if ok {
		mu.Unlock()
	}
	fmt.Println(what, ok)
}

// order: deferred calls run last in, first out.
func order() {
	var mu sync.Mutex
	func() {
		mu.Lock()
		defer free("outer defer", &mu)
		defer mu.Unlock()
		defer free("inner defer", &mu)
	}()
	free("after", &mu)
}

type table struct {
	mu sync.Mutex
	n  int
}

// choose has more returns than leave room for one more defer.
//
//go:noinline
func (t *table) choose(n int) (r int) {
	defer free("chosen", &t.mu)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n {
	case 0:
		return 10
	case 1:
		return 11
	case 2:
		return 12
	case 3:
		return 13
	case 4:
		return 14
	case 5:
		return 15
	case 6:
		return 16
	case 7:
		return 17
	case 8:
		return 18
	case 9:
		return 19
	case 10:
		return 20
	case 11:
		return 21
	case 12:
		return 22
	case 13:
		return 23
	case 14:
		return 24
	case 15:
		return 25
	case 16:
		return 26
	case 17:
		return t.n / (n - 17)
	}
	return 27
}

func many() {
	t := &table{}
	for n := range 20 {
		func() {
			defer func() {
				if e := recover(); e != nil {
					fmt.Println("chosen", e)
				}
			}()
			fmt.Println(t.choose(n))
		}()
	}
	defer func() { fmt.Println("nil table:", recover()) }()
	t = nil
	t.choose(1)
}

// looped defers more operations than there are statements.
func looped() {
	tables := make([]*table, 3)
	func() {
		for i := range tables {
			tables[i] = &table{n: i}
			tables[i].mu.Lock()
			defer tables[i].mu.Unlock()
		}
	}()
	for _, t := range tables {
		free("looped", &t.mu)
	}
	func() {
		i := 0
	again:
		tables[i].mu.Lock()
		defer tables[i].mu.Unlock()
		if i++; i < len(tables) {
			goto again
		}
	}()
	for _, t := range tables {
		free("goto", &t.mu)
	}
}

type holder struct {
	*sync.RWMutex
	sync.Locker
}

// pointers: what a deferred operation is about is found when the statement runs.
func pointers() {
	a, b := new(sync.Mutex), new(sync.Mutex)
	func() {
		p := a
		p.Lock()
		defer p.Unlock()
		p = b
	}()
	free("a", a)
	free("b", b)
	func() {
		defer func() { fmt.Println("nil pointer:", recover()) }()
		defer fmt.Println("is deferred after nil")
		var p *sync.Mutex
		defer p.Unlock()
		fmt.Println("nil is deferred")
	}()
	func() {
		defer func() { fmt.Println("nil struct:", recover()) }()
		var t *table
		defer t.mu.Unlock()
		fmt.Println("not reached")
	}()
	func() {
		defer func() { fmt.Println("nil embedded:", recover()) }()
		h := &holder{}
		defer h.RUnlock()
		fmt.Println("nil embedded is deferred")
	}()
	func() {
		defer func() { fmt.Println("nil interface:", recover()) }()
		var l sync.Locker
		defer l.Unlock()
		fmt.Println("not reached")
	}()
	func() {
		defer func() {
			stack("nil in")
			fmt.Println("nil stack:", recover())
		}()
		var p *sync.Mutex
		defer p.Unlock()
	}()
}

// odd is a lock of its own. Its methods recover, and look at who calls them.
type odd struct{ name string }

func (o *odd) Lock() { stack("lock " + o.name) }

func (o *odd) Unlock() {
	stack("unlock " + o.name)
	_, _, line, _ := runtime.Caller(1)
	fmt.Println(o.name, "recovered", recover(), "called in line", line)
}

func lockers() {
	func() {
		var l sync.Locker = &odd{"plain"}
		l.Lock()
		defer l.Unlock()
	}()
	func() {
		var l sync.Locker = &odd{"panic"}
		defer l.Unlock()
		panic("a panic")
	}()
	func() {
		h := holder{Locker: &odd{"embedded"}}
		defer h.Locker.Unlock()
		defer h.Locker.Lock()
		panic("another")
	}()
	func() {
		for _, name := range []string{"one", "two"} {
			var l sync.Locker = &odd{name}
			defer l.Unlock()
		}
		panic("in a loop")
	}()
	func() {
		var l sync.Locker = &odd{"value"}
		f := l.Unlock
		defer f()
		panic("of a value")
	}()
}

// ends: deferred operations run when a goroutine ends.
func ends() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		mu.Lock()
		defer mu.Unlock()
		runtime.Goexit()
	}()
	wg.Wait()
	free("goexit", &mu)
}

// values: a method value holds its receiver.
func values() {
	var mu sync.Mutex
	func() {
		mu.Lock()
		f := mu.Unlock
		defer f()
	}()
	free("bound", &mu)
	func() {
		defer func() { fmt.Println("nil function:", recover()) }()
		var f func()
		if mu.TryLock() {
			mu.Unlock()
		} else {
			f = mu.Unlock
		}
		defer f()
		fmt.Println("nil function is deferred")
	}()
	func() {
		mu.Lock()
		defer run(mu.Unlock)
	}()
	free("argument", &mu)
	unlock := locked(&mu)
	free("returned", &mu)
	unlock()
	free("called", &mu)
	type pair struct{ lock, unlock func() }
	p := pair{mu.Lock, mu.Unlock}
	p.lock()
	free("field", &mu)
	p.unlock()
	free("field", &mu)
	var wg sync.WaitGroup
	wg.Add(2)
	go run(wg.Done)
	done := wg.Done
	run(done)
	wg.Wait()
	add := wg.Add
	add(1)
	defer add(-1)
	var rw sync.RWMutex
	both(rw.RLock, rw.RUnlock)
	both(rw.Lock, rw.Unlock)
	both(rw.RLocker().Lock, rw.RLocker().Unlock)
	var l sync.Locker = &odd{"passed"}
	both(l.Lock, l.Unlock)
	func() {
		defer func() { fmt.Println("nil value:", recover()) }()
		var p *sync.Mutex
		f := []func(){p.Unlock}
		fmt.Println("nil value is taken")
		f[0]()
	}()
	func() {
		defer func() { fmt.Println("nil locker's value:", recover()) }()
		var l sync.Locker
		f := []func(){l.Unlock}
		f[0]()
	}()
	func() {
		defer func() {
			stack("nil value in")
			recover()
		}()
		var p *sync.Mutex
		run(p.Unlock)
	}()
	func() {
		l := &odd{"deferred value"}
		defer take(l)()
		panic("of a returned value")
	}()
}

func take(l sync.Locker) func() { return l.Unlock }

//go:noinline
func run(f func()) { f() }

func both(lock, unlock func()) {
	lock()
	defer unlock()
}

//go:noinline
func locked(mu *sync.Mutex) (unlock func()) {
	mu.Lock()
	return mu.Unlock
}

// later: operations behind which there is a probe.
func later() {
	var mu sync.Mutex
	mu.Lock()
	func() {
		mu.Unlock()
		defer mu.Lock()
		free("given", &mu)
	}()
	free("taken again", &mu)
	mu.Unlock()
	var wg sync.WaitGroup
	n := 0
	func() {
		wg.Add(1)
		defer wg.Wait()
		go func() {
			defer wg.Done()
			n++
		}()
	}()
	fmt.Println(n)
	var once sync.Once
	func() { defer once.Do(func() { stack("once") }) }()
	c := make(chan int)
	func() { defer close(c) }()
	_, ok := <-c
	fmt.Println("open", ok)
	func() {
		defer func() {
			stack("closed twice in")
			fmt.Println(recover())
		}()
		defer close(c)
	}()
	func() {
		defer func() {
			stack("nil lock in")
			fmt.Println(recover())
		}()
		var p *sync.Mutex
		defer p.Lock()
	}()
}

// closures: literals that are deferred for the sake of an operation in them.
func closures() {
	t := &table{}
	func() {
		t.mu.Lock()
		defer func() { t.mu.Unlock() }()
	}()
	free("closure", &t.mu)
	func() {
		t.mu.Lock()
		defer func() {
			fmt.Println("a closure recovers", recover())
			t.mu.Unlock()
		}()
		panic("for a closure")
	}()
	free("closure", &t.mu)
	func() {
		t.mu.Lock()
		defer func() { t.n++; t.mu.Unlock(); stack("in a closure") }()
	}()
	fmt.Println(t.n)
	func() {
		t.mu.Lock()
		defer func(mu *sync.Mutex) { mu.Unlock() }(&t.mu)
	}()
	free("closure with an argument", &t.mu)
	t.mu.Lock()
	go func() { t.mu.Unlock() }() // which the next operation waits for
	t.mu.Lock()
	t.mu.Unlock()
}

// spelled: what is seldom written so.
func spelled() {
	var mu sync.Mutex
	(mu.Lock)()
	(mu.Unlock)()
	(mu).Lock()
	(&mu).Unlock()
	mu.TryLock()
	mu.
		Unlock()
	func() {
		defer mu.Unlock(
		// a comment
		)
		defer (mu.Lock)()
	}()
	free("spelled", &mu)
	func() {
		defer mu.Unlock()
		defer mu.TryLock()
	}()
	free("tried", &mu)
	(*sync.Mutex).Lock(&mu)
	f := (*sync.Mutex).Unlock
	f(&mu)
	go mu.Lock()
}

// failed: an operation that panics.
func failed() {
	var wg sync.WaitGroup
	defer func() {
		stack("failed in")
		fmt.Println(recover())
	}()
	defer wg.Done()
}
