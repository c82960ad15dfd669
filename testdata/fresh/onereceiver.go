package main

import "sync"

// One goroutine does the work that many send.
//
// truth: one-receiver serial-run serial-procedure one-goroutine one-processor few-parts
func onereceiver(s size)         { onereceiverRun(s, 1) }
func onereceiverRepaired(s size) { onereceiverRun(s, s.g) }

func onereceiverRun(s size, receivers int) {
	jobs := make(chan int, 8)
	var senders, all sync.WaitGroup
	for g := range s.g {
		senders.Go(func() {
			for i := g; i < s.n; i += s.g {
				jobs <- i
			}
		})
	}
	for range receivers {
		all.Go(func() {
			sum := uint64(0)
			for range jobs {
				sum += work(s.us)
			}
			keep(sum)
		})
	}
	senders.Wait()
	close(jobs)
	all.Wait()
}
