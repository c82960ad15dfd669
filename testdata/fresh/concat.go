package main

import "strings"

// A text grows by a copy of itself for each word.
//
// truth: joined-strings less-work all-busy garbage-collector serial-run serial-procedure one-goroutine one-processor few-parts
func concat(s size) {
	for range 1 + s.n*s.us/2000 {
		text := ""
		for i := range 800 {
			text += concatWord(i)
		}
		keep(uint64(len(text)))
	}
}

func concatRepaired(s size) {
	for range 1 + s.n*s.us/2000 {
		var text strings.Builder
		for i := range 800 {
			text.WriteString(concatWord(i))
		}
		keep(uint64(text.Len()))
	}
}

func concatWord(i int) string { return "abcdefghijkl"[i%4 : i%4+6] }
