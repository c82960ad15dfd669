// Command scans goes over a text a hundred times, and calls a function that is known at run time for
// each byte. So what there is to count is in few activations: in a hundred, with the argument once
// in one, and with the argument open in one that goes on when the program ends.
package main

import (
	"bytes"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// scanner has the function that takes the next byte.
type scanner struct {
	step  func(s *scanner, c byte)
	words int
	bytes *atomic.Int64
}

func outside(s *scanner, c byte) {
	s.bytes.Add(1)
	if c != ' ' {
		s.words, s.step = s.words+1, inside
	}
}

func inside(s *scanner, c byte) {
	s.bytes.Add(1)
	if c == ' ' {
		s.step = outside
	}
}

// words is not inlined: the loop around its calls would have its iterations counted.
//
//go:noinline
func words(text []byte, times int, n *atomic.Int64) int {
	s := scanner{step: outside, bytes: n}
	for k := range times * len(text) {
		s.step(&s, text[k%len(text)])
	}
	return s.words
}

func main() {
	var n atomic.Int64
	text, sum := bytes.Repeat([]byte("a few words "), 200_000), 0
	switch {
	case len(os.Args) == 1:
		for range 100 {
			sum += words(text, 1, &n)
		}
	case os.Args[1] == "once":
		sum = words(text, 100, &n)
	default:
		go words(text, 1<<30, &n)
		time.Sleep(time.Second)
	}
	fmt.Println(sum, n.Load())
}
