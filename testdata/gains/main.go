// Command gains is a concurrent program of one of several kinds, whose work can be changed: of the
// procedures a, b, c and d each does as much as its argument says, in rounds of some ns.
//
//	gains KIND a,b,c,d n more more...
//
// n is how much is done in all, and more are what the kind has besides: workers, capacities, shares.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	amounts [4]int
	sink    uint64
)

//go:noinline
func burn(n int) uint64 {
	x := uint64(n) | 1
	for ; n > 0; n-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//go:noinline
func a() uint64 { return burn(amounts[0]) }

//go:noinline
func b() uint64 { return burn(amounts[1]) }

//go:noinline
func c() uint64 { return burn(amounts[2]) }

//go:noinline
func d() uint64 { return burn(amounts[3]) }

var kinds = map[string]func(n int, p []int){
	"pipeline": pipeline, "pool": pool, "lock": lock, "cache": cache, "phases": phases, "limit": limit, "tree": trees,
	"server": server, "asking": asking, "conditions": conditions, "helper": helper, "garbage": garbage,
}

func main() {
	for i, s := range strings.Split(os.Args[2], ",") {
		amounts[i] = number(s)
	}
	var p []int
	for _, s := range os.Args[4:] {
		p = append(p, number(s))
	}
	begin := time.Now()
	kinds[os.Args[1]](number(os.Args[3]), p)
	fmt.Println(time.Since(begin).Nanoseconds())
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// pipeline has four stages, with channels of these capacities between them.
func pipeline(n int, p []int) {
	stages := []func() uint64{b, c, d}
	in := make(chan uint64, p[0])
	go func(in chan uint64) {
		for range n {
			in <- a()
		}
		close(in)
	}(in)
	for i, stage := range stages {
		out := make(chan uint64, p[i%len(p)])
		go func(in chan uint64) {
			for x := range in {
				out <- x ^ stage()
			}
			close(out)
		}(in)
		in = out
	}
	for x := range in {
		sink += x
	}
}

// pool has p[0] workers, which do a or b, and a collector, which does c.
func pool(n int, p []int) {
	jobs, done := make(chan int, p[1]), make(chan uint64, p[1])
	var wg sync.WaitGroup
	for range p[0] {
		wg.Go(func() {
			for j := range jobs {
				if j%p[2] == 0 {
					done <- b()
				} else {
					done <- a()
				}
			}
		})
	}
	go func() {
		for i := range n {
			jobs <- i
		}
		close(jobs)
		wg.Wait()
		close(done)
	}()
	for x := range done {
		sink += x ^ c()
	}
}

// lock has p[0] goroutines, which do a, and b under one of p[1] locks.
func lock(n int, p []int) {
	locks := make([]sync.Mutex, p[1])
	sums := make([]uint64, p[1])
	var wg sync.WaitGroup
	for g := range p[0] {
		wg.Go(func() {
			for i := range n / p[0] {
				x, k := a(), (g+i)%p[1]
				locks[k].Lock()
				sums[k] += x ^ b()
				locks[k].Unlock()
			}
		})
	}
	wg.Wait()
}

// cache has p[0] goroutines that look something up, a, under a lock for readers. Each p[1]-th finds
// nothing and makes it, b, under the lock.
func cache(n int, p []int) {
	var mu sync.RWMutex
	values := map[int]uint64{}
	var wg sync.WaitGroup
	for g := range p[0] {
		wg.Go(func() {
			for i := range n / p[0] {
				key := g*n + i/p[1]
				mu.RLock()
				_, ok := values[key]
				sum := a()
				mu.RUnlock()
				if !ok {
					mu.Lock()
					values[key] = sum ^ b()
					mu.Unlock()
				}
				c()
			}
		})
	}
	wg.Wait()
}

// phases has p[0] goroutines in each phase, one of which does b and the others a. Then main does c.
func phases(n int, p []int) {
	for range n {
		var wg sync.WaitGroup
		for g := range p[0] {
			wg.Go(func() {
				if g == 0 {
					b()
				} else {
					a()
				}
			})
		}
		wg.Wait()
		c()
	}
}

// limit starts a goroutine for each task, of which p[0] may do a at once; before it does b.
func limit(n int, p []int) {
	slots := make(chan struct{}, p[0])
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			b()
			slots <- struct{}{}
			a()
			<-slots
		})
		if i%p[1] == p[1]-1 {
			c()
		}
	}
	wg.Wait()
}

