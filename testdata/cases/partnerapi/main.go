// Command partnerapi synchronizes customers with a partner whose contract
// grants eight calls in every 25 ms window.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

const (
	window = 25 * time.Millisecond
	grant  = 8
)

var errQuota = errors.New("429 quota exceeded")

// partner enforces the contract.
type partner struct {
	mu     sync.Mutex
	opened time.Time
	used   int
	calls  int
}

func (p *partner) call(id int) ([]byte, error) {
	p.mu.Lock()
	now := time.Now()
	if now.Sub(p.opened) > window*3/4 {
		p.opened, p.used = now, 0
	}
	p.used++
	over := p.used > grant
	p.calls++
	p.mu.Unlock()
	if over {
		return nil, errQuota
	}
	time.Sleep(2 * time.Millisecond)
	return json.Marshal(map[string]int{"id": id, "score": id * 31 % 700})
}

// allowance hands out the granted calls of each window.
type allowance struct {
	tokens chan struct{}
	stop   chan struct{}
}

func newAllowance() *allowance {
	a := &allowance{tokens: make(chan struct{}, grant), stop: make(chan struct{})}
	go a.refill()
	return a
}

func (a *allowance) refill() {
	t := time.NewTicker(window)
	defer t.Stop()
	for {
		for i := 0; i < grant; i++ {
			select {
			case a.tokens <- struct{}{}:
			default:
			}
		}
		select {
		case <-t.C:
		case <-a.stop:
			return
		}
	}
}

func (a *allowance) take() { <-a.tokens }

// journal keeps a durable trace of all answers.
type journal struct {
	mu    sync.Mutex
	lines int
}

func (j *journal) sync() { time.Sleep(1200 * time.Microsecond) }

func (j *journal) add(raw []byte) {
	if *revised {
		j.sync()
		j.mu.Lock()
		j.lines++
		j.mu.Unlock()
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sync()
	j.lines++
}

type synchronizer struct {
	partner   *partner
	allowance *allowance
	journal   *journal

	mu     sync.Mutex
	scores map[int]int
	failed int
}

func (s *synchronizer) sync(id int) {
	s.allowance.take()
	raw, err := s.partner.call(id)
	if err != nil {
		s.mu.Lock()
		s.failed++
		s.mu.Unlock()
		return
	}
	s.journal.add(raw)
	var v struct{ ID, Score int }
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.scores[v.ID] = v.Score
	s.mu.Unlock()
}

func main() {
	flag.Parse()
	start := time.Now()
	s := &synchronizer{partner: &partner{}, allowance: newAllowance(), journal: &journal{}, scores: map[int]int{}}
	ids := make(chan int)
	var wg sync.WaitGroup
	for w := 0; w < 8; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for id := range ids {
				s.sync(id)
			}
		}()
	}
	for id := 0; id < 400; id++ {
		ids <- id
	}
	close(ids)
	wg.Wait()
	close(s.allowance.stop)
	sum := 0
	for _, v := range s.scores {
		sum += v
	}
	fmt.Println("customers", len(s.scores), "failed", s.failed, "lines", s.journal.lines, "sum", sum)
	fmt.Println("truth run", time.Since(start))
}
