// Command causes has one reason for being slow, which its argument names, and the same work each time.
package main

import (
	"log"
	"os"
	"strings"
	"sync"
)

var causes = map[string]func(){"serial": serial, "channel": channel, "garbage": garbage, "logger": logger, "semaphore": semaphore, "none": none, "maps": maps}

func main() { causes[os.Args[1]]() }

// words is work without memory.
func words(n int) (found int) {
	const text = "one two three four five six seven eight nine ten"
	for i := range n {
		found += strings.Count(text, text[i%7:i%7+3])
	}
	return found
}

// four runs something in four goroutines.
func four(f func()) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(f)
	}
	group.Wait()
}

// none: all processors work all the time, for so long that the beginning and the end do not matter.
func none() {
	four(func() {
		for range 4000 {
			words(2000)
		}
	})
}

// serial: half of the work is done before the goroutines start.
func serial() {
	load(2400)
	four(func() {
		for range 600 {
			words(2000)
		}
	})
}

func load(n int) {
	seen := map[int]int{}
	for i := range n {
		seen[i%10] += words(2000)
	}
	for i := range 10 {
		if seen[i] == 0 {
			panic("nothing was loaded")
		}
	}
}

// channel: it has no buffer, between two that are slow by turns.
func channel() {
	parts := make(chan int)
	done := make(chan bool)
	go func() {
		for i := range parts {
			if i/8%2 == 0 {
				words(3000)
			}
		}
		close(done)
	}()
	s := stage{parts}
	for i := range 800 {
		if i/8%2 == 1 {
			words(3000)
		}
		s.next <- i
	}
	close(parts)
	<-done
}

type stage struct{ next chan int }

// garbage: a procedure allocates most of what the collector has to look at.
func garbage() {
	kept = grow(16)
	four(func() {
		for range 200 {
			parse()
			words(200)
		}
	})
}

type node struct{ left, right *node }

var kept *node

func grow(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{grow(depth - 1), grow(depth - 1)}
}

func parse() (n int) {
	for range 20 {
		n += len(make([]*int, 1024+n%2))
	}
	return n
}

// logger: package log, which has no probes, holds its lock while it writes.
func logger() {
	l := log.New(slow{}, "", 0)
	four(func() {
		for range 100 {
			l.Print("a line")
			words(200)
		}
	})
}

type slow struct{}

func (slow) Write(p []byte) (int, error) {
	words(2000)
	return len(p), nil
}

// semaphore: a channel lets one goroutine in.
func semaphore() {
	var p = pool{in: make(chan struct{}, 1)}
	four(func() {
		for range 100 {
			p.enter()
			words(200)
		}
	})
}

type pool struct{ in chan struct{} }

func (p *pool) enter() {
	p.in <- struct{}{}
	words(2000)
	<-p.in
}

// maps: a function literal fills maps, which grow far below it in the runtime, and is called by a procedure that is called often.
func maps() {
	for range 20 {
		counts := map[string]int{}
		spell(40_000, func(word string) { counts[word]++ })
	}
}

func spell(n int, f func(string)) {
	for i := range n {
		f(letters(i))
	}
}

func letters(i int) string {
	word := []byte("aaaaaaaa")
	for k := 0; i > 0; k++ {
		word[k] += byte(i % 26)
		i /= 26
	}
	return string(word)
}
