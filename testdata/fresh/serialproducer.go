package main

import "sync"

// One goroutine makes the jobs, and takes longer than who does them.
//
// truth: serial-run serial-procedure one-goroutine one-processor few-parts one-receiver
func serialproducer(s size)         { serialproducerRun(s, 1) }
func serialproducerRepaired(s size) { serialproducerRun(s, s.g) }

func serialproducerRun(s size, producers int) {
	jobs := make(chan uint64, 16)
	var makers, all sync.WaitGroup
	for p := range producers {
		makers.Go(func() {
			for i := p; i < s.n; i += producers {
				jobs <- work(s.us)
			}
		})
	}
	for range s.g {
		all.Go(func() {
			sum := uint64(0)
			for v := range jobs {
				sum += v + work(s.us/8)
			}
			keep(sum)
		})
	}
	makers.Wait()
	close(jobs)
	all.Wait()
}
