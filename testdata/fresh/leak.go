package main

import "time"

// Goroutines wait for what nobody sends.
//
// truth: goroutine-leak defect
func leak(s size)         { leakRun(s, make(chan int)) }
func leakRepaired(s size) { leakRun(s, make(chan int, s.waits)) }

func leakRun(s size, answers chan int) {
	for i := range s.waits {
		go func() {
			keep(work(s.us))
			answers <- i
		}()
		select {
		case <-answers:
		case <-time.After(time.Duration(s.us/2) * time.Microsecond):
		}
	}
}
