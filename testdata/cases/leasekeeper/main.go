// Command leasekeeper tracks work leases handed to remote agents and expires
// those whose time has run out.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

const (
	recovered = 70_000
	rounds    = 13000
	perRound  = 40
	leaseLen  = 3
)

type leaseID uint64

type lease struct {
	agent   int
	expires int
}

type keeper struct {
	mu     sync.Mutex
	active map[leaseID]lease
	next   leaseID
	stats  struct{ granted, expired, released int }
}

func newKeeper(base leaseID) *keeper {
	return &keeper{active: make(map[leaseID]lease), next: base}
}

func (k *keeper) grant(agent, now int) leaseID {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next++
	k.active[k.next] = lease{agent: agent, expires: now + leaseLen}
	k.stats.granted++
	return k.next
}

func (k *keeper) release(id leaseID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.active[id]; !ok {
		return false
	}
	delete(k.active, id)
	k.stats.released++
	return true
}

func (k *keeper) expire(now int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for id, l := range k.active {
		if l.expires <= now {
			delete(k.active, id)
			n++
		}
	}
	k.stats.expired += n
	return n
}

// recover replays the journal of a previous process: every lease it mentions
// is taken up again, and those whose agents are gone are released.
func (k *keeper) recover(entries int, compact bool) {
	ids := make([]leaseID, 0, entries)
	for i := 0; i < entries; i++ {
		ids = append(ids, k.grant(i%97, 0))
	}
	for _, id := range ids {
		k.release(id)
	}
	if compact {
		k.mu.Lock()
		live := make(map[leaseID]lease, len(k.active))
		for id, l := range k.active {
			live[id] = l
		}
		k.active = live
		k.mu.Unlock()
	}
}

func (k *keeper) run() {
	for now := 1; now <= rounds; now++ {
		ids := make([]leaseID, 0, perRound)
		for a := 0; a < perRound; a++ {
			ids = append(ids, k.grant(a, now))
		}
		for i, id := range ids {
			if (i+now)%3 == 0 {
				k.release(id)
			}
		}
		k.expire(now)
	}
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	regions := []*keeper{newKeeper(0), newKeeper(1 << 32)}
	var wg sync.WaitGroup
	for _, k := range regions {
		wg.Add(1)
		go func() {
			defer wg.Done()
			k.recover(recovered, *fix)
			k.run()
		}()
	}
	wg.Wait()
	for i, k := range regions {
		fmt.Printf("region=%d granted=%d released=%d expired=%d left=%d\n",
			i, k.stats.granted, k.stats.released, k.stats.expired, len(k.active))
	}
}
