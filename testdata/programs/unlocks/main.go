// Unlocks takes locks that are held equally long, one after the other, and gives each back in another way.
// Two goroutines always want the same lock. It prints for each lock how long it was held.
package main

import (
	"fmt"
	"sync"
	"time"
)

// uses is how often each goroutine takes a lock.
const uses = 50

func main() {
	for _, c := range []struct {
		name string
		use  func() time.Duration
	}{
		{"few", few.use}, {"many", many.use}, {"value", value.use}, {"closure", closure.use}, {"handed", handed.use},
		{"inlined", inlined}, {"expression", expression.use},
	} {
		var wg sync.WaitGroup
		var held [2]time.Duration
		for i := range held {
			wg.Go(func() {
				for range uses {
					held[i] += c.use()
				}
			})
		}
		wg.Wait()
		fmt.Println(c.name, int64(held[0]+held[1]))
	}
}

// work takes a while, without a processor.
func work() time.Duration {
	start := time.Now()
	time.Sleep(time.Millisecond)
	return time.Since(start)
}

type fewReturns struct{ mu sync.Mutex }

var few fewReturns

func (l *fewReturns) use() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return work()
}

type manyReturns struct {
	mu sync.Mutex
	n  int
}

var many manyReturns

func (l *manyReturns) use() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := work()
	l.n++
	switch l.n % 16 {
	case 1:
		return took
	case 2:
		return took
	case 3:
		return took
	case 4:
		return took
	case 5:
		return took
	case 6:
		return took
	case 7:
		return took
	case 8:
		return took
	case 9:
		return took
	case 10:
		return took
	case 11:
		return took
	case 12:
		return took
	case 13:
		return took
	case 14:
		return took
	case 15:
		return took
	}
	return took
}

type methodValue struct{ mu sync.Mutex }

var value methodValue

func (l *methodValue) use() time.Duration {
	l.mu.Lock()
	return then(l.mu.Unlock)
}

//go:noinline
func then(unlock func()) time.Duration {
	defer unlock()
	return work()
}

type inClosure struct{ mu sync.Mutex }

var closure inClosure

func (l *inClosure) use() time.Duration {
	l.mu.Lock()
	defer func() { l.mu.Unlock() }()
	return work()
}

type handedOn struct{ mu sync.Mutex }

var handed handedOn

func (l *handedOn) use() time.Duration {
	l.mu.Lock()
	took := make(chan time.Duration)
	go func() {
		d := work()
		l.mu.Unlock()
		took <- d
	}()
	return <-took
}

// The operations on this lock are in functions that would be inlined, and that are no methods of
// what has the lock.
var hidden sync.Mutex

func grab() { hidden.Lock() }
func drop() { hidden.Unlock() }

func inlined() time.Duration {
	grab()
	defer drop()
	return work()
}

type byExpression struct{ mu sync.Mutex }

var expression byExpression

func (l *byExpression) use() time.Duration {
	l.mu.Lock()
	took := work()
	(*sync.Mutex).Unlock(&l.mu)
	return took
}
