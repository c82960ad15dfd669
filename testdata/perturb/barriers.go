package main

import (
	"sync"
	"sync/atomic"
)

// lock lets four goroutines add to a sum under a lock that they hold for a few ns.
func lock(number func(int, int) int) (sum int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	add := func(x int) {
		mu.Lock()
		sum += x & 1
		mu.Unlock()
	}
	for range 4 {
		wg.Go(func() {
			for range number(0, 500_000) {
				add(large(300))
			}
		})
	}
	wg.Wait()
	return sum
}

// guarded makes 20 events in each turn, two of them operations.
func guarded(number func(int, int) int) (sum int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range number(0, 100_000) / 2 {
				s := manyEvents(8)
				mu.Lock()
				sum += s & 1
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return sum
}

// half is what one of two goroutines does of a round: both take as long without probes.
func half(id, n int) int {
	if id == 0 {
		return manyEvents(n)
	}
	return noEvents(n)
}

// lastAtWaitGroup has two goroutines a round, of which one has all events: with probes it is the last one, without either may be.
func lastAtWaitGroup(number func(int, int) int) int {
	var sums [2]int
	for range number(0, 300) {
		var wg sync.WaitGroup
		wg.Add(2)
		for id := range 2 {
			go func() {
				defer wg.Done()
				sums[id] += half(id, 40_000)
			}()
		}
		wg.Wait()
	}
	return sums[0] + sums[1]
}

// barrier is one of a condition, as programs make it.
type barrier struct {
	mu         sync.Mutex
	passed     *sync.Cond
	n, came    int
	generation int
}

func newBarrier(n int) *barrier {
	b := &barrier{n: n}
	b.passed = sync.NewCond(&b.mu)
	return b
}

func (b *barrier) await() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.came++; b.came == b.n {
		b.came = 0
		b.generation++
		b.passed.Broadcast()
		return
	}
	for was := b.generation; was == b.generation; {
		b.passed.Wait()
	}
}

// gate is one of a channel that the last one closes.
type gate struct {
	n    int32
	came atomic.Int32
	open atomic.Pointer[chan struct{}]
}

func (g *gate) await() {
	open := g.open.Load()
	if g.came.Add(1) < g.n {
		<-*open
		return
	}
	g.came.Store(0)
	next := make(chan struct{})
	g.open.Store(&next)
	close(*open)
}

func lastAtCondition(number func(int, int) int) int {
	return rounds(2, number(0, 600), newBarrier(2).await, func(id, _ int) int { return half(id, 20_000) })
}

func lastAtClosed(number func(int, int) int) int {
	g := &gate{n: 2}
	first := make(chan struct{})
	g.open.Store(&first)
	return rounds(2, number(0, 600), g.await, func(id, _ int) int { return half(id, 20_000) })
}

// barriers is the paper's loop: p goroutines meet after each round, in which they work between one and one and a half times as many units, with
// so many calls among them.
func barriers(number func(int, int) int) int {
	p, n, units, calls := number(0, 4), number(1, 1000), number(2, 200_000), number(3, 100)
	return rounds(p, n, newBarrier(p).await, func(id, round int) int {
		return manyEvents(calls) + large(units+(id*7919+round*104729)%(units/2))
	})
}

// rounds lets p goroutines work and meet, n times.
func rounds(p, n int, await func(), work func(id, round int) int) (s int) {
	sums := make([]int, p)
	var wg sync.WaitGroup
	for id := range p {
		wg.Go(func() {
			for round := range n {
				sums[id] += work(id, round)
				await()
			}
		})
	}
	wg.Wait()
	for _, x := range sums {
		s += x
	}
	return s
}
