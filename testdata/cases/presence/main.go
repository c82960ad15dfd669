// Command presence simulates a chat backend in which many short sessions come
// and go while a report is computed.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type session struct {
	user   string
	closed chan struct{}
	beats  atomic.Int64
	last   atomic.Int64
	status atomic.Pointer[string]
}

// heartbeat refreshes the presence record of the session.
func (s *session) heartbeat(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			s.beats.Add(1)
			s.last.Store(now.UnixNano())
			status := s.user + " seen " + now.Format(time.TimeOnly)
			s.status.Store(&status)
		case <-s.closed:
			return
		}
	}
}

func (s *session) close() {
	if *revised {
		close(s.closed)
	}
}

type directory struct {
	mu     sync.Mutex
	online map[string]*session
	peak   int
	total  int
}

func (d *directory) join(user string) *session {
	s := &session{user: user, closed: make(chan struct{})}
	go s.heartbeat(4 * time.Millisecond)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.online[user] = s
	d.total++
	d.peak = max(d.peak, len(d.online))
	return s
}

func (d *directory) leave(s *session) {
	s.close()
	d.mu.Lock()
	delete(d.online, s.user)
	d.mu.Unlock()
}

type message struct {
	user string
	text string
	hash string
}

// archive keeps the signed messages in order.
type archive struct {
	mu       sync.Mutex
	messages []message
}

func (a *archive) add(m message) {
	a.mu.Lock()
	a.messages = append(a.messages, m)
	a.mu.Unlock()
}

func (a *archive) digest() string {
	sort.Slice(a.messages, func(i, j int) bool { return a.messages[i].hash < a.messages[j].hash })
	h := sha256.New()
	for _, m := range a.messages {
		h.Write([]byte(m.hash))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func converse(d *directory, a *archive, user string) {
	s := d.join(user)
	defer d.leave(s)
	for i := 0; i < 4; i++ {
		text := strings.Repeat(fmt.Sprintf("%s says %d; ", user, i), 120)
		sum := sha256.Sum256([]byte(text))
		for k := 0; k < 30; k++ {
			sum = sha256.Sum256(append(sum[:], text...))
		}
		a.add(message{user: user, text: text[:20], hash: hex.EncodeToString(sum[:])})
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	d := &directory{online: map[string]*session{}}
	a := &archive{}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := next.Add(1); n <= 2400; n = next.Add(1) {
				converse(d, a, fmt.Sprintf("user-%05d", n))
			}
		}()
	}
	wg.Wait()
	fmt.Println("sessions", d.total, "messages", len(a.messages), "digest", a.digest())
	fmt.Println("truth run", time.Since(start))
}
