// A server for hours: requests take some hundred microseconds, a lock, a few goroutines and garbage.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"sync"
	"syscall"
)

// cache is bounded, so that the program's own memory stays what it is.
type cache struct {
	mu   sync.Mutex
	size int
	sums map[int]int
}

func (c *cache) add(key, sum int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sums) >= c.size {
		clear(c.sums)
	}
	c.sums[key] += sum
	return len(c.sums)
}

type answer struct {
	Key    int   `json:"key"`
	Known  int   `json:"known"`
	Digits []int `json:"digits"`
}

func digits(n int) []int {
	list := make([]int, 0, 300)
	for i := range 300 {
		list = append(list, (n*7919+i*104729)%1000)
	}
	sort.Ints(list)
	return list
}

func part(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

func (c *cache) handle(w http.ResponseWriter, r *http.Request) {
	key, _ := strconv.Atoi(r.FormValue("key"))
	list := digits(key)
	var wg sync.WaitGroup
	sums := make(chan int, 2)
	for _, half := range [][]int{list[:150], list[150:]} {
		wg.Go(func() { sums <- part(half) })
	}
	wg.Wait()
	a := answer{Key: key, Known: c.add(key%5000, <-sums+<-sums), Digits: list[:20]}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a)
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c := &cache{size: 4000, sums: map[int]int{}}
	http.HandleFunc("/", c.handle)
	go func() { _ = http.Serve(l, nil) }()
	fmt.Println(l.Addr())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
}
