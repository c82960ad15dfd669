package main

import (
	"sync"
	"time"
)

// What is collected goes on when the clock ticks, although it is complete.
//
// truth: timer
type tickflushRecord struct{ done chan bool }

func tickflush(s size)         { tickflushRun(s, s.g*1000) }
func tickflushRepaired(s size) { tickflushRun(s, 1) }

func tickflushRun(s size, full int) {
	in := make(chan tickflushRecord)
	var all sync.WaitGroup
	all.Go(func() { tickflushWrite(in, s, full) })
	var senders sync.WaitGroup
	for range s.g {
		senders.Go(func() {
			for range max(1, s.waits/2) {
				r := tickflushRecord{make(chan bool, 1)}
				in <- r
				<-r.done
			}
		})
	}
	senders.Wait()
	close(in)
	all.Wait()
}

func tickflushWrite(in chan tickflushRecord, s size, full int) {
	ticks := time.NewTicker(2 * s.wait)
	defer ticks.Stop()
	var batch []tickflushRecord
	flush := func() {
		keep(work(s.us))
		for _, r := range batch {
			r.done <- true
		}
		batch = batch[:0]
	}
	for {
		select {
		case r, ok := <-in:
			if !ok {
				return
			}
			if batch = append(batch, r); len(batch) >= full {
				flush()
			}
		case <-ticks.C:
			flush()
		}
	}
}
