package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"sync"
	"time"
)

var errBusy = errors.New("451 mailbox busy")

type letter struct {
	id    int
	to    string
	tries int
}

// relay is the receiving mail server; some mailboxes are busy at first.
type relay struct {
	mu       sync.Mutex
	accepted int
	busy     int
	sum      uint32
}

func (r *relay) deliver(l *letter) error {
	time.Sleep(time.Millisecond)
	h := fnv.New32a()
	fmt.Fprintf(h, "%d:%s", l.id, l.to)
	s := h.Sum32()
	r.mu.Lock()
	defer r.mu.Unlock()
	l.tries++
	if s%11 == 0 && l.tries < 2 {
		r.busy++
		return errBusy
	}
	r.accepted++
	r.sum ^= s
	return nil
}

type backoff struct {
	first, most time.Duration
	cur         time.Duration
}

func (b *backoff) pause() {
	if b.cur == 0 {
		b.cur = b.first
	}
	time.Sleep(b.cur)
	b.cur = min(b.cur*2, b.most)
}

func (b *backoff) reset() { b.cur = 0 }

type sender struct {
	relay   *relay
	queue   <-chan *letter
	backoff backoff
	eager   bool
	mu      sync.Mutex
	sent    map[string]int
}

func (s *sender) send(l *letter) {
	for {
		err := s.relay.deliver(l)
		if err == nil {
			if s.eager {
				s.backoff.reset()
			}
			break
		}
		s.backoff.pause()
	}
	s.mu.Lock()
	s.sent[l.to]++
	s.mu.Unlock()
}

func (s *sender) run() {
	for l := range s.queue {
		s.send(l)
	}
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 900, "letters")
	flag.Parse()
	start := time.Now()
	r := &relay{}
	queue := make(chan *letter)
	var wg sync.WaitGroup
	senders := make([]*sender, 4)
	for i := range senders {
		s := &sender{relay: r, queue: queue, eager: *fix, sent: map[string]int{},
			backoff: backoff{first: 2 * time.Millisecond, most: 32 * time.Millisecond}}
		senders[i] = s
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.run()
		}()
	}
	for i := 0; i < *n; i++ {
		queue <- &letter{id: i, to: fmt.Sprintf("user%d@example.org", i%60)}
	}
	close(queue)
	wg.Wait()
	boxes := map[string]int{}
	for _, s := range senders {
		for k, v := range s.sent {
			boxes[k] += v
		}
	}
	fmt.Printf("accepted %d busy %d boxes %d sum %08x\n", r.accepted, r.busy, len(boxes), r.sum)
	fmt.Printf("truth run %v\n", time.Since(start))
}
