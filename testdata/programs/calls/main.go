// Command calls makes calls in loops, in goroutines that change threads, that panic at
// any depth, exit amidst, or still run at the end, and prints how often each function was
// called: "NAME N" a line.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

var leafs, moves, deeps, shorts, asks, firsts atomic.Uint64

//go:noinline
func leaf(n int) int { leafs.Add(1); return n + 1 }

//go:noinline
func move(n int) int {
	if moves.Add(1); n%4 == 0 {
		runtime.Gosched()
	}
	return n
}

// deep calls itself, and panics at the bottom.
//
//go:noinline
func deep(n int) (sum int) {
	deeps.Add(1)
	for i := range 3 {
		sum += leaf(i)
	}
	if n == 0 {
		panic("bottom")
	}
	for range 2 {
		sum += leaf(sum)
		if n > 1 {
			return sum + deep(n-1)
		}
		sum += deep(n - 1)
	}
	return sum
}

// recovered returns from the procedure in whose frame deep panicked, or from one further out.
//
//go:noinline
func recovered(n int) {
	defer func() { _ = recover() }()
	for i := range 2 {
		leaf(i)
		deep(n)
	}
}

// exits leaves by Goexit with loops open, and calls in a deferred function.
//
//go:noinline
func exits(n int) {
	defer twice()
	for i := 0; ; i++ {
		if short(i) > n {
			runtime.Goexit()
		}
	}
}

//go:noinline
func twice() {
	for i := range 2 {
		leaf(i)
	}
}

//go:noinline
func short(n int) int { shorts.Add(1); return n }

type asker interface{ ask(int) int }

type one struct{}

func (one) ask(n int) int { asks.Add(1); return n }

type other struct{ k int }

func (o other) ask(n int) int { asks.Add(1); return n + o.k }

// asked calls methods of several types, and conditions that call.
//
//go:noinline
func asked(list []asker, s string) (n int) {
	for _, a := range list {
		n += a.ask(n)
	}
	for n = 0; n < len(s) && s[n] != ' ' && utf8.RuneStart(s[n]) && short(n) < 5; n++ {
	}
	for i := 0; i < 3; i = first(i) {
	}
	return n
}

//go:noinline
func first(n int) int { firsts.Add(1); return n + 1 }

//go:noinline
func wanders(n int) {
	for i := range n {
		move(i)
		leaf(i)
	}
}

// waits counts calls before it waits and after.
//
//go:noinline
func waits(begun *sync.WaitGroup, done chan struct{}) {
	for i := range 2 {
		leaf(i)
	}
	begun.Done()
	<-done
	for i := range 2 {
		leaf(i)
	}
}

// runs never ends.
//
//go:noinline
func runs(begun *sync.WaitGroup) {
	for i := 0; ; i++ {
		if leaf(i); i == 10 {
			begun.Done()
			select {}
		}
	}
}

func main() {
	turns, _ := strconv.Atoi(os.Args[1])
	waiting, _ := strconv.Atoi(os.Args[2])
	var all, begun sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			for i := range turns {
				recovered(1 + (i+k)%5)
				asked([]asker{one{}, other{k}, one{}, &other{i}}, "any text")
				wanders(3)
			}
		})
		for range turns / 10 {
			all.Add(1)
			go func() { defer all.Done(); exits(3) }()
		}
	}
	done := make(chan struct{})
	for range waiting {
		begun.Add(1)
		all.Go(func() { waits(&begun, done) })
	}
	begun.Wait()
	close(done)
	all.Wait()
	for range 4 {
		begun.Add(1)
		go runs(&begun)
	}
	begun.Wait()
	for _, c := range []struct {
		name string
		n    *atomic.Uint64
	}{{"leaf", &leafs}, {"move", &moves}, {"deep", &deeps}, {"short", &shorts}, {"ask", &asks}, {"first", &firsts}} {
		fmt.Println(c.name, c.n.Load())
	}
}
