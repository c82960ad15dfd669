// Command kinds has one bottleneck of a kind that its argument names, or the same work without it:
//
//	kinds [-fix] KIND
//
// It prints how long the work took.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var fix = flag.Bool("fix", false, "run the repaired form")

// sink keeps the compiler from leaving work out.
var sink atomic.Uint64

// burn works for about n / 2 ns.
//
//go:noinline
func burn(n int) uint64 {
	x := uint64(n) | 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Add(x & 1)
	return x
}

var kinds = map[string]func(){
	"sleepinlock": sleepInLock, "serialproducer": serialProducer, "onepermit": onePermit, "lastisfirst": lastIsFirst,
	"slowonce": slowOnce, "lockchain": lockChain, "requests": requests, "ticks": ticks, "spinflag": spinFlag,
	"collector": collector, "garbage": garbage, "bigcritical": bigCritical, "latestart": lateStart, "oneproc": oneProc,
	"healthypool": healthyPool, "healthypipe": healthyPipe, "healthyshards": healthyShards,
}

func main() {
	flag.Parse()
	run := kinds[flag.Arg(0)]
	if run == nil {
		fmt.Fprintln(os.Stderr, "kinds: found no kind of that name")
		os.Exit(2)
	}
	start := time.Now()
	run()
	fmt.Printf("truth run %v\n", time.Since(start))
}

// each runs f in n goroutines.
func each(n int, f func(g int)) {
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() { f(g) })
	}
	wg.Wait()
}

// account is written to a slow store.
type account struct {
	mu    sync.Mutex
	total int
}

func (a *account) store() { time.Sleep(2 * time.Millisecond) }

// sleepInLock stores under the lock; fixed: after it.
func sleepInLock() {
	var a account
	each(4, func(int) {
		for range 40 {
			burn(100_000)
			a.mu.Lock()
			a.total++
			if !*fix {
				a.store()
			}
			a.mu.Unlock()
			if *fix {
				a.store()
			}
		}
	})
}

//go:noinline
func generate() uint64 { return burn(400_000) }

// serialProducer makes all items in one goroutine; fixed: in the workers.
func serialProducer() {
	items := make(chan uint64, 16)
	go func() {
		for range 1200 {
			if *fix {
				items <- 0
			} else {
				items <- generate()
			}
		}
		close(items)
	}()
	each(4, func(int) {
		for range items {
			if *fix {
				generate()
			}
			burn(40_000)
		}
	})
}

// onePermit lets one goroutine at a time do what two could.
func onePermit() {
	n := 1
	if *fix {
		n = 4
	}
	permits := make(chan struct{}, n)
	each(4, func(int) {
		for range 250 {
			permits <- struct{}{}
			burn(800_000)
			<-permits
		}
	})
}

// lastIsFirst starts the longest of its jobs last; fixed: first.
func lastIsFirst() {
	jobs := make([]int, 24)
	for i := range jobs {
		jobs[i] = 10_000_000
	}
	at := len(jobs) - 1
	if *fix {
		at = 0
	}
	jobs[at] = 240_000_000
	next := make(chan int, len(jobs))
	for _, n := range jobs {
		next <- n
	}
	close(next)
	each(2, func(int) {
		for n := range next {
			job(n)
		}
	})
}

//go:noinline
func job(n int) { burn(n) }

var (
	once  sync.Once
	table [1 << 10]uint64
)

// load fills the table.
func load() {
	for i := range table {
		table[i] = burn(600_000)
	}
}

// slowOnce lets all goroutines wait for one that fills a table; fixed: they fill parts of it.
func slowOnce() {
	if *fix {
		each(4, func(g int) {
			for i := g; i < len(table); i += 4 {
				table[i] = burn(600_000)
			}
		})
	}
	each(4, func(int) {
		if !*fix {
			once.Do(load)
		}
		for i := range table {
			burn(int(table[i]%100) + 40_000)
		}
	})
}

type books struct{ orders, stock sync.Mutex }

func (b *books) audit() { time.Sleep(10 * time.Millisecond) }

// lockChain has goroutines wait for orders, whose holder waits for stock, whose holder sleeps;
// fixed: the audit has no lock.
func lockChain() {
	var b books
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !over.Load() {
			if !*fix {
				b.stock.Lock()
			}
			b.audit()
			if !*fix {
				b.stock.Unlock()
			}
			time.Sleep(time.Millisecond)
		}
	})
	each(4, func(int) {
		for range 25 {
			burn(400_000)
			b.orders.Lock()
			b.stock.Lock()
			burn(20_000)
			b.stock.Unlock()
			b.orders.Unlock()
		}
	})
	over.Store(true)
	wg.Wait()
}

