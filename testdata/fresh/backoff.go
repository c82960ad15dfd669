package main

import (
	"sync"
	"time"
)

// Who does not get in at once sleeps before trying again.
//
// truth: timer
type backoffFile struct{ mu sync.Mutex }

func (f *backoffFile) take(s size) {
	for !f.mu.TryLock() {
		time.Sleep(2 * s.wait)
	}
}

func (f *backoffFile) takeRepaired(size) { f.mu.Lock() }

func backoff(s size)         { backoffRun(s, (*backoffFile).take) }
func backoffRepaired(s size) { backoffRun(s, (*backoffFile).takeRepaired) }

func backoffRun(s size, take func(*backoffFile, size)) {
	f := &backoffFile{}
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for range max(1, s.n/4/s.g) {
				take(f, s)
				keep(work(s.us))
				f.mu.Unlock()
				keep(work(s.us / 4))
			}
		})
	}
	wg.Wait()
}
