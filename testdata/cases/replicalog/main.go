// Command replicalog appends entries to a log that is kept by five replicas.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

const (
	replicas = 5
	writers  = 4
	entries  = 110
)

type ack struct {
	replica int
	index   int
}

type replica struct {
	id  int
	mu  sync.Mutex
	log map[int]string
}

// lag is the time an append takes to become durable on this replica; every
// once in a while a replica is busy compacting.
func (r *replica) lag(index int) time.Duration {
	x := uint32(index*replicas+r.id) * 2654435761
	x ^= x >> 15
	x *= 2246822519
	x ^= x >> 13
	if x%11 == 0 {
		return 30 * time.Millisecond
	}
	return 2 * time.Millisecond
}

func (r *replica) append(index int, entry string, acks chan<- ack) {
	time.Sleep(r.lag(index))
	r.mu.Lock()
	r.log[index] = entry
	r.mu.Unlock()
	acks <- ack{r.id, index}
}

func (r *replica) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.log)
}

type cluster struct {
	nodes  []*replica
	needed int
	inLine sync.WaitGroup
}

func newCluster(needed int) *cluster {
	c := &cluster{needed: needed}
	for id := range replicas {
		c.nodes = append(c.nodes, &replica{id: id, log: make(map[int]string)})
	}
	return c
}

// commit returns once the entry counts as durable.
func (c *cluster) commit(index int, entry string) {
	acks := make(chan ack, len(c.nodes))
	for _, n := range c.nodes {
		c.inLine.Add(1)
		go func() {
			defer c.inLine.Done()
			n.append(index, entry, acks)
		}()
	}
	for got := 0; got < c.needed; got++ {
		a := <-acks
		if a.index != index {
			panic("ack for another entry")
		}
	}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	needed := replicas
	if *fix {
		needed = replicas/2 + 1
	}
	c := newCluster(needed)
	committed := make([]int, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; n < entries; n++ {
				index := n*writers + w
				c.commit(index, fmt.Sprintf("set key-%d %d", index%17, index))
				committed[w]++
			}
		}()
	}
	wg.Wait()
	c.inLine.Wait()

	total := 0
	for _, n := range committed {
		total += n
	}
	fmt.Printf("committed=%d", total)
	for _, n := range c.nodes {
		fmt.Printf(" replica%d=%d", n.id, n.size())
	}
	fmt.Println()
}
