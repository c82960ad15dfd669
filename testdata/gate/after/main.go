// Command after sums the words of a text, as it does after a change: see docs/guide/gate.md.
package main

import (
	"fmt"
	"strings"
)

const text = "all that a gate compares is a program before a change and after it"

// words are those of a text, each with its length.
func words(text string) map[string]int {
	lengths := map[string]int{}
	for _, w := range strings.Fields(text) {
		lengths[w] = len(w)
	}
	return lengths
}

func main() {
	sum := 0
	for range 1000 {
		for _, w := range strings.Fields(text) {
			sum += words(text)[w]
		}
	}
	fmt.Println(sum)
}
