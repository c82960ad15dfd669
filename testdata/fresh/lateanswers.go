package main

import (
	"context"
	"sync"
	"time"
)

// Who asks gives up and asks again, and all the questions are worked on.
//
// truth: late-answers
type lateanswersQuestion struct {
	ctx   context.Context
	reply chan uint64
}

func lateanswers(s size)         { lateanswersRun(s, false) }
func lateanswersRepaired(s size) { lateanswersRun(s, true) }

func lateanswersRun(s size, look bool) {
	questions := make(chan lateanswersQuestion, 1000)
	var workers, askers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for q := range questions {
				if look && q.ctx.Err() != nil {
					continue
				}
				time.Sleep(s.wait) // what it is asked of
				q.reply <- work(s.us)
			}
		})
	}
	const each = 12
	for range each {
		askers.Go(func() {
			for range 2 * s.waits / each {
				patience := 3 * s.wait
				for !lateanswersAsk(questions, patience) {
					patience *= 2
				}
			}
		})
	}
	askers.Wait()
	close(questions)
	workers.Wait()
}

func lateanswersAsk(questions chan lateanswersQuestion, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	q := lateanswersQuestion{ctx, make(chan uint64, 1)}
	questions <- q
	select {
	case v := <-q.reply:
		keep(v)
		return true
	case <-ctx.Done():
		return false
	}
}
