// Command gateway answers requests from a set of replicas with failover.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type item struct {
	SKU   string   `json:"sku"`
	Price int      `json:"price"`
	Sizes []string `json:"sizes"`
}

// replica is a backend; an unreachable one never answers.
type replica struct {
	name      string
	latency   time.Duration
	reachable bool
	downUntil atomic.Int64
	calls     atomic.Int64
}

func (r *replica) call(ctx context.Context, id int) ([]byte, error) {
	r.calls.Add(1)
	if !r.reachable {
		<-ctx.Done()
		return nil, fmt.Errorf("%s: %w", r.name, ctx.Err())
	}
	select {
	case <-time.After(r.latency):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	items := make([]item, 60)
	for i := range items {
		items[i] = item{SKU: fmt.Sprintf("sku-%d-%d", id, i), Price: (id*13 + i*7) % 900, Sizes: []string{"S", "M", "L"}}
	}
	return json.Marshal(items)
}

func (r *replica) healthy(now time.Time) bool {
	return now.UnixNano() >= r.downUntil.Load()
}

func (r *replica) markDown(now time.Time) {
	r.downUntil.Store(now.Add(5 * time.Second).UnixNano())
}

type gateway struct {
	replicas []*replica
	timeout  time.Duration
}

var errUnavailable = errors.New("no replica answered")

func (g *gateway) fetch(ctx context.Context, id int) ([]byte, error) {
	for _, r := range g.replicas {
		if *revised && !r.healthy(time.Now()) {
			continue
		}
		body, err := g.attempt(ctx, r, id)
		if err == nil {
			return body, nil
		}
		if *revised {
			r.markDown(time.Now())
		}
	}
	return nil, errUnavailable
}

func (g *gateway) attempt(ctx context.Context, r *replica, id int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	return r.call(ctx, id)
}

// cart adds up what the gateway delivered.
type cart struct {
	mu    sync.Mutex
	items int
	value int
}

func (c *cart) add(items []item) {
	total := 0
	for _, it := range items {
		total += it.Price * len(it.Sizes)
	}
	c.mu.Lock()
	c.items += len(items)
	c.value += total
	c.mu.Unlock()
}

func main() {
	flag.Parse()
	start := time.Now()
	g := &gateway{
		timeout: 5 * time.Millisecond,
		replicas: []*replica{
			{name: "eu-1", latency: 2 * time.Millisecond},
			{name: "eu-2", latency: 3 * time.Millisecond, reachable: true},
			{name: "us-1", latency: 9 * time.Millisecond, reachable: true},
		},
	}
	c := &cart{}
	var wg sync.WaitGroup
	for w := 0; w < 10; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < 70; i++ {
				body, err := g.fetch(context.Background(), w*1000+i)
				if err != nil {
					fmt.Println("request", i, err)
					continue
				}
				var items []item
				if err := json.Unmarshal(body, &items); err != nil {
					panic(err)
				}
				c.add(items)
			}
		}()
	}
	wg.Wait()
	fmt.Println("items", c.items, "value", c.value)
	fmt.Println("truth run", time.Since(start))
}
