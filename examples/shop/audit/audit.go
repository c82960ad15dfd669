// Package audit keeps a log of all orders. One goroutine writes it, so that customers do not wait.
package audit

import (
	"bufio"
	"fmt"
	"io"
)

// Log is the log of a shop.
type Log struct {
	lines chan string
	done  chan int
}

// Open begins a log.
func Open() *Log {
	l := &Log{lines: make(chan string, 1000), done: make(chan int)}
	go l.write()
	return l
}

// Ordered notes an order.
func (l *Log) Ordered(id, total int) { l.lines <- fmt.Sprintf("order %d: %d", id, total) }

// Close ends the log, and returns how many lines it has.
func (l *Log) Close() int {
	close(l.lines)
	return <-l.done
}

func (l *Log) write() {
	w := bufio.NewWriter(io.Discard) // a real one has a file
	n := 0
	for line := range l.lines {
		fmt.Fprintln(w, line)
		n++
	}
	_ = w.Flush()
	l.done <- n
}
