package main

import (
	"regexp"
	"sync"
)

// A pattern is compiled for each line.
//
// truth: prepared-again less-work all-busy no-probes garbage-collector serial-run serial-procedure one-goroutine one-processor few-parts
func regexpeach(s size) {
	regexpeachRun(s, func(line string) bool {
		return regexp.MustCompile(`^([a-z]+)-(\d{2,5}) .*x$`).MatchString(line)
	})
}

func regexpeachRepaired(s size) {
	pattern := regexp.MustCompile(`^([a-z]+)-(\d{2,5}) .*x$`)
	regexpeachRun(s, pattern.MatchString)
}

func regexpeachRun(s size, match func(string) bool) {
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			found := 0
			for range s.n * s.us / 10 / s.g {
				if match("alpha-1234 one two x") {
					found++
				}
			}
			keep(uint64(found))
		})
	}
	wg.Wait()
}
