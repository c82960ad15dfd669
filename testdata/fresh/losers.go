package main

// Several goroutines search, the first that finds answers, and the others go on.
//
// truth: work-after-answer
func losers(s size) { losersRun(s, false) }

func losersRepaired(s size) { losersRun(s, true) }

func losersRun(s size, stop bool) {
	for i := range 1 + s.n/20 {
		found := make(chan uint64, s.g)
		done := make(chan struct{})
		for g := range s.g {
			go func() { found <- losersSearch(s.us/4+1, 1+20*((g+i)%s.g), stop, done) }()
		}
		keep(<-found)
		close(done)
	}
}

//go:noinline
func losersSearch(us, n int, stop bool, done chan struct{}) (sum uint64) {
	for range n {
		if stop {
			select {
			case <-done:
				return sum
			default:
			}
		}
		sum += work(us)
	}
	return sum
}
