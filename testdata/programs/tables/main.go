// Tables works in one goroutine while others wait in system calls, so that the runtime starts
// threads again and again. At the end it says how many of its threads do not have a file that it
// has open.
package main

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

var sum uint32

//go:noinline
func leaf(x uint32) uint32 { return x*1664525 + 1013904223 }

//go:noinline
func work(x uint32) uint32 {
	for range 8 {
		x = leaf(x) + leaf(x+1)
	}
	return x
}

func main() {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		panic(err)
	}
	for range 25 {
		go func() {
			var b [1]byte
			syscall.Read(pipe[0], b[:])
		}()
		for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
			for range 1000 {
				sum = work(sum)
			}
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		panic(err)
	}
	without := 0
	for _, t := range threads {
		if _, err := os.Lstat(fmt.Sprintf("/proc/self/task/%s/fd/%d", t.Name(), pipe[1])); err != nil {
			without++
		}
	}
	fmt.Println("found", len(threads), "threads,", without, "without the file")
	syscall.Close(pipe[1])
}
