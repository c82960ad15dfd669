// Command scans goes over a text a hundred times, and calls a function that is known at run time for
// each byte. So what there is to count is in few activations.
package main

import (
	"bytes"
	"fmt"
)

// scanner has the function that takes the next byte.
type scanner struct {
	step  func(s *scanner, c byte)
	words int
}

func outside(s *scanner, c byte) {
	if c != ' ' {
		s.words, s.step = s.words+1, inside
	}
}

func inside(s *scanner, c byte) {
	if c == ' ' {
		s.step = outside
	}
}

// words is not inlined: the loop around its calls would have its iterations counted.
//
//go:noinline
func words(text []byte) int {
	s := scanner{step: outside}
	for _, c := range text {
		s.step(&s, c)
	}
	return s.words
}

func main() {
	text, sum := bytes.Repeat([]byte("a few words "), 200_000), 0
	for range 100 {
		sum += words(text)
	}
	fmt.Println(sum)
}
