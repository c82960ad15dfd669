// Command nightlyplan prepares the delivery plan of the next day: it scores
// all stops while a remote solver refines the tour step by step.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

const (
	stops     = 1200
	scorings  = 12
	steps     = 110
	solveTime = 15 * time.Millisecond
)

type score struct {
	stop int
	cost int64
}

type board struct {
	mu     sync.Mutex
	best   map[int]int64
	writes int
}

func newBoard() *board { return &board{best: make(map[int]int64)} }

func (b *board) offer(s score) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes++
	old, ok := b.best[s.stop]
	if !ok || s.cost < old {
		b.best[s.stop] = s.cost
	}
	b.rank(s)
}

// rank is the bookkeeping that goes with each offer.
func (b *board) rank(s score) {
	x := uint64(s.cost)
	for range 18_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		b.best[s.stop]++
	}
}

func estimate(stop, variant int) score {
	x := uint64(stop*scorings+variant)*0x9e3779b97f4a7c15 + 5
	x ^= x >> 31
	return score{stop, int64(x % 100_000)}
}

func scoreEach(boards []*board) {
	var wg sync.WaitGroup
	for stop := range stops {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for v := range scorings {
				boards[stop%len(boards)].offer(estimate(stop, v))
			}
		}()
	}
	wg.Wait()
}

type tour struct {
	length int64
	rev    int
}

// refine asks the solver for one better tour; it starts from the last one.
func refine(t tour) tour {
	time.Sleep(solveTime)
	return tour{t.length - t.length/50, t.rev + 1}
}

func solve() tour {
	t := tour{length: 900_000}
	for range steps {
		t = refine(t)
	}
	return t
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	n := 1
	if *fix {
		n = 16
	}
	boards := make([]*board, n)
	for i := range boards {
		boards[i] = newBoard()
	}
	result := make(chan tour)
	go func() { result <- solve() }()
	scoreEach(boards)
	t := <-result

	var cost int64
	writes, known := 0, 0
	for _, b := range boards {
		writes += b.writes
		known += len(b.best)
		for _, c := range b.best {
			cost += c
		}
	}
	fmt.Printf("stops=%d offers=%d cost=%d tour=%d rev=%d\n", known, writes, cost, t.length, t.rev)
}
