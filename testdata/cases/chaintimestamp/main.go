// Command chaintimestamp seals documents into a hash chain: each link depends
// on the one before it.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"sync"
	"time"
)

const (
	sources   = 40
	documents = 150
	stretch   = 1500
	backlog   = 4096
)

type document struct {
	source, seq int
	digest      [sha256.Size]byte
}

func write(source, seq int) document {
	text := fmt.Appendf(nil, "minutes of meeting %d/%d", source, seq)
	return document{source, seq, sha256.Sum256(text)}
}

type link struct {
	value [sha256.Size]byte
	count int
}

// seal stretches the chain so that links cannot be forged cheaply.
func (l *link) seal() {
	buf := make([]byte, sha256.Size+8)
	for i := range stretch {
		copy(buf, l.value[:])
		binary.BigEndian.PutUint64(buf[sha256.Size:], uint64(i))
		l.value = sha256.Sum256(buf)
	}
	l.count++
}

type notary struct {
	inbox chan document
	done  chan struct{}
	chain link
	book  [sha256.Size]byte
	last  [sources]int
}

func newNotary(capacity int) *notary {
	n := &notary{inbox: make(chan document, capacity), done: make(chan struct{})}
	go n.run()
	return n
}

func (n *notary) run() {
	defer close(n.done)
	for d := range n.inbox {
		n.chain.seal()
		if d.seq != n.last[d.source] {
			panic("document out of sequence")
		}
		n.last[d.source]++
		for i, b := range d.digest {
			n.book[i] ^= b
		}
	}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	capacity := 0
	if *fix {
		capacity = backlog
	}
	n := newNotary(capacity)
	var wg sync.WaitGroup
	for s := range sources {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for seq := 0; seq < documents; seq++ {
				n.inbox <- write(s, seq)
			}
		}()
	}
	wg.Wait()
	close(n.inbox)
	<-n.done
	fmt.Printf("sealed=%d chain=%x book=%x\n", n.chain.count, n.chain.value[:6], n.book[:6])
}
