// Command auditor lets tellers book on the branches of a bank while an
// auditor verifies the branch balances.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type branch struct {
	id      int
	mu      sync.Mutex
	booked  int64
	entries int
}

func (b *branch) book(amount int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.booked += amount
	b.entries++
}

// reconcile compares the running balance with the paper record of the branch.
func (b *branch) reconcile(v *vault) int64 {
	v.read(b.id)
	return b.booked
}

type vault struct {
	reads atomic.Int64
}

func (v *vault) read(id int) {
	time.Sleep(700 * time.Microsecond)
	v.reads.Add(1)
}

type bank struct {
	branches []*branch
	vault    *vault

	mu      sync.Mutex
	reports []int64
}

func newBank(n int) *bank {
	bk := &bank{vault: &vault{}}
	for i := 0; i < n; i++ {
		bk.branches = append(bk.branches, &branch{id: i})
	}
	return bk
}

func (bk *bank) file(balances []int64) {
	bk.mu.Lock()
	bk.reports = append(bk.reports, balances...)
	bk.mu.Unlock()
}

// audit takes the balance of every branch in turn.
func (bk *bank) audit() {
	balances := make([]int64, 0, len(bk.branches))
	if *revised {
		for _, b := range bk.branches {
			func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				balances = append(balances, b.reconcile(bk.vault))
			}()
		}
		bk.file(balances)
		return
	}
	for _, b := range bk.branches {
		b.mu.Lock()
		defer b.mu.Unlock()
		balances = append(balances, b.reconcile(bk.vault))
	}
	bk.file(balances)
}

type teller struct {
	id   int
	bank *bank
	seal [32]byte
}

// stamp extends the chain of sealed receipts of the teller.
func (t *teller) stamp(amount int64) {
	var b [40]byte
	binary.LittleEndian.PutUint64(b[:], uint64(amount))
	copy(b[8:], t.seal[:])
	t.seal = sha256.Sum256(b[:])
	for i := 0; i < 400; i++ {
		t.seal = sha256.Sum256(t.seal[:])
	}
}

func (t *teller) serve(customers int) {
	for i := 0; i < customers; i++ {
		amount := int64((i*37+t.id)%500 - 200)
		t.stamp(amount)
		t.bank.branches[(i*11+t.id*5)%len(t.bank.branches)].book(amount)
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	bk := newBank(24)
	stop := make(chan struct{})
	var inspection, wg sync.WaitGroup
	inspection.Add(1)
	go func() {
		defer inspection.Done()
		for {
			select {
			case <-stop:
				return
			case <-time.After(8 * time.Millisecond):
				bk.audit()
			}
		}
	}()
	for w := 0; w < 8; w++ {
		t := &teller{id: w, bank: bk}
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.serve(1600)
		}()
	}
	wg.Wait()
	close(stop)
	inspection.Wait()
	var balance int64
	entries := 0
	for _, b := range bk.branches {
		balance += b.booked
		entries += b.entries
	}
	fmt.Println("entries", entries, "balance", balance)
	fmt.Println("truth run", time.Since(start))
}
