package main

import (
	"sync"
	"time"
)

// A batch waits for more until its time is over, and no more can come.
//
// truth: timer
func batchtimeout(s size)         { batchtimeoutRun(s, 64) }
func batchtimeoutRepaired(s size) { batchtimeoutRun(s, s.g) }

func batchtimeoutRun(s size, full int) {
	type question struct{ answer chan uint64 }
	in := make(chan question)
	var all, askers sync.WaitGroup
	all.Go(func() {
		for q := range in {
			batch := []question{q}
			end := time.NewTimer(s.wait)
		fill:
			for len(batch) < full {
				select {
				case q, ok := <-in:
					if !ok {
						break fill
					}
					batch = append(batch, q)
				case <-end.C:
					break fill
				}
			}
			end.Stop()
			v := work(s.us)
			for _, q := range batch {
				q.answer <- v
			}
		}
	})
	for range s.g {
		askers.Go(func() {
			for range s.waits / 2 {
				q := question{make(chan uint64, 1)}
				in <- q
				keep(<-q.answer)
			}
		})
	}
	askers.Wait()
	close(in)
	all.Wait()
}
