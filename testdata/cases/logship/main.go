// Command logship replays a day of service traffic and ships its access log
// to a remote collector.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type entry struct {
	Seq     int               `json:"seq"`
	Service string            `json:"service"`
	Level   string            `json:"level"`
	Digest  string            `json:"digest"`
	Fields  map[string]string `json:"fields"`
}

// collector is the remote end of the log pipeline.
type collector struct {
	lines atomic.Int64
	bytes atomic.Int64
}

func (c *collector) post(payload []byte) {
	time.Sleep(1700 * time.Microsecond)
	c.lines.Add(int64(bytes.Count(payload, []byte{'\n'})))
	c.bytes.Add(int64(len(payload)))
}

type shipper struct {
	mu      sync.Mutex
	pending []entry
	limit   int
	remote  *collector
	outbox  chan []entry
	senders sync.WaitGroup
}

func newShipper(remote *collector, limit int) *shipper {
	s := &shipper{limit: limit, remote: remote, outbox: make(chan []entry, 64)}
	if *revised {
		for i := 0; i < 4; i++ {
			s.senders.Add(1)
			go s.drain()
		}
	}
	return s
}

func (s *shipper) drain() {
	defer s.senders.Done()
	for batch := range s.outbox {
		s.ship(batch)
	}
}

func (s *shipper) ship(batch []entry) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for _, e := range batch {
		if err := enc.Encode(e); err != nil {
			panic(err)
		}
	}
	s.remote.post(buf.Bytes())
}

// Log queues one entry and ships the batch once it is complete.
func (s *shipper) Log(e entry) {
	s.mu.Lock()
	s.pending = append(s.pending, e)
	if len(s.pending) < s.limit {
		s.mu.Unlock()
		return
	}
	batch := s.pending
	s.pending = make([]entry, 0, s.limit)
	if *revised {
		s.mu.Unlock()
		s.outbox <- batch
		return
	}
	s.ship(batch)
	s.mu.Unlock()
}

func (s *shipper) Close() {
	s.mu.Lock()
	if len(s.pending) > 0 {
		s.ship(s.pending)
		s.pending = nil
	}
	s.mu.Unlock()
	close(s.outbox)
	s.senders.Wait()
}

// tally counts responses by status class.
type tally struct {
	mu    sync.Mutex
	class map[string]int
}

func (t *tally) add(status int) {
	t.mu.Lock()
	t.class[strconv.Itoa(status/100)+"xx"]++
	t.mu.Unlock()
}

type service struct {
	name  string
	log   *shipper
	stats *tally
}

func (sv *service) handle(seq int, body []byte) {
	sum := sha256.Sum256(body)
	for i := 0; i < 6; i++ {
		sum = sha256.Sum256(append(sum[:], body...))
	}
	status := 200
	if sum[0] < 8 {
		status = 503
	}
	sv.stats.add(status)
	sv.log.Log(entry{
		Seq: seq, Service: sv.name, Level: "info", Digest: hex.EncodeToString(sum[:8]),
		Fields: map[string]string{"status": strconv.Itoa(status), "size": strconv.Itoa(len(body))},
	})
}

func main() {
	flag.Parse()
	start := time.Now()
	remote := &collector{}
	log := newShipper(remote, 64)
	stats := &tally{class: map[string]int{}}
	var wg sync.WaitGroup
	for w := 0; w < 6; w++ {
		sv := &service{name: fmt.Sprintf("svc-%d", w), log: log, stats: stats}
		wg.Add(1)
		go func() {
			defer wg.Done()
			body := bytes.Repeat([]byte{byte('a' + w)}, 8<<10)
			for i := 0; i < 2000; i++ {
				sv.handle(i, body)
			}
		}()
	}
	wg.Wait()
	log.Close()
	fmt.Println("lines", remote.lines.Load(), "bytes", remote.bytes.Load(), "ok", stats.class["2xx"])
	fmt.Println("truth run", time.Since(start))
}
