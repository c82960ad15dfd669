// Command queens counts the solutions of the n-queens puzzle; idle observers
// listen for milestones.
package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"time"
)

var _ = flag.Bool("fix", false, "use the revised form")

// position is a partial placement as bit sets.
type position struct {
	row            int
	cols, left, rt uint32
}

type solver struct {
	n    int
	full uint32
}

func newSolver(n int) *solver { return &solver{n: n, full: 1<<n - 1} }

func (s *solver) count(p position) int64 {
	if p.cols == s.full {
		return 1
	}
	var total int64
	for free := s.full &^ (p.cols | p.left | p.rt); free != 0; {
		bit := free & -free
		free &^= bit
		total += s.count(position{p.row + 1, p.cols | bit, (p.left | bit) << 1, (p.rt | bit) >> 1})
	}
	return total
}

// split expands the puzzle to the given row.
func (s *solver) split(p position, row int, out []position) []position {
	if p.row == row {
		return append(out, p)
	}
	for free := s.full &^ (p.cols | p.left | p.rt); free != 0; {
		bit := free & -free
		free &^= bit
		out = s.split(position{p.row + 1, p.cols | bit, (p.left | bit) << 1, (p.rt | bit) >> 1}, row, out)
	}
	return out
}

// milestones informs observers about the progress.
type milestones struct {
	mu       sync.Mutex
	finished int
	watchers []chan int
}

func (m *milestones) watch() <-chan int {
	c := make(chan int, 4)
	m.mu.Lock()
	m.watchers = append(m.watchers, c)
	m.mu.Unlock()
	return c
}

func (m *milestones) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finished++
	if m.finished%400 != 0 {
		return
	}
	for _, w := range m.watchers {
		select {
		case w <- m.finished:
		default:
		}
	}
}

type observer struct {
	last int
}

func (o *observer) follow(ctx context.Context, c <-chan int) {
	for {
		select {
		case o.last = <-c:
		case <-ctx.Done():
			return
		}
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	s := newSolver(15)
	tasks := s.split(position{}, 3, nil)
	m := &milestones{}
	var observers sync.WaitGroup
	for i := 0; i < 5; i++ {
		c := m.watch()
		observers.Add(1)
		go func() {
			defer observers.Done()
			(&observer{}).follow(ctx, c)
		}()
	}
	work := make(chan position, 128)
	results := make([]int64, 2*runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for w := range results {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var sum int64
			for p := range work {
				sum += s.count(p)
				m.done()
			}
			results[w] = sum
		}()
	}
	for _, t := range tasks {
		work <- t
	}
	close(work)
	wg.Wait()
	cancel()
	observers.Wait()
	var total int64
	for _, r := range results {
		total += r
	}
	fmt.Println("tasks", m.finished, "solutions", total)
	fmt.Println("truth run", time.Since(start))
}