// trees divides work: p[0] levels, at whose leaves a is done, and b where two come together.
func trees(n int, p []int) {
	for range n {
		tree(p[0])
		c()
	}
}

func tree(levels int) uint64 {
	if levels == 0 {
		return a()
	}
	left := make(chan uint64)
	go func() { left <- tree(levels - 1) }()
	right := tree(levels - 1)
	return b() ^ right ^ <-left
}

// server answers p[0] clients in the same process: handlers do a, and b under a lock; clients do c.
// Connections are kept unless p[1] is 1.
func server(n int, p []int) {
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		x := a()
		mu.Lock()
		x ^= b()
		mu.Unlock()
		fmt.Fprintln(w, x)
	}))
	defer s.Close()
	client := s.Client()
	t := client.Transport.(*http.Transport)
	t.MaxIdleConnsPerHost, t.DisableKeepAlives = p[0], p[1] == 1
	var wg sync.WaitGroup
	for range p[0] {
		wg.Go(func() {
			for range n / p[0] {
				resp, err := client.Get(s.URL)
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				c()
			}
		})
	}
	wg.Wait()
}

// asking has a producer, a, and a consumer, b, which asks for what it takes, and yields.
func asking(n int, p []int) {
	ch := make(chan uint64, p[0])
	go func() {
		for range n {
			ch <- a()
		}
		close(ch)
	}()
	asks(ch)
}

func asks(ch chan uint64) {
	for {
		select {
		case _, ok := <-ch:
			if !ok {
				return
			}
			b()
		default:
			runtime.Gosched()
		}
	}
}

// conditions has a queue with a condition: p[0] producers do a, as many consumers b, and it holds
// p[1].
func conditions(n int, p []int) {
	var mu sync.Mutex
	changed := sync.NewCond(&mu)
	queue, made, all := 0, 0, n/p[0]*p[0]
	var wg sync.WaitGroup
	for range p[0] {
		wg.Go(func() {
			for range n / p[0] {
				a()
				mu.Lock()
				for queue == p[1] {
					changed.Wait()
				}
				queue++
				made++
				changed.Broadcast()
				mu.Unlock()
			}
		})
		wg.Go(func() {
			for {
				mu.Lock()
				for queue == 0 && made < all {
					changed.Wait()
				}
				if queue == 0 {
					mu.Unlock()
					return
				}
				queue--
				changed.Broadcast()
				mu.Unlock()
				b()
			}
		})
	}
	wg.Wait()
}

// helper has main do a and b, and a goroutine that does c every p[0] us until main ends.
func helper(n int, p []int) {
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		t := time.NewTicker(time.Duration(p[0]) * time.Microsecond)
		for {
			select {
			case <-t.C:
				c()
			case <-stop:
				return
			}
		}
	}()
	for range n {
		x := make(chan uint64)
		go func() { x <- b() }()
		sink += a() ^ <-x
	}
	close(stop)
	<-stopped
}

type node struct {
	next *node
	n    uint64
}

// garbage has p[0] goroutines that do a, and build lists of p[1] nodes, in build.
func garbage(n int, p []int) {
	var wg sync.WaitGroup
	for range p[0] {
		wg.Go(func() {
			for range n / p[0] {
				x := a()
				for at := build(p[1]); at != nil; at = at.next {
					x ^= at.n
				}
				b()
			}
		})
	}
	wg.Wait()
}

//go:noinline
func build(n int) (list *node) {
	for i := range n {
		list = &node{list, uint64(i)}
	}
	return list
}