// requests asks a service 120 times, one after another; fixed: eight at a time.
func requests() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(4 * time.Millisecond)
		fmt.Fprintln(w, "ok")
	})}
	go server.Serve(l)
	defer server.Close()
	n := 1
	if *fix {
		n = 8
	}
	each(n, func(int) {
		for range 120 / n {
			ask("http://" + l.Addr().String())
		}
	})
}

func ask(url string) {
	resp, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// ticks sends a batch at each tick; fixed: when it is full.
func ticks() {
	items, done := make(chan int), make(chan bool)
	go func() {
		defer close(done)
		t := time.NewTicker(10 * time.Millisecond)
		n := 0
		for {
			if *fix {
				if _, ok := <-items; !ok {
					return
				}
				burn(20_000)
				continue
			}
			<-t.C
			for range 20 {
				if _, ok := <-items; !ok {
					return
				}
				n++
				burn(20_000)
			}
		}
	}()
	for i := range 1600 {
		items <- i
	}
	close(items)
	<-done
}

type gate struct{ open atomic.Bool }

func (g *gate) wait() {
	for !g.open.Load() {
	}
}

// spinFlag has goroutines spin for a flag that one sets late; fixed: they wait for a channel.
func spinFlag() {
	var g gate
	opened := make(chan bool)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if *fix {
				<-opened
			} else {
				g.wait()
			}
			burn(20_000_000)
		})
	}
	for range 500 {
		generate()
	}
	g.open.Store(true)
	close(opened)
	wg.Wait()
}

// collector has six goroutines send results to one that takes as long for each; fixed: they do it
// themselves.
func collector() {
	results := make(chan uint64)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range results {
			fold()
		}
	})
	each(6, func(int) {
		for range 250 {
			x := burn(200_000)
			if *fix {
				fold()
			} else {
				results <- x
			}
		}
	})
	close(results)
	wg.Wait()
}

//go:noinline
func fold() { burn(400_000) }

type leaf struct {
	next *leaf
	data [6]int
}

// garbage builds lists that it throws away; fixed: it builds one and uses it again.
func garbage() {
	each(2, func(int) {
		var list *leaf
		for range 6000 {
			if list == nil || !*fix {
				list = grow(600)
			}
			for at := list; at != nil; at = at.next {
				at.data[0]++
			}
		}
	})
}

//go:noinline
func grow(n int) (list *leaf) {
	for range n {
		list = &leaf{next: list}
	}
	return list
}

type cache struct {
	mu     sync.Mutex
	values map[int]uint64
}

func (c *cache) get(k int) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.values[k]; ok && *fix {
		return v
	}
	v := render(k)
	c.values[k] = v
	return v
}

//go:noinline
func render(k int) uint64 { return burn(200_000 + k) }

// bigCritical renders under the lock of a cache; fixed: it finds what is there.
func bigCritical() {
	c := cache{values: map[int]uint64{}}
	each(4, func(int) {
		for k := range 400 {
			burn(100_000)
			c.get(k % 20)
		}
	})
}

// lateStart reads its input before any worker starts; fixed: while they work.
func lateStart() {
	if !*fix {
		for range 400 {
			generate()
		}
		each(2, func(int) {
			for range 400 {
				generate()
			}
		})
		return
	}
	each(2, func(int) {
		for range 600 {
			generate()
		}
	})
}

// oneProc runs on one processor; fixed: on all.
func oneProc() {
	if !*fix {
		runtime.GOMAXPROCS(1)
	}
	each(4, func(int) {
		for range 250 {
			generate()
		}
	})
}

func healthyPool() {
	jobs := make(chan int, 64)
	go func() {
		for i := range 2000 {
			jobs <- i
		}
		close(jobs)
	}()
	each(4, func(int) {
		for range jobs {
			burn(500_000)
		}
	})
}

func healthyPipe() {
	a, b := make(chan uint64, 64), make(chan uint64, 64)
	go func() {
		for range 1500 {
			a <- burn(300_000)
		}
		close(a)
	}()
	go func() {
		for x := range a {
			b <- x ^ burn(300_000)
		}
		close(b)
	}()
	for range b {
		burn(30_000)
	}
}

func healthyShards() {
	var shards [16]struct {
		mu sync.Mutex
		n  map[int]int
		_  [64]byte
	}
	each(4, func(g int) {
		for i := range 4000 {
			s := &shards[(i*7+g)%16]
			x := burn(150_000)
			s.mu.Lock()
			if s.n == nil {
				s.n = map[int]int{}
			}
			s.n[int(x%100)]++
			s.mu.Unlock()
		}
	})
}
