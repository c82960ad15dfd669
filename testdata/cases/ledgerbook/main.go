// Command ledgerbook verifies signed transactions and books them.
package main

import (
	"crypto/ed25519"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc64"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

var table = crc64.MakeTable(crc64.ISO)

type transaction struct {
	from, to int
	amount   int64
	memo     [64]byte
	sig      []byte
}

func (t *transaction) payload() []byte {
	b := make([]byte, 24, 88)
	binary.LittleEndian.PutUint64(b, uint64(t.from))
	binary.LittleEndian.PutUint64(b[8:], uint64(t.to))
	binary.LittleEndian.PutUint64(b[16:], uint64(t.amount))
	return append(b, t.memo[:]...)
}

// statement is a page of the book; its checksum covers all balances.
type statement struct {
	mu       sync.Mutex
	balances [256]int64
	check    uint64
	entries  int
}

func (s *statement) book(account int, amount int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.balances[account%len(s.balances)] += amount
	s.entries++
	var b [8]byte
	c := uint64(0)
	for pass := 0; pass < 2; pass++ {
		for _, v := range s.balances {
			binary.LittleEndian.PutUint64(b[:], uint64(v))
			c = crc64.Update(c, table, b[:])
		}
	}
	s.check = c
}

type book struct {
	pages []*statement
}

func newBook() *book {
	n := 1
	if *revised {
		n = 32
	}
	b := &book{}
	for i := 0; i < n; i++ {
		b.pages = append(b.pages, &statement{})
	}
	return b
}

func (b *book) page(account int) *statement { return b.pages[account%len(b.pages)] }

type bank struct {
	public   ed25519.PublicKey
	book     *book
	rejected atomic.Int64
}

func (bk *bank) verify(t *transaction) bool {
	p := t.payload()
	for i := 0; i < 4; i++ {
		if !ed25519.Verify(bk.public, p, t.sig) {
			return false
		}
	}
	return true
}

func (bk *bank) execute(t *transaction) {
	if !bk.verify(t) {
		bk.rejected.Add(1)
		return
	}
	bk.book.page(t.from).book(t.from, -t.amount)
	bk.book.page(t.to).book(t.to, t.amount)
}

func forge(private ed25519.PrivateKey, n int) []*transaction {
	ts := make([]*transaction, n)
	for i := range ts {
		t := &transaction{from: i * 7 % 997, to: i * 13 % 991, amount: int64(i%50 + 1)}
		copy(t.memo[:], fmt.Sprintf("transfer %d", i))
		t.sig = ed25519.Sign(private, t.payload())
		ts[i] = t
	}
	return ts
}

func main() {
	flag.Parse()
	start := time.Now()
	private := ed25519.NewKeyFromSeed([]byte("0123456789abcdef0123456789abcdef"))
	bk := &bank{public: private.Public().(ed25519.PublicKey), book: newBook()}
	const workers, each = 12, 500
	sample := forge(private, 100)
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < each; i++ {
				bk.execute(sample[(i*11+w)%len(sample)])
			}
		}()
	}
	wg.Wait()
	var balance int64
	entries := 0
	for _, p := range bk.book.pages {
		for _, v := range p.balances {
			balance += v
		}
		entries += p.entries
	}
	fmt.Println("entries", entries, "balance", balance, "rejected", bk.rejected.Load())
	fmt.Println("truth run", time.Since(start))
}
