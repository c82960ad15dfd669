package main

import (
	"bufio"
	"io"
	"os"
)

// Each byte is a system call.
//
// truth: input-output system-calls serial-run serial-procedure one-goroutine one-processor few-parts
func bytewrites(s size) { bytewritesRun(s, func(w io.Writer) io.Writer { return w }) }

func bytewritesRepaired(s size) {
	bytewritesRun(s, func(w io.Writer) io.Writer { return bufio.NewWriter(w) })
}

func bytewritesRun(s size, through func(io.Writer) io.Writer) {
	f, err := os.CreateTemp("", "bytewrites-")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	w := through(f)
	for i := range s.n * s.us / 2 {
		w.Write([]byte{byte(i)})
	}
	if b, ok := w.(*bufio.Writer); ok {
		b.Flush()
	}
}
