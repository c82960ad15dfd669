package main

import "sync"

// The states of workers lie next to each other, and each item changes one.
//
// truth: false-sharing
type workerarrayState struct {
	items, sum uint64
}

func workerarray(s size) {
	states := make([]workerarrayState, s.g)
	workerarrayRun(s, func(w, n int) {
		st := &states[w]
		for i := range n {
			st.items++
			st.sum ^= uint64(i) * 31
		}
	})
	keep(states[0].sum)
}

func workerarrayRepaired(s size) {
	states := make([]workerarrayState, s.g)
	workerarrayRun(s, func(w, n int) {
		var own workerarrayState
		for i := range n {
			own.items++
			own.sum ^= uint64(i) * 31
		}
		states[w] = own
	})
	keep(states[0].sum)
}

func workerarrayRun(s size, run func(w, n int)) {
	var wg sync.WaitGroup
	for w := range s.g {
		wg.Go(func() { run(w, s.n*s.us*60/s.g) })
	}
	wg.Wait()
}
