// Command mailrelay hands queued messages to a relay that now and then asks
// to be tried again later.
package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"sync"
	"time"
)

const (
	mailboxes  = 6
	messages   = 220
	minDelay   = 500 * time.Microsecond
	maxDelay   = 40 * time.Millisecond
	relayDelay = 1200 * time.Microsecond
)

var errTryLater = errors.New("450 try again later")

type message struct {
	box, seq int
	body     string
}

type relay struct{}

// accept takes the message; every seventh is turned away on its first try.
func (relay) accept(m message, try int) (uint32, error) {
	time.Sleep(relayDelay)
	if try == 0 && (m.box*3+m.seq)%7 == 0 {
		return 0, errTryLater
	}
	return crc32.ChecksumIEEE([]byte(m.body)), nil
}

type backoff struct {
	next time.Duration
}

func (b *backoff) pause() {
	if b.next < minDelay {
		b.next = minDelay
	}
	time.Sleep(b.next)
	b.next *= 2
	if b.next > maxDelay {
		b.next = maxDelay
	}
}

func (b *backoff) reset() { b.next = 0 }

type sender struct {
	relay   relay
	wait    backoff
	restart bool
	sent    int
	retries int
	receipt uint32
}

func (s *sender) deliver(m message) error {
	for try := 0; try < 5; try++ {
		receipt, err := s.relay.accept(m, try)
		if err == nil {
			if s.restart {
				s.wait.reset()
			}
			s.sent++
			s.receipt += receipt
			return nil
		}
		if !errors.Is(err, errTryLater) {
			return err
		}
		s.retries++
		s.wait.pause()
	}
	return fmt.Errorf("message %d/%d: gave up", m.box, m.seq)
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	senders := make([]*sender, mailboxes)
	failed := make([]int, mailboxes)
	var wg sync.WaitGroup
	for box := range mailboxes {
		s := &sender{restart: *fix}
		senders[box] = s
		wg.Add(1)
		go func() {
			defer wg.Done()
			for seq := 0; seq < messages; seq++ {
				m := message{box, seq, fmt.Sprintf("Subject: report %d\n\nbox %d\n", seq, box)}
				if err := s.deliver(m); err != nil {
					failed[box]++
				}
			}
		}()
	}
	wg.Wait()

	sent, retries, bad := 0, 0, 0
	var receipt uint32
	for box, s := range senders {
		sent += s.sent
		retries += s.retries
		bad += failed[box]
		receipt += s.receipt
	}
	fmt.Printf("sent=%d retries=%d failed=%d receipt=%08x\n", sent, retries, bad, receipt)
}
