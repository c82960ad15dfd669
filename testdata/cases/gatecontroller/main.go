// Command gatecontroller serves badge readers over TCP. The simulated day has
// people arrive at fixed times.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	gates    = 3
	arrivals = 20
)

// arrivalTime is when the n-th person stands before a gate.
func arrivalTime(gate, n int) time.Duration {
	return time.Duration(n*75+gate*20) * time.Millisecond
}

type controller struct {
	mu      sync.Mutex
	opened  map[int]int
	refused int
}

func (c *controller) decide(gate, badge int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if badge%7 == 3 {
		c.refused++
		return false
	}
	c.opened[gate]++
	return true
}

func (c *controller) serveConn(conn net.Conn) {
	defer conn.Close()
	sc := bufio.NewScanner(conn)
	for sc.Scan() {
		g, b, ok := strings.Cut(sc.Text(), " ")
		gate, err1 := strconv.Atoi(g)
		badge, err2 := strconv.Atoi(b)
		if !ok || err1 != nil || err2 != nil {
			fmt.Fprintln(conn, "error")
			return
		}
		if c.decide(gate, badge) {
			fmt.Fprintln(conn, "open")
		} else {
			fmt.Fprintln(conn, "stay")
		}
	}
}

func (c *controller) serve(ln net.Listener, acceptors int) {
	for range acceptors {
		go func() {
			for {
				conn, err := ln.Accept()
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil {
					log.Print(err)
					return
				}
				go c.serveConn(conn)
			}
		}()
	}
}

func gate(addr string, id int, start time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := range arrivals {
		time.Sleep(time.Until(start.Add(arrivalTime(id, n))))
		fmt.Fprintf(conn, "%d %d\n", id, id*1000+n)
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	acceptors := 1
	if *fix {
		acceptors = 4
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	c := &controller{opened: make(map[int]int)}
	c.serve(ln, acceptors)
	start := time.Now()
	var wg sync.WaitGroup
	for id := range gates {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := gate(ln.Addr().String(), id, start); err != nil {
				log.Fatal(err)
			}
		}()
	}
	wg.Wait()
	ln.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Printf("opened=%v refused=%d\n", c.opened, c.refused)
}
