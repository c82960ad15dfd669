// Command sessionstore keeps web sessions in memory and replays a recorded
// request stream against them.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	shards      = 16
	sessions    = 160_000
	requests    = 700_000
	softLimitMB = 72
)

type attribute struct {
	key, value string
	next       *attribute
}

type session struct {
	id    string
	user  int
	attrs *attribute
	hits  int
}

type shard struct {
	mu   sync.Mutex
	byID map[string]*session
}

type store struct {
	shards [shards]*shard
}

func newStore() *store {
	s := &store{}
	for i := range s.shards {
		s.shards[i] = &shard{byID: make(map[string]*session)}
	}
	return s
}

func (s *store) pick(id string) *shard {
	h := fnv.New32a()
	h.Write([]byte(id))
	return s.shards[h.Sum32()%shards]
}

func (s *store) put(sess *session) {
	sh := s.pick(sess.id)
	sh.mu.Lock()
	sh.byID[sess.id] = sess
	sh.mu.Unlock()
}

func (s *store) touch(id string) (*session, int) {
	sh := s.pick(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sess := sh.byID[id]
	if sess == nil {
		return nil, 0
	}
	sess.hits++
	return sess, sess.hits
}

func sessionID(n int) string { return "sess-" + strconv.Itoa(n*7919%sessions) }

func load(s *store) {
	for i := 0; i < sessions; i++ {
		sess := &session{id: "sess-" + strconv.Itoa(i), user: i}
		for j := 0; j < 5; j++ {
			sess.attrs = &attribute{key: "k" + strconv.Itoa(j), value: strconv.Itoa(i * (j + 1)), next: sess.attrs}
		}
		s.put(sess)
	}
}

func render(sess *session) string {
	var b strings.Builder
	b.WriteString("<ul>")
	for a := sess.attrs; a != nil; a = a.next {
		b.WriteString("<li>")
		b.WriteString(a.key)
		b.WriteByte('=')
		b.WriteString(a.value)
		b.WriteString("</li>")
	}
	b.WriteString("</ul>")
	return b.String()
}

func serve(s *store, from, to int) (bytes, missing int) {
	for n := from; n < to; n++ {
		sess, _ := s.touch(sessionID(n))
		if sess == nil {
			missing++
			continue
		}
		page := render(sess)
		bytes += len(page)
	}
	return
}

func configureMemory(fix bool) {
	if fix {
		debug.SetMemoryLimit(math.MaxInt64)
		return
	}
	debug.SetMemoryLimit(softLimitMB << 20)
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()
	configureMemory(*fix)

	s := newStore()
	load(s)

	const workers = 4
	var wg sync.WaitGroup
	var total, missing [workers]int
	per := requests / workers
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			total[w], missing[w] = serve(s, w*per, (w+1)*per)
		}()
	}
	wg.Wait()
	sum, miss := 0, 0
	for w := range total {
		sum += total[w]
		miss += missing[w]
	}
	fmt.Printf("requests=%d bytes=%d missing=%d\n", requests, sum, miss)
}
