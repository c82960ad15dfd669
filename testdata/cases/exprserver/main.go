// Command exprserver evaluates nested expressions on behalf of clients.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

var revised = flag.Bool("fix", false, "use the revised form")

type node struct {
	op          byte
	value       int64
	left, right *node
}

// chain builds a left-deep expression of the given depth.
func chain(depth int, seed int64) *node {
	n := &node{op: 'v', value: seed}
	for i := 0; i < depth; i++ {
		n = &node{op: "+*-"[i%3], left: n, right: &node{op: 'v', value: seed + int64(i)}}
	}
	return n
}

// frame holds the operands of one level, for error messages.
type frame struct {
	trace [12]int64
	used  int
}

func (f *frame) push(v int64) {
	f.trace[f.used%len(f.trace)] = v
	f.used++
}

func eval(n *node, level int) int64 {
	if n.op == 'v' {
		return n.value
	}
	var f frame
	f.push(eval(n.left, level+1))
	f.push(eval(n.right, level+1))
	l, r := f.trace[0], f.trace[1]
	switch n.op {
	case '+':
		return (l + r) % 1000003
	case '*':
		return (l * r) % 1000003
	default:
		return (l - r) % 1000003
	}
}

type request struct {
	expr  *node
	draws int
	reply chan int64
}

type server struct {
	mu     sync.Mutex
	served int
	queue  chan request
}

func newServer(workers int) *server {
	s := &server{queue: make(chan request, 64)}
	if *revised {
		for i := 0; i < workers; i++ {
			go s.work()
		}
	}
	return s
}

func (s *server) handle(r request) {
	var v int64
	for i := 0; i < r.draws; i++ {
		v = (v*31 + eval(r.expr, 0)) % 1000003
	}
	s.mu.Lock()
	s.served++
	s.mu.Unlock()
	r.reply <- v
}

func (s *server) work() {
	for r := range s.queue {
		s.handle(r)
	}
}

func (s *server) submit(r request) {
	if *revised {
		s.queue <- r
		return
	}
	go s.handle(r)
}

// client asks for the value of each of its expressions, a few at a time.
type client struct {
	id     int
	exprs  []*node
	window int
	sum    int64
}

func (c *client) run(s *server, requests int) {
	reply := make(chan int64, c.window)
	outstanding := 0
	for i := 0; i < requests; i++ {
		if outstanding == c.window {
			c.sum += <-reply
			outstanding--
		}
		s.submit(request{expr: c.exprs[i%len(c.exprs)], draws: 8, reply: reply})
		outstanding++
	}
	for ; outstanding > 0; outstanding-- {
		c.sum += <-reply
	}
}

func main() {
	flag.Parse()
	start := time.Now()
	s := newServer(4)
	clients := make([]*client, 4)
	var wg sync.WaitGroup
	for i := range clients {
		c := &client{id: i, window: 8}
		for k := 0; k < 16; k++ {
			c.exprs = append(c.exprs, chain(300+k*12, int64(i*100+k)))
		}
		clients[i] = c
		wg.Add(1)
		go func() {
			defer wg.Done()
			c.run(s, 5000)
		}()
	}
	wg.Wait()
	var sum int64
	for _, c := range clients {
		sum += c.sum
	}
	fmt.Println("served", s.served, "sum", sum)
	fmt.Println("truth run", time.Since(start))
}
