package main

import "sync"

// All wait until one has made something, which several could have made.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer serial-run serial-procedure one-goroutine one-processor few-parts
type slowonceModel struct {
	once  sync.Once
	parts [8]uint64
}

func (m *slowonceModel) load(s size) {
	for i := range m.parts {
		for range s.n / 8 {
			m.parts[i] += work(s.us)
		}
	}
}

func (m *slowonceModel) loadRepaired(s size) {
	var wg sync.WaitGroup
	for i := range m.parts {
		wg.Go(func() {
			for range s.n / 8 {
				m.parts[i] += work(s.us)
			}
		})
	}
	wg.Wait()
}

func slowonce(s size)         { slowonceRun(s, (*slowonceModel).load) }
func slowonceRepaired(s size) { slowonceRun(s, (*slowonceModel).loadRepaired) }

func slowonceRun(s size, load func(*slowonceModel, size)) {
	m := &slowonceModel{}
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			m.once.Do(func() { load(m, s) })
			sum := uint64(0)
			for range s.n / 4 / s.g {
				sum += m.parts[g%8] + work(s.us)
			}
			keep(sum)
		})
	}
	wg.Wait()
}
