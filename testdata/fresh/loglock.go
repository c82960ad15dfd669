package main

import (
	"bufio"
	"io"
	"log"
	"os"
	"sync"
)

// Each line of a log is a system call under a lock.
//
// truth: contended-lock saturated-lock spinning-lock pending-writer input-output system-calls
func loglock(s size) { loglockRun(s, func(w io.Writer) io.Writer { return w }) }

func loglockRepaired(s size) {
	loglockRun(s, func(w io.Writer) io.Writer { return bufio.NewWriterSize(w, 64<<10) })
}

func loglockRun(s size, through func(io.Writer) io.Writer) {
	f, err := os.CreateTemp("", "loglock-")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	lines := log.New(through(f), "loglock ", log.LstdFlags)
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			for i := g; i < s.n*s.us/8; i += s.g {
				lines.Printf("item %d is %d", i, work(2))
			}
		})
	}
	wg.Wait()
}
