// Command wal runs clients against a small key-value store with a write-ahead
// log.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

// device models a disk with a volatile write cache.
type device struct {
	written int
	synced  int
}

func (d *device) write(p []byte) { d.written += len(p) }

func (d *device) sync() {
	time.Sleep(600 * time.Microsecond)
	d.synced = d.written
}

type pending struct {
	frame []byte
	done  chan struct{}
}

type wal struct {
	mu    sync.Mutex
	dev   *device
	queue chan pending
	end   sync.WaitGroup
}

func openWAL(d *device) *wal {
	l := &wal{dev: d, queue: make(chan pending, 128)}
	l.end.Add(1)
	go l.commit()
	return l
}

// commit writes queued frames and syncs once for all that are waiting.
func (l *wal) commit() {
	defer l.end.Done()
	for p := range l.queue {
		group := []pending{p}
		for len(l.queue) > 0 {
			group = append(group, <-l.queue)
		}
		l.mu.Lock()
		for _, g := range group {
			l.dev.write(g.frame)
		}
		l.dev.sync()
		l.mu.Unlock()
		for _, g := range group {
			close(g.done)
		}
	}
}

// Append makes a frame durable.
func (l *wal) Append(frame []byte) {
	if *revised {
		p := pending{frame: frame, done: make(chan struct{})}
		l.queue <- p
		<-p.done
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dev.write(frame)
	l.dev.sync()
}

func (l *wal) Close() {
	close(l.queue)
	l.end.Wait()
}

type store struct {
	log *wal
	mu  sync.RWMutex
	kv  map[string][]byte
}

func frame(key string, value []byte) []byte {
	var buf bytes.Buffer
	w, _ := flate.NewWriter(&buf, flate.BestSpeed)
	w.Write(value)
	w.Close()
	head := binary.BigEndian.AppendUint32(nil, uint32(len(key)))
	head = binary.BigEndian.AppendUint32(head, uint32(buf.Len()))
	head = append(head, key...)
	head = append(head, buf.Bytes()...)
	return binary.BigEndian.AppendUint32(head, crc32.ChecksumIEEE(head))
}

func (s *store) Put(key string, value []byte) {
	s.log.Append(frame(key, value))
	s.mu.Lock()
	s.kv[key] = value
	s.mu.Unlock()
}

func (s *store) Get(key string) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.kv[key]
}

func client(s *store, id, ops int) {
	for i := 0; i < ops; i++ {
		key := fmt.Sprintf("c%d/%d", id, i%40)
		value := bytes.Repeat([]byte(fmt.Sprintf("<%d:%d>", id, i)), 200)
		s.Put(key, value)
		if got := s.Get(key); !bytes.Equal(got, value) {
			panic("lost write")
		}
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	d := &device{}
	s := &store{log: openWAL(d), kv: map[string][]byte{}}
	var wg sync.WaitGroup
	for c := 0; c < 10; c++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			client(s, c, 100)
		}()
	}
	wg.Wait()
	s.log.Close()
	fmt.Println("keys", len(s.kv), "bytes", d.synced)
	fmt.Println("truth run", time.Since(start))
}
