package main

import (
	"sync"
	"time"
)

// The lock is held while its holder waits for the time.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer timer
type sleeplockAccount struct {
	mu      sync.Mutex
	balance uint64
}

func (a *sleeplockAccount) charge(s size) {
	a.mu.Lock()
	defer a.mu.Unlock()
	time.Sleep(s.wait)
	a.balance += work(s.us)
}

func (a *sleeplockAccount) chargeRepaired(s size) {
	time.Sleep(s.wait)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += work(s.us)
}

func sleeplock(s size)         { sleeplockRun(s, (*sleeplockAccount).charge) }
func sleeplockRepaired(s size) { sleeplockRun(s, (*sleeplockAccount).chargeRepaired) }

func sleeplockRun(s size, charge func(*sleeplockAccount, size)) {
	a := &sleeplockAccount{}
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for range max(1, s.waits/s.g) {
				charge(a, s)
			}
		})
	}
	wg.Wait()
}
