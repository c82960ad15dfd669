// Command presence simulates chat sessions that come and go; each session
// beats its heart while it is online.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	sessions  = 4400
	workers   = 2
	beatEvery = 2 * time.Millisecond
)

type registry struct {
	mu    sync.RWMutex
	beats map[int]*atomic.Int64
}

func (r *registry) join(id int) *atomic.Int64 {
	c := new(atomic.Int64)
	r.mu.Lock()
	r.beats[id] = c
	r.mu.Unlock()
	return c
}

func (r *registry) size() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.beats)
}

type session struct {
	id     int
	beats  *atomic.Int64
	cancel context.CancelFunc
	digest uint64
}

func open(ctx context.Context, reg *registry, id int) *session {
	ctx, cancel := context.WithCancel(ctx)
	s := &session{id: id, beats: reg.join(id), cancel: cancel}
	go s.heartbeat(ctx)
	return s
}

func (s *session) heartbeat(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.beats.Add(1)
		}
	}
}

// exchange handles the messages of the session.
func (s *session) exchange() {
	h := uint64(14695981039346656037) ^ uint64(s.id)
	for msg := 0; msg < 60; msg++ {
		text := fmt.Appendf(nil, "session %d says %d", s.id, msg)
		for round := 0; round < 260; round++ {
			for _, c := range text {
				h = (h ^ uint64(c)) * 1099511628211
			}
		}
	}
	s.digest = h
}

func (s *session) close() { s.cancel() }

type front struct {
	ctx   context.Context
	reg   *registry
	hangs bool
}

func (f *front) handle(id int) uint64 {
	s := open(f.ctx, f.reg, id)
	if f.hangs {
		defer s.close()
	}
	s.exchange()
	return s.digest
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := &front{ctx: ctx, reg: &registry{beats: make(map[int]*atomic.Int64)}, hangs: *fix}

	var next atomic.Int64
	sums := make([]uint64, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				id := int(next.Add(1)) - 1
				if id >= sessions {
					return
				}
				sums[w] += f.handle(id)
			}
		}()
	}
	wg.Wait()

	var sum uint64
	for _, s := range sums {
		sum += s
	}
	fmt.Printf("sessions=%d digest=%016x\n", f.reg.size(), sum)
}
