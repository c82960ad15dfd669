// Command sessionstore drives a sharded session store with the renewals of a
// login service.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type session struct {
	id    string
	state [2048]byte
	uses  int
}

// renew advances the rolling signature kept with the session state.
func (s *session) renew() byte {
	s.uses++
	binary.LittleEndian.PutUint32(s.state[:4], uint32(s.uses))
	sum := sha256.Sum256(s.state[:])
	for i := 0; i < 9; i++ {
		copy(s.state[64+32*i:], sum[:])
		sum = sha256.Sum256(s.state[:])
	}
	copy(s.state[4:36], sum[:])
	return sum[0]
}

type shard struct {
	mu       sync.Mutex
	sessions map[string]*session
}

type store struct {
	shards []*shard
}

func newStore(n int) *store {
	st := &store{}
	for i := 0; i < n; i++ {
		st.shards = append(st.shards, &shard{sessions: map[string]*session{}})
	}
	return st
}

func (st *store) shardFor(id string) *shard {
	if *revised {
		h := fnv.New32a()
		h.Write([]byte(id))
		return st.shards[h.Sum32()%uint32(len(st.shards))]
	}
	return st.shards[int(id[0])%len(st.shards)]
}

func (st *store) Create(id string) {
	sh := st.shardFor(id)
	sh.mu.Lock()
	sh.sessions[id] = &session{id: id}
	sh.mu.Unlock()
}

func (st *store) Renew(id string) (byte, bool) {
	sh := st.shardFor(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s, ok := sh.sessions[id]
	if !ok {
		return 0, false
	}
	return s.renew(), true
}

// signer produces the cookies handed back to the browser.
type signer struct {
	key []byte
}

func (sg *signer) cookie(id string, seq int) []byte {
	m := hmac.New(sha256.New, sg.key)
	for i := 0; i < 14; i++ {
		fmt.Fprintf(m, "%s/%d/%d", id, seq, i)
	}
	return m.Sum(nil)
}

// audit counts issued cookies per tenant.
type audit struct {
	mu     sync.Mutex
	issued map[byte]int
}

func (a *audit) note(tenant byte) {
	a.mu.Lock()
	a.issued[tenant]++
	a.mu.Unlock()
}

func main() {
	flag.Parse()
	start := time.Now()
	const users, workers, rounds = 800, 6, 6000
	st := newStore(64)
	ids := make([]string, users)
	for i := range ids {
		ids[i] = fmt.Sprintf("user:%06d", i*7919)
		st.Create(ids[i])
	}
	sg := &signer{key: []byte("rotating-secret")}
	au := &audit{issued: map[byte]int{}}
	var renewed, bytes atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for r := 0; r < rounds; r++ {
				id := ids[(r*13+w*131)%users]
				if _, ok := st.Renew(id); ok {
					renewed.Add(1)
				}
				bytes.Add(int64(len(sg.cookie(id, r))))
				au.note(id[len(id)-1])
			}
		}()
	}
	wg.Wait()
	fmt.Println("renewed", renewed.Load(), "cookie bytes", bytes.Load(), "tenants", len(au.issued))
	fmt.Println("truth run", time.Since(start))
}
