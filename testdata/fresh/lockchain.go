package main

import (
	"sync"
	"time"
)

// Who has one lock waits for another one, which is held for long.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer timer
type lockchainBooks struct {
	names, pages sync.Mutex
	sum          uint64
}

func (b *lockchainBooks) lookup(us int) {
	b.names.Lock()
	defer b.names.Unlock()
	b.pages.Lock()
	b.sum++
	b.pages.Unlock()
	b.sum += work(us)
}

func (b *lockchainBooks) print(wait time.Duration) {
	b.pages.Lock()
	defer b.pages.Unlock()
	time.Sleep(wait)
}

func (b *lockchainBooks) printRepaired(wait time.Duration) {
	b.pages.Lock()
	b.sum++
	b.pages.Unlock()
	time.Sleep(wait)
}

func lockchain(s size)         { lockchainRun(s, (*lockchainBooks).print) }
func lockchainRepaired(s size) { lockchainRun(s, (*lockchainBooks).printRepaired) }

func lockchainRun(s size, print func(*lockchainBooks, time.Duration)) {
	b := &lockchainBooks{}
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for range s.n / 2 / s.g {
				b.lookup(s.us)
			}
		})
	}
	wg.Go(func() {
		for range s.waits {
			print(b, s.wait)
			work(20)
		}
	})
	wg.Wait()
}
