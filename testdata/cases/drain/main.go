// Command drain processes a queue of uploads and shuts down in good order.
package main

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

var errTooLarge = errors.New("upload too large")

type upload struct {
	id   int
	body []byte
}

// ledger holds the outcome of the uploads.
type ledger struct {
	mu     sync.Mutex
	stored int
	failed map[int]error
	bytes  int
}

func (l *ledger) store(packed []byte) {
	l.mu.Lock()
	l.stored++
	l.bytes += len(packed)
	l.mu.Unlock()
}

func (l *ledger) fail(id int, err error) {
	l.mu.Lock()
	l.failed[id] = err
	l.mu.Unlock()
}

// tracker counts uploads in flight for an orderly shutdown.
type tracker struct {
	mu     sync.Mutex
	active int
	idle   chan struct{}
}

func newTracker() *tracker { return &tracker{idle: make(chan struct{}, 1)} }

func (t *tracker) begin() {
	t.mu.Lock()
	t.active++
	t.mu.Unlock()
}

func (t *tracker) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.active--; t.active == 0 {
		select {
		case t.idle <- struct{}{}:
		default:
		}
	}
}

// wait returns when nothing is in flight or the grace period is over.
func (t *tracker) wait(ctx context.Context) error {
	for {
		t.mu.Lock()
		n := t.active
		t.mu.Unlock()
		if n == 0 {
			return nil
		}
		select {
		case <-t.idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type service struct {
	queue   chan upload
	ledger  *ledger
	tracker *tracker
	limit   int
}

func pack(body []byte) ([]byte, error) {
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, 6)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	return buf.Bytes(), w.Close()
}

func (s *service) process(u upload) {
	if *revised {
		defer s.tracker.end()
	}
	if len(u.body) > s.limit {
		s.ledger.fail(u.id, errTooLarge)
		return
	}
	packed, err := pack(u.body)
	if err != nil {
		s.ledger.fail(u.id, err)
		return
	}
	s.ledger.store(packed)
	if !*revised {
		s.tracker.end()
	}
}

func (s *service) submit(u upload) {
	s.tracker.begin()
	s.queue <- u
}

func (s *service) worker() {
	for u := range s.queue {
		s.process(u)
	}
}

func (s *service) shutdown(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.tracker.wait(ctx)
	close(s.queue)
}

func main() {
	flag.Parse()
	start := time.Now()
	s := &service{
		queue:   make(chan upload, 8),
		ledger:  &ledger{failed: map[int]error{}},
		tracker: newTracker(),
		limit:   60 << 10,
	}
	for w := 0; w < 4; w++ {
		go s.worker()
	}
	for i := 0; i < 1000; i++ {
		n := 900 + i%37*40
		if i%211 == 200 {
			n *= 4
		}
		s.submit(upload{id: i, body: bytes.Repeat([]byte(fmt.Sprintf("upload %d content;", i)), n)})
	}
	s.shutdown(200 * time.Millisecond)
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	fmt.Println("stored", s.ledger.stored, "failed", len(s.ledger.failed))
	fmt.Println("truth run", time.Since(start))
}
