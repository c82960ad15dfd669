// Command transcoder converts media segments with the help of a remote
// encoder farm and writes them out in their original order.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"sync"
	"time"
)

const (
	segments = 480
	workers  = 6
	window   = 48
)

type segment struct {
	index int
	data  []byte
}

// encodeTime is what the farm needs: key segments take much longer.
func encodeTime(index int) time.Duration {
	if index%9 == 4 {
		return 42 * time.Millisecond
	}
	return 5 * time.Millisecond
}

func encode(index int) segment {
	time.Sleep(encodeTime(index))
	data := make([]byte, 1024)
	for i := range data {
		data[i] = byte(index*13 + i*7)
	}
	return segment{index, data}
}

type manifest struct {
	count int
	sum   uint32
}

func (m *manifest) write(s segment) {
	if s.index != m.count {
		panic(fmt.Sprintf("segment %d written at position %d", s.index, m.count))
	}
	m.count++
	m.sum = crc32.Update(m.sum, crc32.IEEETable, s.data)
}

// turnstile lets the holders of tickets through one by one, in order.
type turnstile struct {
	mu   sync.Mutex
	cond *sync.Cond
	next int
}

func newTurnstile() *turnstile {
	t := &turnstile{}
	t.cond = sync.NewCond(&t.mu)
	return t
}

func (t *turnstile) pass(ticket int, f func()) {
	t.mu.Lock()
	for t.next != ticket {
		t.cond.Wait()
	}
	f()
	t.next++
	t.cond.Broadcast()
	t.mu.Unlock()
}

func indexes() <-chan int {
	ch := make(chan int)
	go func() {
		defer close(ch)
		for i := 0; i < segments; i++ {
			ch <- i
		}
	}()
	return ch
}

func runInTurn(m *manifest) {
	gate := newTurnstile()
	todo := indexes()
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range todo {
				s := encode(i)
				gate.pass(i, func() { m.write(s) })
			}
		}()
	}
	wg.Wait()
}

func runReordered(m *manifest) {
	todo := indexes()
	slots := make(chan struct{}, window)
	done := make(chan segment, window)
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				slots <- struct{}{}
				i, ok := <-todo
				if !ok {
					return
				}
				done <- encode(i)
			}
		}()
	}
	pending := make(map[int]segment)
	for m.count < segments {
		s := <-done
		pending[s.index] = s
		for {
			next, ok := pending[m.count]
			if !ok {
				break
			}
			delete(pending, next.index)
			m.write(next)
			<-slots
		}
	}
	wg.Wait()
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	m := &manifest{}
	if *fix {
		runReordered(m)
	} else {
		runInTurn(m)
	}
	fmt.Printf("segments=%d sum=%08x\n", m.count, m.sum)
}
