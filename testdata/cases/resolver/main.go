// Command resolver starts an address resolver, joins its peers and serves
// lookups.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type network struct {
	first, last uint32
	country     uint16
}

// geoTable maps address ranges to countries.
type geoTable struct {
	once     sync.Once
	size     int
	networks []network
	checksum uint64
}

func (t *geoTable) load() {
	ns := make([]network, t.size)
	x := uint32(2463534242)
	for i := range ns {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		ns[i] = network{first: x &^ 0xff, last: x | 0xff, country: uint16(x % 249)}
	}
	sort.Slice(ns, func(i, j int) bool {
		if ns[i].first != ns[j].first {
			return ns[i].first < ns[j].first
		}
		return ns[i].country < ns[j].country
	})
	h := fnv.New64a()
	var b [8]byte
	for _, n := range ns {
		binary.LittleEndian.PutUint32(b[:], n.first)
		binary.LittleEndian.PutUint16(b[4:], n.country)
		h.Write(b[:])
	}
	t.networks, t.checksum = ns, h.Sum64()
}

func (t *geoTable) country(addr uint32) (uint16, bool) {
	t.once.Do(t.load)
	i := sort.Search(len(t.networks), func(i int) bool { return t.networks[i].last >= addr })
	if i < len(t.networks) && t.networks[i].first <= addr {
		return t.networks[i].country, true
	}
	return 0, false
}

// peers is the membership of the cluster.
type peers struct {
	addrs []string
	mu    sync.Mutex
	up    map[string]bool
}

// join greets every peer; the members ask for strictly sequential greetings.
func (p *peers) join() {
	for _, a := range p.addrs {
		time.Sleep(45 * time.Millisecond)
		p.mu.Lock()
		p.up[a] = true
		p.mu.Unlock()
	}
}

type server struct {
	table *geoTable
	peers *peers
	hits  atomic.Int64
	miss  atomic.Int64
}

func (s *server) start() {
	if *revised {
		go s.table.once.Do(s.table.load)
	}
	s.peers.join()
}

func (s *server) serve(worker, n int) {
	x := uint32(worker*2654435 + 99)
	for i := 0; i < n; i++ {
		x = x*1664525 + 1013904223
		if _, ok := s.table.country(x); ok {
			s.hits.Add(1)
		} else {
			s.miss.Add(1)
		}
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	s := &server{
		table: &geoTable{size: 900000},
		peers: &peers{addrs: []string{"n1", "n2", "n3", "n4", "n5", "n6"}, up: map[string]bool{}},
	}
	s.start()
	var wg sync.WaitGroup
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.serve(w, 200000)
		}()
	}
	wg.Wait()
	fmt.Printf("peers %d hits %d miss %d table %016x\n", len(s.peers.up), s.hits.Load(), s.miss.Load(), s.table.checksum)
	fmt.Println("truth run", time.Since(start))
}
