package main

import (
	"context"
	"sync"
	"time"
)

// An answer never comes, and who asks waits until the deadline.
//
// truth: deadline timer
type deadlineQuestion struct {
	reply chan uint64
	lost  bool
}

func deadline(s size)         { deadlineRun(s, true) }
func deadlineRepaired(s size) { deadlineRun(s, false) }

func deadlineRun(s size, lose bool) {
	questions := make(chan deadlineQuestion)
	var wg sync.WaitGroup
	wg.Go(func() {
		for q := range questions {
			if v := work(s.us); !q.lost {
				q.reply <- v
			}
		}
	})
	for i := range s.waits {
		q := deadlineQuestion{make(chan uint64, 1), lose && i%4 == 0}
		questions <- q
		deadlineAnswer(q, 4*s.wait)
	}
	close(questions)
	wg.Wait()
}

func deadlineAnswer(q deadlineQuestion, wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	select {
	case v := <-q.reply:
		keep(v)
	case <-ctx.Done():
	}
}
